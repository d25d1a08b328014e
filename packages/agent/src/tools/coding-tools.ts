// The tools of the agent, in the order in which a model is told of them.

import { askTool } from "./ask.ts";
import { bashTool } from "./bash.ts";
import { deleteTool } from "./delete.ts";
import { editTool } from "./edit.ts";
import { fetchTool } from "./fetch.ts";
import { findTool } from "./find.ts";
import { grepTool } from "./grep.ts";
import { jobTool } from "./job.ts";
import { listTool } from "./list.ts";
import { moveTool } from "./move.ts";
import { readTool } from "./read.ts";
import { switchModeTool } from "./switch-mode.ts";
import { todoTool } from "./todo.ts";
import type { Tool } from "./tool.ts";
import { writeTool } from "./write.ts";

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
