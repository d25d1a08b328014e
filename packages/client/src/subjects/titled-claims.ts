// Reads the titles of an agent that writes them itself and says nothing else of a call: the whole command, or the tool.

import type { ToolCallUpdate } from "@parley/acp/model";
import { canonicalPath } from "./canonical-path.ts";
import { commandSubject } from "./command-subject.ts";
import type { RuleSubject } from "./subject.ts";

/** What such a title names is no label: rules match it. A call that says more than a title is judged by that. */
export function titledClaims(
  claims: readonly RuleSubject[],
  { title, rawInput, content, locations }: Partial<ToolCallUpdate> = {},
  cwd: string,
): RuleSubject[] {
  const [claim, another] = claims;
  const saysMore = rawInput != null || [...(content ?? []), ...(locations ?? [])].length > 0;
  if (claim === undefined || another !== undefined || saysMore || typeof title !== "string")
    return [...claims];
  const { labelOnly: _label, ...said } = claim;
  if (claim.operation === "mcp" && claim.tool !== undefined) return [said];
  // all of the title, as it is: what follows the command in it makes it another one
  if (claim.operation === "exec") return [commandSubject("claim", title, undefined, canonicalPath(cwd))];
  return [claim];
}
