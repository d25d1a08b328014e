// How a client learns that another one has its session: a state that ends its work, and then a notification.

import { takenMethod } from "../../base/parley-extensions.ts";
import { ConnectionError } from "../../jsonrpc/errors.ts";
import type { SessionUpdate } from "../../model/update.ts";

/** For a client whose work goes on elsewhere: whatever it waits for, it waits no longer. */
export const takenState: SessionUpdate = {
  sessionUpdate: "state_update",
  state: "idle",
  stopReason: "cancelled",
  _meta: { [takenMethod]: true },
};

/** Whether a state says that another client has the session. */
export function isTaken(update: object): boolean {
  const { _meta } = update as { _meta?: Readonly<Record<string, unknown>> }; // all updates may have it
  return _meta?.[takenMethod] === true;
}

const turnTags = /^(?:agent_|tool_call|plan|terminal|notice|compaction)/;

/** Whether updates of this tag are what a turn says and does. */
export function isOfTurn(tag: unknown): boolean {
  return turnTags.test(String(tag));
}

export function takenError(): ConnectionError {
  return new ConnectionError(
    "session_taken",
    "another client has taken the session, and a running turn may continue there; load the session to take it back",
  );
}
