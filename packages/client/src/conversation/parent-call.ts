// The tool call that another one belongs to.

import type { ToolCallItem } from "@parley/acp/view";

/**
 * The call that this one belongs to. claude-agent-acp names it so; the protocol has no field for it.
 *
 * @example
 * import type { ToolCallItem } from "@parley/acp/view";
 * import { parentCallOf } from "@parley/client/conversation";
 *
 * export const isNested = (call: ToolCallItem): boolean => parentCallOf(call) !== undefined;
 */
export function parentCallOf({ _meta: meta, toolCallId }: ToolCallItem): string | undefined {
  const claude = meta?.["claudeCode"] as { readonly parentToolUseId?: unknown } | null | undefined; // anything
  const parent = claude?.parentToolUseId;
  return typeof parent === "string" && parent !== toolCallId ? parent : undefined;
}
