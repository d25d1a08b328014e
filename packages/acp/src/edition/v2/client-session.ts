// One session of a version 2 client: tracks which prompts are part of the conversation, and which idle state ends them.
// The answer to a prompt and the echo of its message come in any order. A repeated state ends nothing (C56).

import { optional } from "../../base/objects.ts";
import { anyObject, count, fields, flag, listOf, type Shape, text } from "../../base/shape.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import { completeDecodedUpdate } from "../../model/complete-diff.ts";
import type { ContentBlock, SessionConfigOption } from "../../model/content.ts";
import {
  type PromptResult,
  promptError,
  type SessionUpdate,
  type StopReason,
  type UnknownUpdate,
} from "../../model/update.ts";
import { WholeFirst, type WholeFirstState, wholeFirstShape } from "../../model/whole-first.ts";
import { lists, type UnstableFeatures } from "../../validation/unstable-features.ts";
import { stableUpdateTags, unstableUpdateTags } from "../../wire/v2/methods.gen.ts";
import type * as wire from "../../wire/v2/types.gen.ts";
import type { ClientSessionEdition, ClientSessionSink } from "../client-edition.ts";
import type { MessageNames } from "../message-names.ts";
import { bothMeta, metaOf, usageFromWire } from "../wire-fields.ts";

type StateUpdate = Extract<SessionUpdate, { sessionUpdate: "state_update" }>;

interface OpenPrompt {
  readonly prompt: number;
  /** Known once the agent has answered; empty while only an echo can say it. */
  messageId?: string;
  /** The agent was busy with another prompt when this one came, and has not been idle since. */
  joinedWork: boolean;
  /** The user cancelled while it was open. */
  cancelled: boolean;
  /** The custom data of the answer, which comes before the work: its outcome has it. */
  answer?: object;
}

/** What a session holds, as JSON. */
export interface V2State {
  readonly open: readonly OpenPrompt[];
  readonly echoes: readonly { readonly messageId: string; readonly ended?: PromptResult }[];
  readonly busy: boolean;
  readonly shown: string;
  readonly lastIdle: string;
  readonly replaying: boolean;
  readonly wholes?: WholeFirstState;
  readonly hasHistory: boolean;
  /** `inserted`: the numbers of prompts. */
  readonly replayed?: {
    readonly update: StateUpdate;
    readonly inserted: readonly number[];
    readonly worked: boolean;
  };
  readonly unnamed?: { readonly kind: string; readonly messageId: string };
}

export const v2StateShape: Shape = fields(
  {
    open: listOf(
      fields({ prompt: count, joinedWork: flag, cancelled: flag }, { messageId: text, answer: anyObject }),
    ),
    echoes: listOf(fields({ messageId: text }, { ended: anyObject })),
    busy: flag,
    shown: text,
    lastIdle: text,
    replaying: flag,
    hasHistory: flag,
  },
  {
    wholes: wholeFirstShape,
    replayed: fields({ update: anyObject, inserted: listOf(count), worked: flag }),
    unnamed: fields({ kind: text, messageId: text }),
  },
);

/** The last state that came with a history. */
interface ReplayedState {
  readonly update: StateUpdate;
  /** The prompts that were part of the conversation when it came. */
  readonly inserted: readonly OpenPrompt[];
  /** Since then the agent was at work. */
  readonly worked: boolean;
}

export class V2ClientSession implements ClientSessionEdition {
  readonly #open: OpenPrompt[] = [];
  /** Messages that were echoed before their prompt was answered, with the outcome if their work has ended. */
  readonly #echoes = new Map<string, PromptResult | undefined>();
  #busy = false;
  /** The last state that was reported. */
  #shown = "idle";
  #lastIdle = "";
  #replaying = false;
  /** Exists while a replay runs: an agent may send the pieces of messages that the app still has. */
  #wholes: WholeFirst | undefined;
  /** A message has come since a replay began. */
  #hasHistory = false;
  #replayed: ReplayedState | undefined;
  /** The message without an id that may go on. */
  #unnamed: { readonly kind: string; readonly messageId: string } | undefined;
  readonly #names: MessageNames;
  readonly #unstable: UnstableFeatures;

