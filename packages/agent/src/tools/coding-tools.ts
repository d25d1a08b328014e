// The tools of the agent, in the order in which a model is told of them.

import { bashTool } from "./bash.ts";
import { deleteTool } from "./delete.ts";
import { editTool } from "./edit.ts";
import { moveTool } from "./move.ts";
import { readTool } from "./read.ts";
import type { Tool } from "./tool.ts";
import { writeTool } from "./write.ts";

export const tools: readonly Tool[] = [readTool, writeTool, editTool, bashTool, deleteTool, moveTool];
