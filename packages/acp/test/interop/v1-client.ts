// The client of the v1 tests, for either library: it answers everything, reports in `_meta` what it received, and logs
// notifications. The handler of session/update comes last, because the SDK asks all handlers in order.

import type { AgentNotifications, AgentRequests, ClientNotifications, ClientRequests } from "@parley/acp/v1";
import { type EventLog, type Script, type Sender, untilCancelled, type Wire } from "./wire-script.ts";

export type V1AgentSender = Sender<AgentRequests, AgentNotifications>;
type V1ClientScript = Script<ClientRequests, ClientNotifications>;

export function v1Client({ peer, refuse }: Wire<V1AgentSender>, log: EventLog): V1ClientScript {
  return {
    requests: {
      "session/request_permission": async (saw, call) => {
        log.add("session/request_permission", saw);
        if (saw.toolCall.title === "hang") {
          await peer().notifyExtension("_parley.test/asked", {});
          return untilCancelled(call);
        }
        const [first] = saw.options;
        if (first === undefined) return { outcome: { outcome: "cancelled" }, _meta: { saw } };
        return { outcome: { outcome: "selected", optionId: first.optionId }, _meta: { saw } };
      },
      "fs/read_text_file": (saw) => {
        if (saw.path.endsWith("missing")) throw refuse(-32002, "no such file", { uri: saw.path });
        return { content: "text", _meta: { saw } };
      },
      "fs/write_text_file": (saw) => ({ _meta: { saw } }),
      "terminal/create": (saw) => ({ terminalId: "terminal-1", _meta: { saw } }),
      "terminal/output": (saw) => ({
        output: "out",
        truncated: true,
        exitStatus: { exitCode: null, signal: "SIGTERM" },
        _meta: { saw },
      }),
      "terminal/kill": (saw) => ({ _meta: { saw } }),
      "terminal/wait_for_exit": (saw) => ({ exitCode: 1, signal: null, _meta: { saw } }),
      "terminal/release": (saw) => ({ _meta: { saw } }),
      "elicitation/create": (saw) => {
        if (saw.mode !== "form") return { action: "decline", _meta: { saw } };
        return {
          action: "accept",
          content: { name: "ann", age: 3, happy: false, tags: ["a"] },
          _meta: { saw },
        };
      },
      "_parley.test/echo": (params) => params,
    },
    notifications: {
      "elicitation/complete": (params) => log.add("elicitation/complete", params),
      "_parley.test/note": (params) => log.add("_parley.test/note", params),
      "session/update": (params) => log.add("session/update", params),
    },
  };
}

/** Beside the stable methods, with the unstable protocol switched on. */
export function v1UnstableClient(log: EventLog): V1ClientScript {
  return {
    requests: {
      "mcp/message": (saw) => ({ result: { tools: [] }, _meta: { saw } }),
    },
    notifications: {
      "auth/status_update": (params) => log.add("auth/status_update", params),
    },
  };
}
