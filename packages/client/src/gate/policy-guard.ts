// What a permission policy has for managed agents: gates that perform what they allow.

import type { ClientPolicy } from "@parley/acp";
import type { Gate } from "./gate.ts";
import type { PermissionAsker } from "./gate-options.ts";

/** Makes gates for managed agents. */
export interface PolicyGuard {
  /** Whether the policy asks the user itself. */
  readonly asks: boolean;
  gate(given: { readonly agent: string; readonly asker?: PermissionAsker; trustsTitles(): boolean }): Gate;
}

export const guardKey: unique symbol = Symbol("parley.guard");

/** Undefined for a policy that `permissionPolicy` has not made. */
export function guardOf(policy: ClientPolicy): PolicyGuard | undefined {
  return (policy as { readonly [guardKey]?: PolicyGuard })[guardKey]; // others have none
}
