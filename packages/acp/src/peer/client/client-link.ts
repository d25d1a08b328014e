// What a session needs of its connection, and no more.

import { isObject } from "../../base/is-object.ts";
import type { AgentFeatures } from "../../edition/agent-ops.ts";
import type { ClientEdition } from "../../edition/client-edition.ts";
import { argumentText } from "../../jsonrpc/argument.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { Log } from "../../jsonrpc/log.ts";
import type { ContentBlock, Meta, SessionConfigOption } from "../../model/content.ts";
import { errorCodes } from "../../model/error-codes.ts";
import { unsupportedContent } from "../base/prompt-content.ts";
import type { ClientWire } from "./client-wire.ts";
import type { LiveSession } from "./live-session.ts";
import type { UnreadLimits } from "./unread-updates.ts";

export class ClientLink {
  readonly log: Log;
  readonly unread: UnreadLimits;
  /** Whether updates are frozen before anybody sees them. */
  readonly isStrict: boolean;
  readonly #wire: ClientWire;
  readonly #edition: ClientEdition;
  readonly #features: AgentFeatures;

  constructor(
    wire: ClientWire,
    edition: ClientEdition,
    features: AgentFeatures,
    { unread, isStrict }: { readonly unread: UnreadLimits; readonly isStrict: boolean },
  ) {
    this.log = wire.log;
    this.unread = unread;
    this.isStrict = isStrict;
    this.#wire = wire;
    this.#edition = edition;
    this.#features = features;
  }

  /** False once the connection ends: nothing can be sent, and all that waits will fail with the reason. */
  get isOpen(): boolean {
    return this.#wire.isOpen;
  }

  /** Whether the agent orders several prompts of one session by itself. */
  get pipelinesPrompts(): boolean {
    return this.#edition.pipelinesPrompts;
  }

  notify(method: string, params: object): Promise<void> | undefined {
    return this.#wire.notify(method, params);
  }

  request(method: string, params: object): Promise<object> {
    return this.#wire.request(method, params);
  }

  /** Throws for what may not be sent to this agent (C21, C22, G7). */
  checkPrompt(content: readonly ContentBlock[]): void {
    if (!Array.isArray(content) || content.some((block) => !isObject(block))) {
      const got = Array.isArray(content) ? content.find((block) => !isObject(block)) : content;
      throw new TypeError(`prompt: wanted text or a list of content blocks, got ${argumentText(got)}`);
    }
    if (content.length === 0)
      throw new TypeError("prompt: got no content, a prompt needs at least one block");
    const wrong = unsupportedContent(content, this.#features);
    if (wrong !== undefined) throw new TypeError(`prompt: ${wrong}`);
    this.#wire.check("session/prompt", { sessionId: "checked", prompt: [...content] });
  }

  /** `answered` is called when the answer is dispatched, before anything later. Rejects when there is none. */
  async prompt(
    sessionId: string,
    { content, meta }: { readonly content: readonly ContentBlock[]; readonly meta: Meta | undefined },
    signal: AbortSignal,
    answered: (result: object) => void,
  ): Promise<void> {
    const params = { sessionId, prompt: [...content], ...(meta === undefined ? {} : { _meta: meta }) };
    await this.#wire.request("session/prompt", params, { signal, receive: answered });
  }

  /** `answered` as above, with the list that the answer has. */
  async setOption(
    sessionId: string,
    option: SessionConfigOption,
    value: string | boolean,
    answered: (options: readonly SessionConfigOption[] | undefined) => void,
  ): Promise<void> {
    const { method, params } = this.#edition.setOption(sessionId, option, value);
    const receive = (result: object) => answered(this.#edition.optionsAfter(method, result));
    await this.#wire.request(method, params, { receive });
  }

  async closeSession(session: LiveSession): Promise<void> {
    const { sessionId } = session;
    if (this.#features.close) {
      await this.#wire.request("session/close", { sessionId }).catch((error: unknown) => {
        // unknown to the agent is as good as closed (C59)
        if (!(error instanceof RequestError && error.code === errorCodes.notFound)) throw error;
      });
    } else session.cancel();
    this.endSession(sessionId);
  }

  /** What an agent left open when its session ended is over. */
  endSession(sessionId: string): void {
    this.#wire.find(sessionId)?.sessionEnded();
    this.#wire.forget(sessionId);
  }
}
