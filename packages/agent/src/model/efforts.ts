// The levels of thinking, and which of them a model is asked for.

import type { Effort } from "./model.ts";

/** Lowest first. */
export const allEfforts: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The wanted one, else the next lower one that the model has, else the next higher one. Only who wants no thinking gets none. */
export function nearestEffort(wanted: Effort, offered: readonly Effort[]): Effort | undefined {
  if (offered.includes(wanted)) return wanted;
  const at = allEfforts.indexOf(wanted);
  const order = [...allEfforts.slice(1, Math.max(at, 1)).reverse(), ...allEfforts.slice(at + 1)];
  return order.find((effort) => effort !== "none" && offered.includes(effort));
}
