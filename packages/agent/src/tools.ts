// The entry point of tools: defines one, and exports those that are built in.

export type { ArgumentNames } from "./tools/base/argument-names.ts";
export {
  type DefinedCall,
  defineTool,
  type ObjectSchema,
  type Schema,
  type ToolDefinition,
  type ValueOf,
} from "./tools/base/define-tool.ts";
export { type ResolvedPath, resolvePath } from "./tools/base/workspace-path.ts";
export { codingTools } from "./tools/coding-tools.ts";
export { bashTool } from "./tools/commands/bash.ts";
export { jobTool } from "./tools/commands/jobs.ts";
export { askTool, switchModeTool, todoTool } from "./tools/conversation/conversation-tools.ts";
export { deleteTool, moveTool } from "./tools/files/delete-and-move.ts";
export { editTool } from "./tools/files/edit.ts";
export { readTool } from "./tools/files/read.ts";
export { writeTool } from "./tools/files/write.ts";
export { findTool, listTool } from "./tools/search/find-and-list.ts";
export { grepTool } from "./tools/search/grep.ts";
export { taskTool } from "./tools/task/task.ts";
export { fetchTool } from "./tools/web/fetch.ts";
