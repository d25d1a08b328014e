// What a forwarder of ACP must know of its messages.

import { isObject } from "../../base/objects.ts";
import type { Facts, Opens } from "../../forward/frame.ts";
import { methodTable } from "../../wire/methods.gen.ts";

const opened: Readonly<Record<string, Opens>> = { opens: "session", attaches: "named session" };

export function acpFacts(version: () => number | undefined): Facts {
  return {
    session(value) {
      const sessionId = isObject(value) ? value["sessionId"] : undefined;
      return typeof sessionId === "string" ? sessionId : undefined;
    },
    opens(method) {
      if (method === "initialize") return "connection";
      return opened[methodTable.get(method)?.session ?? ""];
    },
    cancels: (method) => method === "session/cancel",
    withdrawn(method) {
      if (method === "session/request_permission") return { result: { outcome: { outcome: "cancelled" } } };
      if (method === "elicitation/create") return { result: { action: "cancel" } };
      if (method !== "session/prompt") return undefined;
      if (version() === 2) return { error: { code: -32800, message: "cancelled" } };
      return { result: { stopReason: "cancelled" } };
    },
  };
}
