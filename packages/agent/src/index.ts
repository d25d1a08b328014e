// The coding agent, for whoever serves it.

export {
  type Model,
  ModelError,
  type ModelErrorKind,
  type ModelEvent,
  type ModelFacts,
  type ModelRequest,
} from "./model/model.ts";
export { type Tool, ToolError } from "./tools/tool.ts";
