// What a client's connection holds, as JSON, and the check of what is restored.

import { isObject } from "../../base/objects.ts";
import { anyObject, count, fields, flag, listOf, problemsOf, type Shape, text } from "../../base/shape.ts";
import type { AgentIntroduction } from "../../edition/agent-edition.ts";
import type { ClientEdition } from "../../edition/client-edition.ts";
import { type MessageNamesState, messageNamesShape } from "../../edition/message-names.ts";
import type { Edition } from "../../edition/negotiate.ts";
import type { ConnectionState } from "../../jsonrpc/connection-state.ts";
import { argumentText } from "../../jsonrpc/errors.ts";
import type { PendingState } from "../../jsonrpc/pending-requests.ts";
import type { ConnectedSession } from "./connected-session.ts";
import type { DroppedUpdates, Orphan } from "./dropped-updates.ts";
import { isCall, type PendingCallState, pendingCallShape } from "./pending-call.ts";
import { type ConnectedSessionState, sessionStateShape } from "./session/session-snapshot.ts";

/** What a client's connection holds, as JSON: `snapshot()` of the connection returns it, and `client().restore` takes it. */
export interface ConnectionSnapshot {
  /** Marks the JSON as a snapshot of a connection. */
  readonly parley: "connection-snapshot";
  /** The version of the format. Only the same version can be restored. */
  readonly version: 1;
  /** The edition of the protocol that the agent speaks. */
  readonly edition: Edition;
  /** The state of the parts of the connection. It is not for reading: it changes with the version. */
  readonly state: object;
}

/** What the dispatch of a connection holds. */
export interface DispatchState {
  readonly counts: Readonly<DroppedUpdates["counts"]>;
  readonly orphans: readonly Orphan[];
  /** The open terminals of each session. */
  readonly terminals: Readonly<Record<string, readonly string[]>>;
  readonly elicitations: readonly string[];
  readonly droppedDialect?: string;
  /** The last report of the agent's login. */
  readonly authStatus?: object;
}

/** The state of the parts of a connection. */
export interface AgentState {
  /** The answer to the handshake, in the model's words. */
  readonly introduction: AgentIntroduction;
  readonly connection: Omit<ConnectionState, "pending">;
  readonly calls: readonly PendingCallState[];
  readonly sessions: readonly ConnectedSessionState[];
  /** The names of the messages of each session, also of those that were closed. */
  readonly names: Readonly<Record<string, MessageNamesState>>;
  readonly dispatch: DispatchState;
  /** The model providers that the agent requires. */
  readonly requiredProviders: readonly string[];
}

export function snapshotOf(edition: Edition, state: AgentState): ConnectionSnapshot {
  // a copy: nothing in it changes with the connection
  return JSON.parse(JSON.stringify({ parley: "connection-snapshot", version, edition, state }));
}

/** Divides requests into those of prompts, which stand with their sessions, and others. */
export function splitPending(
  pending: readonly (PendingState & { readonly note: unknown })[],
  sessions: readonly ConnectedSession[],
): Pick<AgentState, "sessions" | "calls"> {
  const ofPrompts = new Map<unknown, PendingState>();
  for (const { note, ...request } of pending) if (note !== undefined) ofPrompts.set(note, request);
  const taken = new Set<unknown>();
  const states = sessions.map((session) =>
    session.snapshot((prompt) => {
      taken.add(prompt);
      return ofPrompts.get(prompt);
    }),
  );
  const others = pending.filter(({ note }) => !taken.has(note));
  const calls = others.map(({ note, ...request }) => (isCall(note) ? { ...request, call: note } : request));
  return { sessions: states, calls };
}

const version = 1;
const editions: readonly unknown[] = ["v1", "v2"] satisfies Edition[];

/** The edition of a snapshot. Throws a TypeError for what is no snapshot, or one that cannot be restored here. */
export function editionOfSnapshot(given: unknown, spoken: readonly Edition[]): Edition {
  if (typeof given === "string")
    throw new TypeError("restore: expected a snapshot, got a text; pass JSON.parse(text)");
  if (!isObject(given) || given["parley"] !== "connection-snapshot")
    throw new TypeError(
      `restore: expected a snapshot, as connection.snapshot() returns it, got ${argumentText(given)}`,
    );
  const { version: its, edition } = given;
  if (its !== version)
    throw new TypeError(
      `restore: expected a snapshot of version ${version}, got one of version ${argumentText(its)}; restore it with the version of Parley that took it, or connect anew`,
    );
  if (!editions.includes(edition) || !spoken.includes(edition as Edition))
    // it is one of the list
    throw new TypeError(
      `restore: expected a snapshot of edition ${spoken.join(" or ")}, which this client speaks, got ${argumentText(edition)}`,
    );
  return edition as Edition; // as above
}

/** Throws a TypeError that says what is wrong with the state, and where. */
export function stateOfSnapshot({ state }: ConnectionSnapshot, edition: ClientEdition): AgentState {
  const [problem] = problemsOf(state, stateShape(edition.stateShape), ["state"]);
  if (problem === undefined) return state as AgentState; // checked by its shape
  const { path, kind, wanted, value } = problem;
  const what = kind === "unknown" ? `no such property; known are ${wanted}` : wanted;
  throw new TypeError(
    `restore: the snapshot is broken: expected ${what} at /${path.join("/")}, got ${argumentText(value)}; pass the snapshot as it was returned`,
  );
}

const counters = [
  "strayAnswers",
  "refused",
  "noise",
  "unsentErrors",
  "dropped",
] as const satisfies readonly (keyof ConnectionState["counters"])[];

const connectionShape = fields({
  nextId: count,
  givenUp: listOf(count),
  requests: listOf(fields({ text }, { isCancelled: flag, batch: count })),
  batches: listOf(listOf(text)),
  counters: fields(Object.fromEntries(counters.map((name) => [name, count]))),
});

const dispatchShape = fields(
  {
    counts: fields({ orphan: count, invalid: count, repaired: count }),
    orphans: listOf(fields({ sessionId: text, update: anyObject, chars: count })),
    terminals: { type: "object", additionalProperties: listOf(text) },
    elicitations: listOf(text),
  },
  { droppedDialect: text, authStatus: anyObject },
);

function stateShape(session: Shape): Shape {
  return fields({
    introduction: fields(
      { capabilities: anyObject, authMethods: listOf(anyObject) },
      { info: anyObject, _meta: anyObject },
    ),
    connection: connectionShape,
    calls: listOf(pendingCallShape),
    sessions: listOf(sessionStateShape(session)),
    names: { type: "object", additionalProperties: messageNamesShape },
    dispatch: dispatchShape,
    requiredProviders: listOf(text),
  });
}
