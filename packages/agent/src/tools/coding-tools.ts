// Lists the built-in tools in the order in which they are described to a model.

import type { Tool } from "./base/tool.ts";
import { bashTool } from "./commands/bash.ts";
import { jobTool } from "./commands/jobs.ts";
import { askTool, switchModeTool, todoTool } from "./conversation/conversation-tools.ts";
import { deleteTool, moveTool } from "./files/delete-and-move.ts";
import { editTool } from "./files/edit.ts";
import { readTool } from "./files/read.ts";
import { writeTool } from "./files/write.ts";
import { findTool, listTool } from "./search/find-and-list.ts";
import { grepTool } from "./search/grep.ts";
import { taskTool } from "./task/task.ts";
import { fetchTool } from "./web/fetch.ts";

/** The built-in tools, in the order in which they are described to a model. */
export const codingTools: readonly Tool[] = [
  readTool,
  listTool,
  findTool,
  grepTool,
  editTool,
  writeTool,
  moveTool,
  deleteTool,
  bashTool,
  jobTool,
  fetchTool,
  taskTool,
  todoTool,
  askTool,
  switchModeTool,
];
