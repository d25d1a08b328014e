// The client of the v2 tests, for either library: it answers everything, reports in `_meta` what it received, and logs
// notifications. The handler of session/update comes last, because the SDK asks all handlers in order.

import type { AgentNotifications, AgentRequests, ClientNotifications, ClientRequests } from "@parley/acp/v2";
import { type EventLog, type Script, type Sender, untilCancelled, type Wire } from "./wire-script.ts";

export type V2AgentSender = Sender<AgentRequests, AgentNotifications>;
type V2ClientScript = Script<ClientRequests, ClientNotifications>;

/** How many handlers the SDK asks before that of session/update. */
const bystanders = 8;

export function v2Client({ peer, refuse }: Wire<V2AgentSender>, log: EventLog): V2ClientScript {
  const others = Array.from({ length: bystanders }, (_, index) => [
    `_parley.test/other-${index}`,
    () => undefined,
  ]);
  return {
    requests: {
      "session/request_permission": async (saw, call) => {
        log.add("session/request_permission", saw);
        if (saw.title === "fail") throw refuse(-32002, "nobody is here", { who: "user" });
        if (saw.title === "hang") {
          await peer().notifyExtension("_parley.test/asked", {});
          return untilCancelled(call);
        }
        if (saw.title === "never mind") return { outcome: { outcome: "cancelled" }, _meta: { saw } };
        return { outcome: { outcome: "selected", optionId: saw.options[0]?.optionId ?? "" }, _meta: { saw } };
      },
      "elicitation/create": (saw) => {
        if (saw.mode !== "form") return { action: "decline", _meta: { saw } };
        return {
          action: "accept",
          content: { name: "ann", age: 3, happy: false, tags: ["a"] },
          _meta: { saw },
        };
      },
      "_parley.test/echo": (params) => params,
      ...Object.fromEntries(others),
    },
    notifications: {
      "elicitation/complete": (params) => log.add("elicitation/complete", params),
      "_parley.test/note": (params) => log.add("_parley.test/note", params),
      "session/update": (params) => {
        log.add("session/update", params);
        const { update } = params;
        if (update.sessionUpdate === "state_update" && update.state === "idle") log.add("idle", update);
      },
    },
  };
}

/** Beside the stable methods, with the unstable protocol switched on. */
export function v2UnstableClient(log: EventLog): V2ClientScript {
  return {
    requests: {
      "mcp/message": (saw) => ({ result: { tools: [] }, _meta: { saw } }),
    },
    notifications: {
      "auth/status_update": (params) => log.add("auth/status_update", params),
    },
  };
}
