// Formats the usage that an agent reports: tokens, context and cost.

import type { Outcome } from "@parley/acp";
import type { SessionView } from "@parley/acp/view";
import { safeLine } from "../terminal/sanitise.ts";

export function usageText(
  used: Outcome["usage"] | undefined,
  { usage, cost }: Pick<SessionView, "usage" | "cost">,
): string[] {
  return [
    ...(used == null ? [] : [`${grouped(used.totalTokens)} tokens`]),
    ...(usage === undefined ? [] : [contextText(usage)]),
    ...(cost === undefined ? [] : [`${cost.amount.toFixed(2)} ${safeLine(cost.currency).slice(0, 10)}`]),
  ];
}

function contextText({ used, size }: NonNullable<SessionView["usage"]>): string {
  // some agents report the total ever used, which is not a percentage
  if (size <= 0 || used > size) return `context ${grouped(used)}${size > 0 ? ` of ${grouped(size)}` : ""}`;
  return `context ${Math.round((100 * used) / size)} % of ${grouped(size)}`;
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
