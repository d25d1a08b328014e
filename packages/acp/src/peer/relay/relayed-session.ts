// One session that a relay carries: what the agent says in it, in the client's version, and the client's
// prompts, one at a time where its version knows no other way.

import type { AgentSessionEdition } from "../../edition/agent-edition.ts";
import type { PromptOp, SessionSetup } from "../../edition/agent-ops.ts";
import { ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import { errorCodes } from "../../model/error-codes.ts";
import type { Outcome, Update } from "../../model/update.ts";
import type { AgentWire } from "../agent/agent-wire.ts";
import type { ClientSession, Prompt } from "../client/client-session.ts";
import { type ReadText, withDiffTexts } from "./diff-texts.ts";
import type { Errands } from "./errands.ts";
import { Losses, withLost } from "./losses.ts";

export interface RelayedSessionLink {
  readonly front: AgentWire;
  readonly losses: "lossy" | "strict";
  readonly errands: Errands;
  readText(path: string, roots: readonly string[]): string | undefined;
  /** The client is slow: the agent is not read until this has resolved. */
  slow(room: Promise<void>): void;
}

interface WaitingPrompt {
  start(): void;
  withdraw(): void;
}

export class RelayedSession {
  readonly #link: RelayedSessionLink;
  readonly losses: Losses;
  #live: ClientSession | undefined;
  #sessionId = "";
  #encoder: AgentSessionEdition | undefined;
  /** What came before the client knew of the session. */
  #held: Update[] | undefined = [];
  #replaying = false;
  #swallowing = false;
  #hasLeft = false;
  /** The client's own messages, which it has and does not want back. */
  readonly #own = new Set<string>();
  readonly #unnamed = new Set<Prompt>();
  readonly #waiting: WaitingPrompt[] = [];
  #isBusy = false;
  #asks = 0;
  title: string | undefined;
  /** When something last happened, as a timestamp: most updates are chunks, and a date is only asked for in a list. */
  updatedAt = Date.now();
  readonly readText: ReadText;

  constructor(link: RelayedSessionLink, roots: readonly string[]) {
    this.#link = link;
    this.readText = (path) => link.readText(path, roots);
    this.losses = new Losses(link.losses, link.front.log);
  }

  get live(): ClientSession {
    if (this.#live === undefined) throw new Error("the session is not open yet");
    return this.#live;
  }

  get id(): string | undefined {
    return this.#live?.sessionId;
  }

  /** History is on its way: it goes to the client at once, messages of the user included, or to nobody. */
  beginReplay(sessionId: string, { swallow }: { readonly swallow: boolean }): void {
    this.#swallowing = swallow;
    if (swallow) return;
    this.#replaying = true;
    this.#encoder = this.#newEncoder({ sessionId, configOptions: [], availableCommands: [] });
    this.#sessionId = sessionId;
    this.#held = undefined;
  }

  endReplay(): void {
    this.#replaying = false;
    this.#swallowing = false;
  }

  /** Another one has taken its place. */
  leave(): void {
    this.#hasLeft = true;
  }

  /** The agent has answered. What it says from now on waits until `release`, unless history has begun already. */
  opened(live: ClientSession): SessionSetup {
    this.#live = live;
    this.#sessionId = live.sessionId;
    this.endReplay();
    const setup: SessionSetup = {
      sessionId: live.sessionId,
      configOptions: live.options,
      availableCommands: live.commands,
      ...(live.meta === undefined ? {} : { meta: live.meta }),
    };
    this.#encoder ??= this.#newEncoder(setup);
    return setup;
  }

  /** The client has its answer. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const update of held) this.#forward(update);
  }

  /** The same function for as long as it lives: a session that is loaded again does not hear everything twice. */
  readonly receive = (update: Update): void => {
    if (update.sessionUpdate === "session_info_update" && update.title !== undefined) {
      this.title = update.title ?? undefined;
    }
    this.updatedAt = Date.now();
    if (this.#swallowing || this.#hasLeft) return;
    if (this.#held !== undefined) this.#held.push(update);
    else this.#forward(update);
  };

  async prompt(op: PromptOp, signal: AbortSignal): Promise<object> {
    const { prompts } = this.#link.front.edition;
    if (prompts.answersAtInsertion) {
      const prompt = this.#send(op, signal);
      return prompts.inserted(await accepted(prompt));
    }
    // version 1 knows one turn at a time
    if (this.#isBusy && !(await this.#turn(signal))) return prompts.ended({ stopReason: "cancelled" });
    this.#isBusy = true;
    try {
      const outcome = await outcomeOf(this.#send(op, signal));
      const result = prompts.ended(outcome);
      this.#noteReason(outcome, result);
      return withLost(result, this.losses.take());
    } finally {
      // busy without a gap, or a prompt that comes now would overtake the one that waits
      const next = this.#waiting.shift();
      if (next === undefined) this.#isBusy = false;
      else next.start();
    }
  }

  #noteReason({ stopReason }: Outcome, result: object): void {
    const { stopReason: said } = result as { stopReason?: unknown };
    if (said === stopReason) return;
    this.losses.note(this.#sessionId, [`the stop reason ${String(stopReason)}: it is ${String(said)}`]);
  }

  cancel(): void {
    this.withdraw();
    this.live.cancel();
  }

  /** Prompts that wait for their turn will not have one. */
  withdraw(): void {
    for (const waiting of this.#waiting.splice(0)) waiting.withdraw();
  }

  /** While the user is asked, work waits; only version 2 has a word for it. */
  async asking<Answer>(isUnsaid: boolean, ask: () => Promise<Answer>): Promise<Answer> {
    const isShown = isUnsaid && this.live.state !== "idle";
    if (isShown && this.#asks++ === 0) this.show({ sessionUpdate: "state_update", state: "requires_action" });
    try {
      return await ask();
    } finally {
      if (isShown && --this.#asks === 0 && this.live.state !== "idle")
        this.show({ sessionUpdate: "state_update", state: "running" });
    }
  }

  /** Shows a state that the agent's version does not have. */
  show(update: Update): void {
    this.#forward(update);
  }

  #send(op: PromptOp, signal: AbortSignal): Prompt {
    let prompt: Prompt;
    try {
      prompt = this.live.prompt(op.prompt, op.meta === undefined ? {} : { meta: op.meta });
    } catch (error) {
      throw refusal(error, "/prompt");
    }
    this.#unnamed.add(prompt);
    const named = (): void => void this.#unnamed.delete(prompt);
    prompt.accepted.then((messageId) => this.#own.add(messageId)).then(named, named);
    if (signal.aborted) prompt.cancel();
    else signal.addEventListener("abort", () => prompt.cancel(), { once: true });
    discard(prompt);
    return prompt;
  }

  /** Waits in line. False when it was withdrawn meanwhile. */
  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const waiting: WaitingPrompt = { start: () => resolve(true), withdraw: () => resolve(false) };
      this.#waiting.push(waiting);
      signal.addEventListener(
        "abort",
        () => {
          const at = this.#waiting.indexOf(waiting);
          if (at < 0) return;
          this.#waiting.splice(at, 1);
          resolve(false);
        },
        { once: true },
      );
    });
  }

  #forward(update: Update): void {
    if (this.#isEcho(update)) return;
    const lost: string[] = [];
    const note = (what: string): void => void lost.push(what);
    // only version 1 shows texts
    if (this.#link.front.edition.showsDiffTexts && mayHaveDiffs(update)) {
      const messages = withDiffTexts(update, this.readText, note).flatMap((one) => this.#encoded(one, note));
      return this.#tellAll(messages, lost);
    }
    const encoded = this.#encoded(update, note);
    // where a prompt is answered before its work, the end of the work says what was lost in it
    if (update.sessionUpdate === "state_update" && update.state === "idle" && !Array.isArray(encoded))
      return this.#tell(withLost(encoded as object, this.losses.take()));
    if (Array.isArray(encoded)) this.#tellAll(encoded, lost);
    // nearly all are one message for one update, with nothing lost: no array is made for them
    else if (lost.length === 0) this.#tell(encoded as object);
    else this.#tellAll([encoded as object], lost);
  }

  #encoded(update: Update, note: (what: string) => void): object | readonly object[] {
    return this.#encoder?.encode(update, note) ?? [];
  }

  #tellAll(messages: readonly object[], lost: readonly string[]): void {
    if (!this.losses.note(this.#sessionId, lost)) return;
    for (const message of messages) this.#tell(withLost(message, lost));
  }

  #tell(message: object): void {
    const { front } = this.#link;
    try {
      const room = front.sendUpdate(this.#sessionId, message);
      if (room !== undefined) this.#link.slow(room);
    } catch (error) {
      // the agent said something that its own version allows and ours does not: one update less, not one client
      front.log("error", "left out an update that is not valid", { sessionId: this.#sessionId, error });
      const { sessionUpdate, state, stopReason } = message as { [field: string]: unknown };
      // a client that is not told that the work is over waits for ever: what can be said of it is said
      const bare = { sessionUpdate, state, ...(stopReason === undefined ? {} : { stopReason }) };
      if (sessionUpdate !== "state_update" || Object.keys(message).length <= Object.keys(bare).length) return;
      this.#tell(withLost(bare, ["all of the state but its name and its reason"]));
    }
  }

  /** Version 1 does not echo. A message of somebody else is shown. */
  #isEcho(update: Update): boolean {
    if (this.#replaying || this.#link.front.edition.prompts.answersAtInsertion) return false;
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
    const { front } = this.#link;
    return front.edition.session(setup, front.client.features);
  }
}

function mayHaveDiffs({ sessionUpdate }: Update): boolean {
  return sessionUpdate === "tool_call_update" || sessionUpdate === "tool_call_content_chunk";
}

/** Updates reach the client by the session; what the prompt would keep for a loop over it is let go. */
function discard(prompt: Prompt): void {
  const first = async (): Promise<void> => {
    for await (const _ of prompt) return;
  };
  // how the prompt ends is what its outcome says
  first().catch(() => undefined);
}

async function accepted(prompt: Prompt): Promise<string> {
  try {
    return await prompt.accepted;
  } catch (error) {
    if (error instanceof ConnectionError && error.kind === "aborted") {
      throw new RequestError(errorCodes.cancelled, "cancelled before it was accepted");
    }
    throw gone(error);
  }
}

async function outcomeOf(prompt: Prompt): Promise<Outcome> {
  try {
    return await prompt.outcome;
  } catch (error) {
    throw gone(error);
  }
}

/** The agent's own answer as it is; its end as an error that says so. */
export function gone(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new RequestError(errorCodes.unavailable, `the agent has gone: ${message}`, { reason: "agent_gone" });
}

/** What the library refuses to ask an agent is the client's mistake. */
export function refusal(error: unknown, path?: string): unknown {
  if (!(error instanceof TypeError)) return error;
  const data = { reason: "unsupported", ...(path === undefined ? {} : { path }) };
  return new RequestError(errorCodes.invalidParams, error.message, data);
}
