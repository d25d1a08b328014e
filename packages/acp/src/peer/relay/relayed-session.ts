// One session of a relay: forwards the agent's updates in the client's version, and the client's prompts to the agent.

import { optional } from "../../base/objects.ts";
import { valueKey } from "../../base/parley-extensions.ts";
import type { Activation, AgentSessionEdition, PromptOp, SessionSetup } from "../../edition/agent-edition.ts";
import { understands } from "../../edition/dialect.ts";
import { keepsWhenIdle, type SteeringOutcome } from "../../edition/vendor-extensions.ts";
import { ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import { plainTextHead } from "../../log/plain-text.ts";
import type { Meta } from "../../model/content.ts";
import type { PromptResult, SessionUpdate } from "../../model/update.ts";
import type { AgentWire } from "../agent/agent-wire.ts";
import { withLost } from "../base/lost-note.ts";
import { PromptQueue } from "../base/prompt-queue.ts";
import type { ConnectedSession } from "../client/connected-session.ts";
import type { ClientSession, Prompt } from "../client/session/client-session.ts";
import { type ReadText, withDiffTexts } from "./diff-texts.ts";
import { Losses } from "./losses.ts";
import type { RelayOptions } from "./relay-options.ts";
import { isText, RelayedHistory } from "./relayed-history.ts";

/** The interface through which a session uses the relay. */
export interface RelayContext {
  readonly wire: AgentWire;
  readonly options: RelayOptions;
  /** Otherwise the relay makes up the states that the client expects. */
  readonly agentHasStates: boolean;
  /** Pauses the agent until the promise of a slow client has resolved. */
  waitForClient(room: Promise<void>): void;
}

/** A prompt of a client that expects one turn at a time. */
interface QueuedPrompt {
  readonly op: PromptOp;
  readonly signal: AbortSignal;
  resolve(result: object): void;
  reject(error: unknown): void;
}

export class RelayedSession {
  readonly #relay: RelayContext;
  readonly losses: Losses;
  history = new RelayedHistory();
  #historyBefore: RelayedHistory | undefined;
  /** The environment that the agent has for it. */
  activation: Activation | undefined;
  #live: ConnectedSession | undefined;
  #sessionId = "";
  #encoder: AgentSessionEdition | undefined;
  /** Updates that came before the client knew of the session. */
  #held: SessionUpdate[] | undefined = [];
  #replaying = false;
  #dropping = false;
  #isRetired = false;
  /** The ids of the client's own messages, which are not sent back to it. */
  readonly #own = new Set<string>();
  readonly #unnamed = new Set<Prompt>();
  readonly #queue = new PromptQueue<QueuedPrompt>((queued) => this.#runTurn(queued));
  #asks = 0;
  /** How often the agent's work has ended. */
  #ends = 0;
  title: string | undefined;
  /** The message up to the text of a chunk, and what it is for. */
  #chunk = { sessionId: "", head: "", message: "" };
  /** When something last happened, as a timestamp: most updates are chunks, and a date is only asked for in a list. */
  updatedAt = Date.now();
  readonly readText: ReadText;

  constructor(relay: RelayContext, roots: readonly string[]) {
    const { wire, options } = relay;
    this.#relay = relay;
    this.readText = (path) => options.readText?.(path, roots);
    this.losses = new Losses(options.losses ?? "lossy", wire.log);
  }

  get live(): ConnectedSession {
    if (this.#live === undefined) throw new Error("the session is not open yet");
    return this.#live;
  }

  get id(): string | undefined {
    return this.#live?.sessionId;
  }

  /** A replay begins. It goes to the client at once, messages of the user included, or is dropped. */
  beginReplay(sessionId: string, { drop }: { readonly drop: boolean }): void {
    this.#dropping = drop;
    if (drop) return;
    this.#historyBefore = this.history;
    this.history = new RelayedHistory();
    this.history.begin();
    this.#beginAnew(sessionId);
  }

  #beginAnew(sessionId: string): void {
    this.#replaying = true;
    this.#encoder = this.#newEncoder({ sessionId, configOptions: [], availableCommands: [] });
    this.#sessionId = sessionId;
    this.#held = undefined;
  }

  endReplay(): void {
    this.#replaying = false;
    this.#dropping = false;
    this.#historyBefore = undefined;
  }

  /** The agent has refused to replay it: what was known of it is all that is known. */
  replayFailed(): void {
    if (this.#historyBefore !== undefined) this.history = this.#historyBefore;
    this.endReplay();
  }

  /** Says again what the session has said, if all of it is known here. False where it is not. */
  replay(): boolean {
    const updates = this.history.updates(this.#relay.wire.maxSentBytes);
    if (updates === undefined) return false;
    this.#beginAnew(this.#sessionId);
    for (const update of updates) this.#forward(update);
    this.endReplay();
    return true;
  }

  /** Forwards nothing any more: another session has its id. */
  retire(): void {
    this.#isRetired = true;
  }

  /** The agent has answered. Its updates wait until `release`, unless a replay has begun already. */
  opened(session: ClientSession): SessionSetup {
    const live = session as ConnectedSession; // what every agent of ours opens
    this.#live = live;
    this.#sessionId = live.sessionId;
    this.endReplay();
    const { setup } = this;
    this.#encoder ??= this.#newEncoder(setup);
    return setup;
  }

  /** The session as an answer describes it. */
  get setup(): SessionSetup {
    const { sessionId, configOptions, availableCommands, _meta } = this.live;
    return { sessionId, configOptions, availableCommands, ...optional({ _meta }) };
  }

  /** The client has its answer. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const update of held) this.forward(update);
  }

  /** One function for the whole session, so that a session that is loaded again does not listen twice. */
  readonly receive = (update: SessionUpdate): void => {
    if (update.sessionUpdate === "session_info_update" && update.title !== undefined) {
      this.title = update.title ?? undefined;
    }
    this.updatedAt = Date.now();
    if (update.sessionUpdate === "state_update" && update.state === "idle") this.#ends++;
    if (this.#dropping || this.#isRetired) return;
    if (this.#held !== undefined) this.#held.push(update);
    else this.forward(update);
  };

  async prompt(op: PromptOp, signal: AbortSignal): Promise<object> {
    const { prompts } = this.#relay.wire.edition;
    if (prompts.answersAtInsertion) return prompts.inserted(await accepted(this.#send(op, signal)));
    return new Promise((resolve, reject) => {
      const queued: QueuedPrompt = { op, signal, resolve, reject };
      this.#queue.add(queued);
      signal.addEventListener("abort", () => {
        if (this.#queue.withdraw(queued)) resolve(prompts.ended({ stopReason: "cancelled" }));
      });
    });
  }

  /** Gives a message to the work that runs. The client has sent it, so it gets no echo. */
  async steer(op: PromptOp, signal: AbortSignal): Promise<{ outcome: SteeringOutcome; reason?: string }> {
    const isRunning = this.live.state !== "idle";
    if (!isRunning && keepsWhenIdle(op._meta)) return { outcome: "promptRequired", reason: "noRunningTurn" };
    const before = this.#ends;
    await accepted(this.#send(op, signal));
    return { outcome: isRunning && this.#ends === before ? "injected" : "startedNewTurn" };
  }

  async #runTurn({ op, signal, resolve, reject }: QueuedPrompt): Promise<undefined> {
    try {
      const outcome = await outcomeOf(this.#send(op, signal));
      const result = this.#relay.wire.edition.prompts.ended(outcome);
      this.#noteReason(outcome, result);
      resolve(withLost(result, this.losses.take()));
    } catch (error) {
      reject(error);
    }
  }

  #noteReason({ stopReason }: PromptResult, result: object): void {
    const { stopReason: said } = result as { stopReason?: unknown };
    if (said === stopReason) return;
    this.losses.note(this.#sessionId, [`the stop reason ${String(stopReason)}: it is ${String(said)}`]);
  }

  cancel(meta?: Meta): void {
    this.withdraw();
    this.live.cancel(optional({ _meta: meta }));
  }

  /** Ends the prompts that wait for their turn. */
  withdraw(): void {
    const { prompts } = this.#relay.wire.edition;
    for (const { resolve } of this.#queue.withdrawAll()) resolve(prompts.ended({ stopReason: "cancelled" }));
  }

  /** Shows that the session waits for the user, where the agent's version cannot say so. */
  async asking<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    const isBusy = (): boolean => this.live.state !== "idle";
    const isShown = !this.#relay.agentHasStates && isBusy();
    if (isShown && this.#asks++ === 0)
      this.forward({ sessionUpdate: "state_update", state: "requires_action" });
    try {
      return await ask();
    } finally {
      if (isShown && --this.#asks === 0 && isBusy())
        this.forward({ sessionUpdate: "state_update", state: "running" });
    }
  }

  #send(op: PromptOp, signal: AbortSignal): Prompt {
    let prompt: Prompt;
    try {
      const options = optional({ _meta: op._meta });
      // a client that may send several prompts at once lets the agent decide what becomes of them
      const steers = this.#relay.wire.edition.prompts.answersAtInsertion && this.live.canSteer;
      prompt = steers ? this.live.steer(op.prompt, options) : this.live.prompt(op.prompt, options);
    } catch (error) {
      throw refusal(error, "/prompt");
    }
    // updates are forwarded as they come, so none are kept
    prompt.then(undefined, () => undefined);
    this.#unnamed.add(prompt);
    const named = (): void => void this.#unnamed.delete(prompt);
    prompt.accepted.then((messageId) => this.#own.add(messageId)).then(named, named);
    if (signal.aborted) prompt.cancel();
    else signal.addEventListener("abort", () => prompt.cancel(), { once: true });
    return prompt;
  }

  forward(update: SessionUpdate): void {
    this.history.add(update);
    this.#forward(update);
  }

  #forward(update: SessionUpdate): void {
    if (this.#isEcho(update)) return;
    const lost: string[] = [];
    const note = (what: string): void => void lost.push(what);
    // only version 1 shows texts
    if (this.#relay.wire.edition.showsDiffTexts && mayHaveDiffs(update)) {
      const messages = withDiffTexts(update, this.readText, note).flatMap((one) => this.#encoded(one, note));
      return this.#sendAll(messages, lost);
    }
    const encoded = this.#encoded(update, note);
    // where a prompt is answered before its work, the end of the work says what was lost in it
    if (update.sessionUpdate === "state_update" && update.state === "idle" && !Array.isArray(encoded))
      return this.#sendMessage(withLost(encoded as object, this.losses.take()));
    if (Array.isArray(encoded)) this.#sendAll(encoded, lost);
    // nearly all are one message for one update, with nothing lost: no array is made for them
    else if (lost.length === 0)
      this.#sendMessage(encoded as object, encoded === update ? this.#textOf(update) : undefined);
    else this.#sendAll([encoded as object], lost);
  }

  #encoded(update: SessionUpdate, note: (what: string) => void): object | readonly object[] {
    return this.#encoder?.encode(update, note) ?? [];
  }

  #sendAll(messages: readonly object[], lost: readonly string[]): void {
    if (!this.losses.note(this.#sessionId, lost)) return;
    for (const message of messages) this.#sendMessage(withLost(message, lost));
  }

  /** The whole message for a piece of text with nothing beside it: only its text has to be serialised. */
  #textOf(update: SessionUpdate): string | undefined {
    if (!isText(update)) return undefined;
    const head = plainTextHead(update);
    const sessionId = this.#sessionId;
    if (this.#chunk.head !== head || this.#chunk.sessionId !== sessionId) {
      const id = JSON.stringify(sessionId);
      const message = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${id},"update":${head}`;
      this.#chunk = { sessionId, head, message };
    }
    return `${this.#chunk.message}${JSON.stringify(update.content.text)}}}}}`;
  }

  #sendMessage(message: object, text?: string): void {
    const { wire } = this.#relay;
    try {
      const room = wire.sendUpdate(this.#sessionId, message, text);
      if (room !== undefined) this.#relay.waitForClient(room);
    } catch (error) {
      // the agent's version allows the update, and the client's does not: only this update is lost
      const { sessionUpdate, state, stopReason } = message as { [field: string]: unknown };
      const why = error instanceof Error ? error.message : String(error);
      this.losses.note(this.#sessionId, [`the update ${String(sessionUpdate)}, which is not valid: ${why}`]);
      // a client that does not learn that the work is over waits for ever
      const bare = { sessionUpdate, state, ...optional({ stopReason }) };
      if (sessionUpdate !== "state_update" || Object.keys(message).length <= Object.keys(bare).length) return;
      this.#sendMessage(withLost(bare, ["all of the state but its name and its reason"]));
    }
  }

  /** Whether this is the echo of a message of the client's, which version 1 does not have. */
  #isEcho(update: SessionUpdate): boolean {
    if (this.#replaying || this.#relay.wire.edition.prompts.answersAtInsertion) return false;
    if (update.sessionUpdate !== "user_message" && update.sessionUpdate !== "user_message_chunk")
      return false;
    if (this.#own.has(update.messageId)) return true;
    // the echo may come before the answer that names it
    const [unnamed] = this.#unnamed;
    if (unnamed === undefined) return false;
    this.#unnamed.delete(unnamed);
    this.#own.add(update.messageId);
    return true;
  }

  #newEncoder(setup: SessionSetup): AgentSessionEdition {
    const { wire } = this.#relay;
    return wire.edition.session(setup, wire.client.capabilities, understands(wire.dialect, valueKey));
  }
}

function mayHaveDiffs({ sessionUpdate }: SessionUpdate): boolean {
  return sessionUpdate === "tool_call_update" || sessionUpdate === "tool_call_content_chunk";
}

async function accepted(prompt: Prompt): Promise<string> {
  try {
    return await prompt.accepted;
  } catch (error) {
    if (error instanceof ConnectionError && error.kind === "aborted") {
      throw new RequestError("cancelled", "cancelled before it was accepted");
    }
    throw agentGone(error);
  }
}

async function outcomeOf(prompt: Prompt): Promise<PromptResult> {
  try {
    return await prompt;
  } catch (error) {
    // the client is told so by itself
    if (error instanceof ConnectionError && error.kind === "session_taken")
      return { stopReason: "cancelled" };
    throw agentGone(error);
  }
}

/** The agent's own error as it is; the end of its connection as an error that says so. */
export function agentGone(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new RequestError("unavailable", `the agent has disconnected: ${message}`, {
    data: { reason: "agent_gone" },
  });
}

/** An argument that the library refuses to send is the client's mistake. */
export function refusal(error: unknown, path?: string): unknown {
  if (!(error instanceof TypeError)) return error;
  const data = { reason: "unsupported", ...optional({ path }) };
  return new RequestError("invalid_params", error.message, { data });
}
