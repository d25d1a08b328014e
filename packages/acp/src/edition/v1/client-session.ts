// One session of a version 1 client: makes up the states and echoes that version 1 does not have.

import { optional } from "../../base/objects.ts";
import { anyObject, count, fields, flag, listOf, type Shape, text } from "../../base/shape.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { ContentBlock, SessionConfigOption } from "../../model/content.ts";
import {
  type PromptError,
  type PromptResult,
  type SessionUpdate,
  type StopReason,
  wireError,
} from "../../model/update.ts";
import { WholeFirst, type WholeFirstState, wholeFirstShape } from "../../model/whole-first.ts";
import type { UnstableFeatures } from "../../validation/unstable-features.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type { ClientSessionEdition, ClientSessionSink } from "../client-edition.ts";
import type { MessageNames } from "../message-names.ts";
import { metaOf, usageFromWire } from "../wire-fields.ts";
import { type UpdateDecoderState, V1UpdateDecoder } from "./update-decoder.ts";

interface PromptEchoState {
  readonly left: string;
  readonly blocks: readonly ContentBlock[];
  readonly isOver: boolean;
  readonly held: readonly wire.SessionUpdate[];
}

/** What a session holds, as JSON. */
export interface V1State {
  readonly decoder: UpdateDecoderState;
  readonly wholes?: WholeFirstState;
  readonly open?: number;
  readonly echo?: PromptEchoState;
  readonly joined: readonly number[];
  readonly cancelled: boolean;
}

const decoderShape = fields(
  { run: text, runId: text, isTail: flag, hasHistory: flag, options: listOf(anyObject) },
  { terminals: fields({ shown: listOf(text), ofCall: { type: "object", additionalProperties: text } }) },
);

export const v1StateShape: Shape = fields(
  { decoder: decoderShape, joined: listOf(count), cancelled: flag },
  {
    wholes: wholeFirstShape,
    open: count,
    echo: fields({ left: text, blocks: listOf(anyObject), isOver: flag, held: listOf(anyObject) }),
  },
);

/** Makes up the states and echoes that version 1 does not have. */
export class V1ClientSession implements ClientSessionEdition {
  readonly #decoder: V1UpdateDecoder;
  /** Exists while a replay runs: version 1 sends the pieces of messages, which the app may still have. */
  #wholes: WholeFirst | undefined;
  #open: number | undefined;
  /** Of the open prompt. */
  #echo: PromptEcho | undefined;
  readonly #joined: number[] = [];
  #cancelled = false;

  constructor(unstable: UnstableFeatures, names: MessageNames, state?: V1State) {
    this.#decoder = new V1UpdateDecoder(unstable, names, state?.decoder);
    if (state === undefined) return;
    this.#wholes = state.wholes && new WholeFirst(state.wholes);
    this.#open = state.open;
    this.#echo = state.echo && new PromptEcho(state.echo);
    this.#joined.push(...state.joined);
    this.#cancelled = state.cancelled;
  }

