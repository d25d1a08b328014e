// Selects the tools that a mode offers to the model; other calls are refused when made.

import type { Tool } from "../tools/base/tool.ts";
import type { Mode } from "./modes.ts";

/** Tools that change nothing but what the user sees. */
const harmless = new Set(["todo", "ask"]);
const leavesArchitect = "switch_mode";

export function offeredTools(tools: readonly Tool[], mode: Mode): Tool[] {
  return tools.filter(({ name, isReadOnly }) => {
    if (mode === "chat") return harmless.has(name);
    if (mode === "architect") return isReadOnly || harmless.has(name) || name === leavesArchitect;
    return name !== leavesArchitect;
  });
}