  constructor(unstable: UnstableFeatures, names: MessageNames, state?: V2State) {
    this.#unstable = unstable;
    this.#names = names;
    if (state === undefined) return;
    const { replayed } = state;
    this.#open.push(...state.open.map((entry) => ({ ...entry })));
    for (const { messageId, ended } of state.echoes) this.#echoes.set(messageId, ended);
    this.#busy = state.busy;
    this.#shown = state.shown;
    this.#lastIdle = state.lastIdle;
    this.#replaying = state.replaying;
    this.#wholes = state.wholes && new WholeFirst(state.wholes);
    this.#hasHistory = state.hasHistory;
    this.#unnamed = state.unnamed;
    this.#replayed = replayed && {
      ...replayed,
      // one that has ended since is found by no other
      inserted: this.#open.filter(({ prompt }) => replayed.inserted.includes(prompt)),
    };
  }

  get state(): V2State {
    const replayed = this.#replayed;
    return {
      open: this.#open.map((entry) => ({ ...entry })),
      echoes: [...this.#echoes].map(([messageId, ended]) => ({ messageId, ...optional({ ended }) })),
      busy: this.#busy,
      shown: this.#shown,
      lastIdle: this.#lastIdle,
      replaying: this.#replaying,
      hasHistory: this.#hasHistory,
      ...optional({ wholes: this.#wholes?.state, unnamed: this.#unnamed }),
      ...(replayed && {
        replayed: { ...replayed, inserted: replayed.inserted.map(({ prompt }) => prompt) },
      }),
    };
  }

  setOptions(_options: readonly SessionConfigOption[]): void {
    // version 2 always sends whole lists
  }

  optionsChanged(options: readonly SessionConfigOption[]): readonly SessionConfigOption[] {
    return options;
  }

  setReplaying(replaying: boolean, out: ClientSessionSink): void {
    this.#replaying = replaying;
    this.#wholes = replaying ? new WholeFirst() : undefined;
    this.#unnamed = undefined;
    if (replaying) this.#names.beginReplay();
    else this.#names.endReplay({ hasCome: this.#hasHistory });
    this.#hasHistory = false;
    const last = this.#replayed;
    this.#replayed = undefined;
    if (replaying || last === undefined) return;
    // the agent says what is true now behind the history and before its answer (A30)
    if (last.worked) this.#busy = true;
    // that nothing runs is news only where something did: a snapshot completes nothing by itself (C56)
    if (this.#busy || last.update.state !== "idle") this.#state(last.update, last.inserted, out);
  }

  receive(given: object, out: ClientSessionSink): void {
    const received = given as wire.SessionUpdate; // validated by the method's row
    const update = knownFromWire(received, this.#unstable);
    if (update === undefined) {
      return out.update({ sessionUpdate: received.sessionUpdate as never, unknown: true, raw: received });
    }
    this.#name(update);
    if (update.sessionUpdate === "user_message" || update.sessionUpdate === "user_message_chunk") {
      if (!this.#replaying) this.#echoed(update.messageId, out);
    }
    if (this.#wholes === undefined) out.update(update);
    else for (const each of this.#wholes.take(update)) out.update(each);
    if (update.sessionUpdate === "state_update") {
      this.#shown = update.state;
      if (this.#replaying) this.#noteReplayed(update);
      else this.#state(update, this.#inserted(), out);
    } else if (!this.#busy && this.#open.length > 0 && !this.#replaying) {
      // an agent that speaks is at work, also one that never says so
      this.#busy = update.sessionUpdate.startsWith("agent_") || update.sessionUpdate.startsWith("tool_");
    }
  }

  /** Gives a message without an id one: pieces of one kind that follow each other are one message. */
  #name(update: SessionUpdate): void {
    const { sessionUpdate, messageId } = update as { sessionUpdate: string; messageId?: string };
    if (messageId !== undefined) this.#hasHistory = true;
    if (messageId !== "") {
      // other messages and tool calls end it
      if (messageId !== undefined || sessionUpdate.startsWith("tool_")) this.#unnamed = undefined;
      return;
    }
    const kind = sessionUpdate.replace(/_chunk$/, "");
    if (this.#unnamed?.kind !== kind || sessionUpdate === kind)
      this.#unnamed = { kind, messageId: this.#names.next(kind) };
    (update as { messageId: string }).messageId = this.#unnamed.messageId;
  }

  promptSent(prompt: number, _content: readonly ContentBlock[], _out: ClientSessionSink): void {
    this.#open.push({ prompt, joinedWork: this.#busy, cancelled: false });
  }

  promptAnswered(prompt: number, result: object, out: ClientSessionSink): void {
    const entry = this.#find(prompt);
    if (entry === undefined || entry.messageId !== undefined) return;
    let { messageId } = result as { messageId: string };
    // an agent of an older draft does not say: the echo does, if it has come
    if (messageId === "") messageId = [...this.#echoes.keys()][0] ?? "";
    entry.messageId = messageId;
    entry.answer = result;
    if (messageId !== "") out.accepted(prompt, messageId);
    const ended = this.#echoes.get(messageId);
    this.#echoes.delete(messageId);
    if (ended !== undefined) this.#close(entry, ended, out);
  }

  promptFailed(prompt: number, error: Error, out: ClientSessionSink): void {
    const entry = this.#find(prompt);
    if (entry === undefined) return;
    const withdrawn = error instanceof RequestError && error.kind === "cancelled";
    // withdrawn before it became part of the conversation: an outcome, never a throw
    if (withdrawn || entry.cancelled) return this.#close(entry, { stopReason: "cancelled" }, out);
    this.#open.splice(this.#open.indexOf(entry), 1);
    out.failed(prompt, error);
  }

  cancelled(): void {
    for (const entry of this.#open) entry.cancelled = true;
  }

  interrupted(out: ClientSessionSink): void {
    if (this.#shown === "idle") return;
    this.#shown = "idle";
    const cancelled = this.#open.length > 0 && this.#open.every((entry) => entry.cancelled);
    const stopReason = cancelled ? "cancelled" : "error";
    out.update({ sessionUpdate: "state_update", state: "idle", stopReason });
  }

  #echoed(messageId: string, out: ClientSessionSink): void {
    const unnamed = this.#open.find((entry) => entry.messageId === "");
    if (unnamed !== undefined) {
      unnamed.messageId = messageId;
      out.accepted(unnamed.prompt, messageId);
      return;
    }
    const waiting = this.#open.some((entry) => entry.messageId === undefined);
    if (waiting && !this.#echoes.has(messageId)) this.#echoes.set(messageId, undefined);
  }

  #noteReplayed(update: StateUpdate): void {
    const inserted = this.#inserted();
    const works = update.state !== "idle" && inserted.length > 0;
    this.#replayed = { update, inserted, worked: works || this.#replayed?.worked === true };
  }

  #inserted(): OpenPrompt[] {
    return this.#open.filter((entry) => entry.messageId !== undefined);
  }

  #state(update: StateUpdate, inserted: readonly OpenPrompt[], out: ClientSessionSink): void {
    if (update.state !== "idle") {
      // an unknown state is not idle (C55)
      this.#busy = true;
      return;
    }
    const snapshot = JSON.stringify(update);
    const repeated = !this.#busy && snapshot === this.#lastIdle;
    this.#busy = false;
    this.#lastIdle = snapshot;
    if (repeated) return;
    const outcome = outcomeOf(update);
    for (const [messageId, ended] of this.#echoes)
      if (ended === undefined) this.#echoes.set(messageId, outcome);
    for (const entry of this.#open) if (!inserted.includes(entry)) entry.joinedWork = false;
    for (const [i, entry] of inserted.entries()) {
      // an answer or a failure may have ended it since
      if (!this.#open.includes(entry)) continue;
      if (entry.messageId === "") out.accepted(entry.prompt, this.#names.next("user_message"));
      this.#close(entry, i > 0 || entry.joinedWork ? { ...outcome, joined: true } : outcome, out);
    }
  }

  #close(entry: OpenPrompt, outcome: PromptResult, out: ClientSessionSink): void {
    this.#open.splice(this.#open.indexOf(entry), 1);
    if (this.#open.length === 0) this.#echoes.clear();
    const whole = { ...outcome, ...bothMeta(entry.answer ?? {}, outcome) };
    out.outcome(entry.prompt, entry.cancelled ? cancelledOutcome(whole) : whole);
  }

  #find(prompt: number): OpenPrompt | undefined {
    return this.#open.find((entry) => entry.prompt === prompt);
  }
}

function outcomeOf(update: {
  stopReason?: unknown;
  error?: unknown;
  usage?: unknown;
  _meta?: unknown;
}): PromptResult {
  const { error } = update as Partial<PromptResult>;
  // an idle state without a reason is no failure
  const stopReason = (update.stopReason ?? "end_turn") as StopReason; // validated by the method's row
  return {
    stopReason,
    ...(stopReason === "error" && error ? { error: promptError(error) } : {}),
    ...usageFromWire(update.usage),
    ...metaOf(update),
  };
}

function cancelledOutcome({ error: _, ...outcome }: PromptResult): PromptResult {
  return { ...outcome, stopReason: "cancelled" };
}

type Known = Exclude<SessionUpdate, UnknownUpdate>;
type UnknownOnWire = Extract<wire.SessionUpdate, { sessionUpdate: `_${string}` | wire.UnknownTag }>;
type KnownOnWire = Exclude<wire.SessionUpdate, UnknownOnWire>;

/** Undefined for an update of an unknown kind, or of an unstable feature that is not enabled. */
function knownFromWire(update: wire.SessionUpdate, unstable: UnstableFeatures): Known | undefined {
  if (!isKnown(update, unstable)) return undefined;
  update satisfies { sessionUpdate: Known["sessionUpdate"] };
  // as: the validator has removed the nulls that the model does not have
  const known = update as Known;
  completeDecodedUpdate(known);
  return known;
}

function isKnown(update: wire.SessionUpdate, unstable: UnstableFeatures): update is KnownOnWire {
  const { sessionUpdate: tag } = update;
  return stableUpdateTags.has(tag) || lists(unstable, unstableUpdateTags.get(tag));
}
