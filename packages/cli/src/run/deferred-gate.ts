// A gate that is there before it is open: the process of an agent starts while the gate reads rules and opens its log.

import type { LiveGate } from "@parley/client";
import type { OpenedGate } from "../permissions/open-gate.ts";

/** `opened` gives the gate once `opening` has resolved, which is before any session begins. */
export function deferredGate(opening: Promise<OpenedGate>, opened: () => OpenedGate | undefined): LiveGate {
  return {
    permission: async (ask, context) => (await opening).gate.permission(ask, context),
    veto: async (session, params, signal) => (await opening).gate.veto(session, params, signal),
    services(session) {
      const gate = opened()?.gate;
      if (gate === undefined) throw new Error("an agent asked for files before its session had begun");
      return gate.services(session);
    },
    observe: (session, update) => opened()?.gate.observe(session, update),
    cancelled: (session) => opened()?.gate.cancelled(session),
    prompted: (session) => opened()?.gate.prompted(session),
  };
}
