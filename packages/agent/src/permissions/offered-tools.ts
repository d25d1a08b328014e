// Which tools a model is told of. A mode that forbids something does not offer it either; what is called all the same
// is refused when it is called.

import type { Tool } from "../tools/base/tool.ts";
import type { Mode } from "./modes.ts";

/** They change nothing but what the user sees. */
const harmless = new Set(["todo", "ask"]);
const leavesArchitect = "switch_mode";

export function offeredTools(tools: readonly Tool[], mode: Mode): Tool[] {
  return tools.filter(({ name, isReadOnly }) => {
    if (mode === "chat") return harmless.has(name);
    if (mode === "architect") return isReadOnly || harmless.has(name) || name === leavesArchitect;
    return name !== leavesArchitect;
  });
}
