// A gate that is opened while the agent's process starts.

import type { ManagedGate } from "@parley/client/internal";
import type { OpenedGate } from "./open-gate.ts";

/** `opened` returns the gate after `opening` has resolved, which is before any session starts. */
export function deferredGate(
  opening: Promise<OpenedGate>,
  opened: () => OpenedGate | undefined,
): ManagedGate {
  return {
    permission: async (ask, context) => (await opening).gate.permission(ask, context),
    tool: async (call, context) => (await opening).gate.tool(call, context),
    veto: async (session, params, signal) => (await opening).gate.veto(session, params, signal),
    services(session) {
      const gate = opened()?.gate;
      if (gate === undefined) throw new Error("the agent requested files before its session was open");
      return gate.services(session);
    },
    observe: (session, update) => opened()?.gate.observe(session, update),
    cancelled: (session) => opened()?.gate.cancelled(session),
    prompted: (session) => opened()?.gate.prompted(session),
  };
}
