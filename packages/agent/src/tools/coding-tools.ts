// Lists the built-in tools in the order in which they are described to a model.

import type { Tool } from "./base/tool.ts";
import { bashTool } from "./commands/bash.ts";
import { jobTool } from "./commands/job.ts";
import { askTool } from "./conversation/ask.ts";
import { switchModeTool } from "./conversation/switch-mode.ts";
import { todoTool } from "./conversation/todo.ts";
import { deleteTool } from "./files/delete.ts";
import { editTool } from "./files/edit.ts";
import { moveTool } from "./files/move.ts";
import { readTool } from "./files/read.ts";
import { writeTool } from "./files/write.ts";
import { findTool } from "./search/find.ts";
import { grepTool } from "./search/grep.ts";
import { listTool } from "./search/list.ts";
import { fetchTool } from "./web/fetch.ts";

export const tools: readonly Tool[] = [
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
  todoTool,
  askTool,
  switchModeTool,
];
