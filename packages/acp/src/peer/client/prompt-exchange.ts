// Sends the prompts of a session in order, and gives what the agent answers to the edition.

import type { ClientSessionEdition, ClientSessionSink } from "../../edition/client-edition.ts";
import { type ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import type { PendingState } from "../../jsonrpc/pending-requests.ts";
import { PromptQueue } from "../base/prompt-queue.ts";
import type { AskedSession } from "./policy/permissions.ts";
import type { OpenPrompt, OpenPrompts } from "./session/prompt-handle.ts";
import type { OpenSessionSettings } from "./session/session-settings.ts";
import type { ConnectedSessionState } from "./session/session-snapshot.ts";
import type { ToolCallTracker } from "./session/tool-call-tracker.ts";
import type { SessionRequests } from "./session-requests.ts";

/** The session that the prompts are of. */
interface PromptedSession extends ClientSessionSink, Omit<AskedSession, "toolCalls"> {
  readonly toolCalls: ToolCallTracker;
}

interface PromptExchangeParts {
  readonly requests: SessionRequests;
  readonly edition: ClientSessionEdition;
  readonly settings: Pick<OpenSessionSettings, "policy">;
  readonly prompts: OpenPrompts;
}

export class PromptExchange {
  readonly #session: PromptedSession;
  readonly #parts: PromptExchangeParts;
  readonly #queue = new PromptQueue<OpenPrompt>((prompt) => this.#start(prompt));

  constructor(session: PromptedSession, parts: PromptExchangeParts) {
    this.#session = session;
    this.#parts = parts;
  }

  /** Whether a prompt runs at an agent that takes one at a time. */
  get isBusy(): boolean {
    return this.#queue.current !== undefined;
  }

  /** The numbers of the prompts that are sent one at a time: the one that runs, then those that wait. */
  get queued(): readonly number[] {
    const { current, waiting } = this.#queue;
    const isOpen = current !== undefined && this.#parts.prompts.find(current.number) !== undefined;
    return [...(isOpen ? [current] : []), ...waiting].map(({ number }) => number);
  }

  add(prompt: OpenPrompt): void {
    this.#queue.add(prompt);
  }

  withdraw(prompt: OpenPrompt): void {
    this.#queue.withdraw(prompt);
  }

  /** Gives the message to the work that runs. */
  steer(prompt: OpenPrompt): void {
    // an agent that orders prompts by itself needs nothing else
    if (this.#parts.requests.pipelinesPrompts || !this.isBusy) this.#queue.add(prompt);
    else void this.#steer(prompt);
  }

  /** Ends the prompts that have not been sent. */
  withdrawWaiting(): void {
    for (const { isSent, number } of this.#parts.prompts.all)
      if (!isSent) this.#session.outcome(number, { stopReason: "cancelled" });
  }

  /** The connection has ended. */
  fail(reason: ConnectionError): void {
    for (const { isSent, number } of this.#parts.prompts.all) {
      // also one that has been answered: the agent cannot report the end of its work any more
      if (isSent) this.#parts.edition.promptFailed(number, reason, this.#session);
      else this.#session.failed(number, reason);
    }
  }

  /** Goes on with the prompts of another connection: waits for the answers to those that it sent, and may send the next one. */
  resume({ prompts, queue }: ConnectedSessionState): void {
    for (const { number, request } of prompts.all) {
      const prompt = this.#parts.prompts.find(number);
      if (prompt === undefined || request === undefined) continue;
      if (request.method === "session/prompt") this.#send(prompt, request);
      else void this.#steer(prompt, request);
    }
    for (const number of queue) {
      const prompt = this.#parts.prompts.find(number);
      if (prompt !== undefined) this.#queue.add(prompt);
    }
  }

  /** The queue waits for the end of a prompt where the agent takes one at a time. */
  #start(prompt: OpenPrompt): Promise<undefined> | undefined {
    const { requests, edition, settings, prompts } = this.#parts;
    const session = this.#session;
    const { number, ended } = prompt;
    // it fails when the end of the connection is reported; one that was sent before is only waited for
    if (!requests.isOpen || prompt.isSent) return ended.promise;
    settings.policy.prompted(session);
    prompts.sent(prompt, { isBusy: session.state !== "idle" });
    // the message is shown before anything that the agent answers
    try {
      edition.promptSent(number, prompt.content, session);
    } catch (error) {
      session.failed(number, error instanceof Error ? error : new Error(String(error)));
      return undefined;
    }
    this.#send(prompt);
    return requests.pipelinesPrompts ? undefined : ended.promise;
  }

  /** `resumed`: it was sent before. */
  #send(prompt: OpenPrompt, resumed?: PendingState): void {
    const { requests, edition, prompts } = this.#parts;
    const session = this.#session;
    const { number, withdrawal } = prompt;
    const refused = (error: Error): void => {
      // an answer is told when it is dispatched, and once more as a rejection
      if (prompts.find(number) === undefined) return;
      if (!(error instanceof RequestError)) session.toolCalls.failOpen(session);
      edition.promptFailed(number, error, session);
    };
    const hooks = { signal: withdrawal.signal, note: prompt, resumed, refused };
    requests
      .prompt(session.sessionId, prompt, hooks, (result) => edition.promptAnswered(number, result, session))
      .catch(refused);
  }

  async #steer(prompt: OpenPrompt, resumed?: PendingState): Promise<void> {
    prompt.isSent = true;
    const { requests, edition } = this.#parts;
    const session = this.#session;
    const { number, content, withdrawal } = prompt;
    const refused = (error: Error): void => edition.promptFailed(number, error, session);
    const hooks = { signal: withdrawal.signal, note: prompt, resumed, refused };
    try {
      await requests.steer(session.sessionId, prompt, hooks, (outcome) => {
        if (outcome !== "promptRequired")
          return edition.steered?.(number, content, outcome === "injected", session);
        if (withdrawal.signal.aborted) return session.outcome(number, { stopReason: "cancelled" });
        prompt.isSent = false;
        this.#queue.add(prompt);
      });
    } catch (error) {
      refused(error as Error); // what a request rejects with
    }
  }
}
