// Writes the requests that both versions have alike, for the agent of a relay.

import { optional } from "../../base/objects.ts";
import type { AgentCapabilities, SessionOp } from "../../edition/agent-edition.ts";

export type UnchangedOp = Extract<
  SessionOp,
  {
    op:
      | "archive"
      | "unarchive"
      | "status"
      | "set_title"
      | "auth_status"
      | "list_providers"
      | "set_provider"
      | "disable_provider";
  }
>;

interface UnchangedCall {
  readonly method: string;
  readonly params: object;
  /** The capability that the agent must have. */
  readonly needs: keyof AgentCapabilities;
}

export function unchangedCall(op: UnchangedOp): UnchangedCall {
  switch (op.op) {
    case "archive":
    case "unarchive":
      return { method: `session/${op.op}`, params: paramsOf(op), needs: "archive" };
    case "status":
      return { method: "session/status", params: paramsOf(op), needs: "sessionStatus" };
    case "set_title":
      return { method: "session/set_title", params: paramsOf(op), needs: "setTitle" };
    case "auth_status":
      return { method: "auth/status", params: paramsOf(op), needs: "authStatus" };
    case "list_providers":
      return { method: "providers/list", params: paramsOf(op), needs: "providers" };
    case "set_provider":
      return { method: "providers/set", params: op.setting, needs: "providers" };
    case "disable_provider":
      return { method: "providers/disable", params: paramsOf(op), needs: "providers" };
  }
}

function paramsOf({ op: _, ...params }: UnchangedOp): object {
  return optional(params);
}
