// Implements the verbs of a scripted client.

import {
  type ClientConnection,
  type ClientSession,
  ConnectionError,
  type Entry,
  RequestError,
  type SessionInfo,
  type SessionOptions,
} from "@parley/acp";
import { openMethod } from "@parley/acp/extensions";
import { optional } from "@parley/acp/jsonrpc";
import type { StepRecord } from "./client-record.ts";
import type { ClientStep, SessionRef, UpdateCount } from "./client-scenario.ts";
import { type Clock, type Gates, untilAborted } from "./gates.ts";
import type { ScriptedWire } from "./scripted-wire.ts";

type KeysOf<Step> = Step extends unknown ? keyof Step : never;
export type ClientVerb = Exclude<
  KeysOf<ClientStep>,
  "as" | "session" | "_meta" | "wait" | "value" | "params" | "credentials"
>;
type StepWith<Verb extends ClientVerb> = Extract<ClientStep, Readonly<Record<Verb, unknown>>>;

const verbs: {
  readonly [Verb in ClientVerb]: (step: StepWith<Verb>, run: ClientRun) => Promise<void> | void;
} = {
  async open({ open, as = "main" }, run) {
    const place = typeof open === "string" ? { cwd: open } : open;
    await install(run, "open", as, place, (listening) => run.agent.newSession(listening));
  },
  load: ({ load, as }, run) => reopen(run, "load", load, as),
  resume: ({ resume, as }, run) => reopen(run, "resume", resume, as),
  fork: ({ fork, as }, run) => reopen(run, "fork", fork, as),
  async close({ close }, run) {
    await sessionOf(run, close).close();
    run.steps.push({ step: "close", session: close });
  },
  async delete({ delete: ref }, run) {
    await run.agent.deleteSession(found(run, ref).id);
    run.steps.push({ step: "delete" });
  },
  async list({ list }, run) {
    const sessions: SessionInfo[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await run.agent.listSessions({ ...list, ...optional({ cursor }) });
      sessions.push(...page.sessions);
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    // sorted by name, because the order of use may differ between runs
    const byId = new Map([...run.sessions].map(([name, { session }]) => [session?.sessionId, name]));
    const nameOf = ({ sessionId }: { readonly sessionId: string }) => byId.get(sessionId) ?? sessionId;
    sessions.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
    run.steps.push({ step: "list", result: sessions });
  },
  async prompt(step, run) {
    const { wait = true } = step;
    const over = prompted(step, run);
    if (wait) await over;
    else run.open.push(over);
  },
  async settle(_, run) {
    await Promise.all(run.open.splice(0));
  },
  cancel({ cancel }, run) {
    sessionOf(run, cancel).cancel();
  },
  async cancelToolCall({ cancelToolCall, session }, run) {
    await sessionOf(run, session).cancelToolCall(cancelToolCall);
  },
  async cancelTerminal({ cancelTerminal, session }, run) {
    await sessionOf(run, session).cancelTerminal(cancelTerminal);
  },
  async setConfigOption({ setConfigOption, value, session }, run) {
    await sessionOf(run, session).setConfigOption(setConfigOption, value);
    run.steps.push({ step: "setConfigOption", session: session ?? "main" });
  },
  async setMode({ setMode, session }, run) {
    await sessionOf(run, session).setMode(setMode);
    run.steps.push({ step: "setMode", session: session ?? "main" });
  },
  async login({ login, credentials }, { agent, steps }) {
    await agent.login(login, optional({ credentials }));
    steps.push({ step: "login" });
  },
  async logout(_, { agent, steps }) {
    await agent.logout();
    steps.push({ step: "logout" });
  },
  async request({ request, params }, { agent, steps }) {
    // as: the connection checks the name
    const result = await agent.request(request as `_${string}`, params);
    steps.push({ step: "request", result });
  },
  async notify({ notify, params }, { agent }) {
    await agent.notify(notify as `_${string}`, params); // as above
  },
  async openGate({ openGate }, { agent }) {
    await agent.notify(openMethod, { gate: openGate });
  },
  async until({ until, session = "main" }, run) {
    if (until === "closed") run.steps.push({ step: "until", result: (await run.agent.closed).kind });
    else if ("gate" in until) await untilAborted(run.gates.pass(until.gate), run.ended);
    else {
      const named = namedOf(run, session);
      await holds(run, named, () =>
        "update" in until ? isReached(named, until) : named.session?.state === until.state,
      );
    }
  },
  async delay({ delay }, run) {
    await run.clock.sleep(delay, run.ended);
  },
  raw({ raw }, run) {
    run.wire.raw(raw, ids(run));
  },
  async call({ call, params }, run) {
    run.steps.push({ step: "call", result: await run.wire.call({ method: call, params }, ids(run)) });
  },
  async disconnect({ disconnect }, { agent, wire }) {
    await (disconnect === "close" ? agent.close() : wire.cut());
  },
};

const clientVerbs = Object.keys(verbs) as readonly ClientVerb[]; // the keys of the table above

export function verbOf(step: ClientStep): ClientVerb {
  // `cancel` is also a field of `prompt`
  const found = clientVerbs.filter((verb) => verb in step);
  return found.find((verb) => verb !== "cancel") ?? "cancel";
}

export async function runClientStep(step: ClientStep, run: ClientRun): Promise<void> {
  // as: the step has this verb
  const act = verbs[verbOf(step)] as (step: ClientStep, run: ClientRun) => Promise<void> | void;
  await act(step, run);
}

async function prompted(step: StepWith<"prompt">, run: ClientRun): Promise<void> {
  const { prompt: content, _meta, cancel, session: name = "main" } = step;
  const named = namedOf(run, name);
  const session = sessionOf(run, name);
  const from = named.entries.length;
  named.promptedAt = from;
  if (cancel === "at-permission") run.atPermission.add(session);
  try {
    const prompt = session.prompt(content, optional({ _meta }));
    if (cancel === "at-once") prompt.cancel();
    else if (typeof cancel === "object") {
      const due =
        "gate" in cancel
          ? run.gates.pass(cancel.gate)
          : holds(run, named, () => isReached(named, cancel, from));
      void due.then(() => prompt.cancel());
    }
    run.steps.push({ step: "prompt", session: name, result: await prompt });
  } catch (error) {
    run.steps.push({ step: "prompt", session: name, error: stepError(error) });
  } finally {
    run.atPermission.delete(session);
  }
}

async function reopen(
  run: ClientRun,
  step: "load" | "resume" | "fork",
  ref: SessionRef,
  as = "main",
): Promise<void> {
  const { id, cwd } = found(run, ref);
  await install(run, step, as, { cwd }, (listening) => run.agent[`${step}Session`](id, listening));
}

async function install(
  run: ClientRun,
  step: string,
  name: string,
  place: SessionOptions,
  call: (listening: SessionOptions) => Promise<ClientSession>,
): Promise<void> {
  const named: NamedSession = run.sessions.get(name) ?? {
    session: undefined,
    entries: [],
    promptedAt: 0,
    watchers: new Set(),
  };
  const fresh = !run.sessions.has(name);
  run.sessions.set(name, named);
  const session = await call({
    ...place,
    // a session that is loaded again already has a listener
    ...(fresh || named.session === undefined ? { onEntry: listener(named) } : {}),
  });
  named.session = session;
  run.steps.push({ step, session: name });
}

function listener(named: NamedSession): NonNullable<SessionOptions["onEntry"]> {
  return (entry) => {
    named.entries.push(entry);
    for (const watcher of [...named.watchers]) watcher();
  };
}

/** Resolves when the condition holds, or when the connection has ended. */
function holds(run: ClientRun, { watchers }: NamedSession, isTrue: () => boolean): Promise<void> {
  if (isTrue()) return Promise.resolve();
  const reached = new Promise<void>((resolve) => {
    const watcher = () => {
      if (!isTrue()) return;
      watchers.delete(watcher);
      resolve();
    };
    watchers.add(watcher);
  });
  return untilAborted(reached, run.ended);
}

function isReached(
  { entries, promptedAt }: NamedSession,
  { update, nth = 1 }: UpdateCount,
  from = promptedAt,
): boolean {
  let seen = 0;
  for (let at = from; at < entries.length; at++) {
    const entry = entries[at];
    if (entry?.kind === "update" && entry.update.sessionUpdate === update && ++seen === nth) return true;
  }
  return false;
}

function namedOf(run: ClientRun, name = "main"): NamedSession {
  const named = run.sessions.get(name);
  if (named !== undefined) return named;
  const known = [...run.sessions.keys()].join(", ");
  throw new TypeError(`no step has named a session ${name}; there are: ${known || "none"}`);
}

function sessionOf(run: ClientRun, name?: string): ClientSession {
  const { session } = namedOf(run, name);
  if (session === undefined) throw new TypeError(`the session ${name ?? "main"} was never opened`);
  return session;
}

function found(run: ClientRun, ref: SessionRef): { readonly id: string; readonly cwd: string } {
  if (typeof ref !== "string") return ref;
  const { sessionId, cwd } = sessionOf(run, ref);
  return { id: sessionId, cwd };
}

/** Session ids by name, and the id of "main" as `{{session}}`. */
function ids(run: ClientRun): Record<string, unknown> {
  const named = [...run.sessions].map(([name, { session }]) => [name, session?.sessionId]);
  return { ...Object.fromEntries(named), session: run.sessions.get("main")?.session?.sessionId };
}

/** A session with the name that a step gave it. */
interface NamedSession {
  session: ClientSession | undefined;
  readonly entries: Entry[];
  /** How many entries there were when the last prompt was sent. */
  promptedAt: number;
  /** Called after every entry; they remove themselves when done. */
  readonly watchers: Set<() => void>;
}

export interface ClientRun {
  readonly agent: ClientConnection;
  readonly wire: ScriptedWire;
  readonly gates: Gates;
  readonly clock: Clock;
  /** Aborts when the connection has ended. */
  readonly ended: AbortSignal;
  readonly sessions: Map<string, NamedSession>;
  readonly steps: StepRecord[];
  /** Prompts that no step has awaited. */
  readonly open: Promise<void>[];
  /** Sessions whose prompt is cancelled at the next permission request. */
  readonly atPermission: Set<ClientSession>;
}

export function stepError(error: unknown): NonNullable<StepRecord["error"]> {
  if (error instanceof RequestError) return { code: error.code, message: error.message };
  if (error instanceof ConnectionError) return { kind: error.kind, message: error.message };
  return { kind: "mistake", message: error instanceof Error ? error.message : String(error) };
}
