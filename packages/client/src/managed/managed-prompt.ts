// A prompt of a managed session: waits for its turn, and may be sent more than once.

import type { AgentCapabilities, ClientSession, ContentBlock, Prompt, PromptResult } from "@parley/acp";
import { argumentText, PromptHandle, type UnreadLimits, unsupportedContent } from "@parley/acp/internal";
import { optional } from "@parley/acp/jsonrpc";
import type { Meta } from "@parley/acp/model";
import type { RecoveryCounts } from "./recover.ts";

export type PromptContent = string | readonly ContentBlock[];

export interface ManagedPromptOptions {
  readonly _meta?: Meta | undefined;
  /** Cancels the prompt. */
  readonly signal?: AbortSignal | undefined;
}

/** Refuses at once what the agent does not support, although the prompt may be sent much later. */
export function checkContent(content: PromptContent, agent: AgentCapabilities): void {
  if (typeof content === "string") return;
  if (!Array.isArray(content) || content.length === 0) {
    const got = Array.isArray(content) ? "none" : argumentText(content);
    throw new TypeError(`prompt: expected text or a list of at least one content block, got ${got}`);
  }
  const wrong = unsupportedContent(content, agent);
  if (wrong !== undefined) throw new TypeError(`prompt: ${wrong}`);
}

/**
 * It may be sent more than once: `result` is that of the last attempt, and rejects when the agent crashed and could not be
 * restarted, or wants a login. `accepted` is the message of the first attempt that the agent accepted.
 */
export class ManagedPrompt extends PromptHandle {
  readonly content: PromptContent;
  readonly counts: RecoveryCounts = { pauses: 0, timeouts: 0, crashes: 0, reopened: 0, logins: 0 };
  readonly #meta: Meta | undefined;
  readonly #controller: AbortController;
  #sent: Prompt | undefined;

  /** `cancelled` is called once, by the first cancel. */
  constructor(
    content: PromptContent,
    { _meta, signal }: ManagedPromptOptions,
    limits: UnreadLimits,
    cancelled: (prompt: ManagedPrompt) => void,
  ) {
    const controller = new AbortController();
    const cancel = (): void => {
      if (controller.signal.aborted) return;
      controller.abort();
      this.#sent?.cancel();
      cancelled(this);
    };
    super(cancel, limits);
    this.content = content;
    this.#meta = _meta;
    this.#controller = controller;
    if (signal !== undefined) this.cancelOn(signal);
  }

  get isSent(): boolean {
    return this.#sent !== undefined;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Sends it. `stuck` is called when the agent does not end its work in time after a cancel. */
  async sendTo(session: ClientSession, cancelTimeoutMs: number, stuck: () => void): Promise<PromptResult> {
    // somebody else's work runs: what it says is no answer to this
    if (session.state !== "idle") this.awaitOwn();
    const sent = session.prompt(this.content, optional({ _meta: this.#meta }));
    // this handle keeps the updates of all attempts
    sent.then(undefined, () => undefined);
    this.#sent = sent;
    sent.accepted.then(
      (messageId) => this.accept(messageId),
      () => undefined,
    );
    let timer: NodeJS.Timeout | undefined;
    const given = Promise.withResolvers<PromptResult>();
    const cancelled = () => {
      timer = setTimeout(() => {
        given.resolve({ stopReason: "cancelled" });
        stuck();
      }, cancelTimeoutMs);
    };
    this.signal.addEventListener("abort", cancelled, { once: true });
    // cancelled by a listener while it was being sent
    if (this.signal.aborted) {
      sent.cancel();
      cancelled();
    }
    try {
      return await Promise.race([sent.result, given.promise]);
    } finally {
      clearTimeout(timer);
      this.signal.removeEventListener("abort", cancelled);
    }
  }
}