  get state(): V1State {
    return {
      decoder: this.#decoder.state,
      ...optional({ wholes: this.#wholes?.state, open: this.#open, echo: this.#echo?.state }),
      joined: [...this.#joined],
      cancelled: this.#cancelled,
    };
  }

  setOptions(options: readonly SessionConfigOption[]): void {
    this.#decoder.options = options;
  }

  optionsChanged(options: readonly SessionConfigOption[]): readonly SessionConfigOption[] {
    return this.#decoder.withStandIns(options);
  }

  setReplaying(replaying: boolean): void {
    this.#echo = undefined;
    this.#decoder.setReplaying(replaying);
    this.#wholes = replaying ? new WholeFirst() : undefined;
  }

  receive(given: object, out: ClientSessionSink): void {
    const update = given as wire.SessionUpdate; // validated by the method's row
    if (this.#echo === undefined) return this.#take(update, out);
    for (const each of this.#echo.take(update)) this.#take(each, out);
  }

  #take(update: wire.SessionUpdate, out: ClientSessionSink): void {
    const decoder = this.#decoder;
    const decoded = decoder.decode(update, out);
    if (decoder.terminals.length === 0) return this.#show(decoded, out);
    const terminals = decoder.terminals.splice(0);
    if (saysMore(decoded)) this.#show(decoded, out);
    for (const each of terminals) this.#show(each, out);
  }

  #show(update: SessionUpdate, out: ClientSessionSink): void {
    if (this.#wholes === undefined) out.update(update);
    else for (const each of this.#wholes.take(update)) out.update(each);
  }

  promptSent(prompt: number, content: readonly ContentBlock[], out: ClientSessionSink): void {
    this.#open = prompt;
    this.#cancelled = false;
    this.#decoder.endRun();
    const messageId = this.#decoder.mintMessageId("user_message_chunk");
    out.update({ sessionUpdate: "state_update", state: "running" });
    out.accepted(prompt, messageId);
    out.update({ sessionUpdate: "user_message", messageId, content: [...content] });
    this.#echo = new PromptEcho(echoOf(content));
  }

  steered(prompt: number, content: readonly ContentBlock[], isJoined: boolean, out: ClientSessionSink): void {
    this.#decoder.endRun();
    const messageId = this.#decoder.mintMessageId("user_message_chunk");
    out.accepted(prompt, messageId);
    out.update({ sessionUpdate: "user_message", messageId, content: [...content] });
    if (isJoined && this.#open !== undefined) this.#joined.push(prompt);
    // no answer will say when this work ends
    else out.outcome(prompt, { stopReason: "_detached" });
  }

  promptAnswered(prompt: number, result: object, out: ClientSessionSink): void {
    const { stopReason, usage } = result as wire.PromptResponse;
    const more = { ...usageFromWire(usage), ...metaOf(result) };
    this.#end(prompt, { stopReason: this.#reason(stopReason), ...more }, out);
  }

  promptFailed(prompt: number, error: Error, out: ClientSessionSink): void {
    const withdrawn = error instanceof RequestError && error.kind === "cancelled";
    if (withdrawn || this.#cancelled) return this.#end(prompt, { stopReason: "cancelled" }, out);
    const data = error instanceof RequestError ? { error: errorOf(error) } : {};
    const joined = this.#takeJoined(prompt);
    this.#rest(prompt, { stopReason: "error", ...data }, out);
    out.failed(prompt, error);
    for (const each of joined) out.failed(each, error);
  }

  cancelled(): void {
    if (this.#open !== undefined) this.#cancelled = true;
  }

  interrupted(out: ClientSessionSink): void {
    if (this.#open !== undefined) this.#rest(this.#open, { stopReason: this.#reason("error") }, out);
  }

  #reason(stopReason: wire.StopReason | "error"): StopReason {
    return this.#cancelled ? "cancelled" : stopReason;
  }

  #end(prompt: number, outcome: PromptResult, out: ClientSessionSink): void {
    const joined = this.#takeJoined(prompt);
    // a message for running work that fails does not take back the cancel of that work
    if (this.#open === prompt) this.#cancelled = false;
    this.#rest(prompt, outcome, out);
    out.outcome(prompt, outcome);
    for (const each of joined) out.outcome(each, { ...outcome, joined: true });
  }

  /** The messages that joined the work on this prompt, which end with it. */
  #takeJoined(prompt: number): readonly number[] {
    return this.#open === prompt ? this.#joined.splice(0) : [];
  }

  /** Reports once that the work on the prompt has ended. */
  #rest(prompt: number, outcome: PromptResult, out: ClientSessionSink): void {
    if (this.#open !== prompt) return;
    for (const each of this.#echo?.end() ?? []) this.#take(each, out);
    this.#echo = undefined;
    // text after a turn that failed is another message
    if (outcome.stopReason === "end_turn") this.#decoder.endTurn();
    else this.#decoder.endRun();
    this.#open = undefined;
    const { stopReason, usage, _meta: meta, error } = outcome;
    out.update({
      sessionUpdate: "state_update",
      state: "idle",
      stopReason: stopReason as "end_turn", // an unknown reason is kept as it came
      ...optional({ error: error && wireError(error), usage, _meta: meta }),
    });
  }
}

/** Whether an update of a call says anything beside its id. */
function saysMore(update: SessionUpdate): boolean {
  return Object.keys(update).length > 2;
}

function errorOf({ kind, code, message, data }: RequestError): PromptError {
  return { kind, code, message, ...optional({ data }) };
}

/** An echo comes before anything else of a turn, in one piece or in several. */
class PromptEcho {
  /** The text that is left, without spaces: agents join the blocks of a prompt in their own ways. */
  #left: string;
  readonly #blocks: readonly ContentBlock[];
  #isOver: boolean;
  /** Pieces that may be the beginning of something else. */
  #held: wire.SessionUpdate[];

  constructor({ left, blocks, isOver, held }: PromptEchoState) {
    this.#left = left;
    this.#blocks = blocks;
    this.#isOver = isOver;
    this.#held = [...held];
  }

  get state(): PromptEchoState {
    return { left: this.#left, blocks: this.#blocks, isOver: this.#isOver, held: [...this.#held] };
  }

  /** The updates that can be shown now: none for a piece of the echo; otherwise with those that proved to be none. */
  take(update: wire.SessionUpdate): readonly wire.SessionUpdate[] {
    if (this.#isOver || !isContent(update)) return [update];
    if (update.sessionUpdate === "user_message_chunk" && this.#continues(update.content)) {
      this.#held = this.#left === "" ? [] : [...this.#held, update];
      return [];
    }
    return [...this.end(), update];
  }

  /** The pieces of an echo that was never completed. */
  end(): readonly wire.SessionUpdate[] {
    this.#isOver = true;
    return this.#held.splice(0);
  }

  #continues(block: wire.ContentBlock): boolean {
    if (block.type !== "text") return this.#blocks.some((each) => isSame(each, block));
    const text = solid(block.text);
    // a text behind the whole echo is another message
    if (this.#left === "" || !this.#left.startsWith(text)) return false;
    this.#left = this.#left.slice(text.length);
    return true;
  }
}

/** Nothing of the echo has come yet. */
function echoOf(content: readonly ContentBlock[]): PromptEchoState {
  const left = solid(content.map((block) => (block.type === "text" ? block.text : "")).join(""));
  return { left, blocks: content.filter(({ type }) => type !== "text"), isOver: false, held: [] };
}

function solid(text: string): string {
  return text.replaceAll(/\s+/g, "");
}

/** Settings of the session may come at any time. */
function isContent({ sessionUpdate }: wire.SessionUpdate): boolean {
  return /^(?:user|agent|tool|plan)/.test(sessionUpdate);
}

function isSame(one: object, other: object): boolean {
  const [a, b] = [one, other] as Record<string, unknown>[]; // only compared
  return ["type", "uri", "data", "resource"].every(
    (field) => JSON.stringify(a?.[field]) === JSON.stringify(b?.[field]),
  );
}
