// A model that is reached over the network through the AI SDK.

import { isSecretVariable } from "@parley/acp/redact";
import {
  type Model,
  ModelError,
  type ModelEvent,
  type ModelFacts,
  type ModelRequest,
} from "../model/model.ts";
import {
  aborted,
  defaultRetries,
  Failure,
  type RetryClock,
  type RetryPolicy,
  systemClock,
  withRetries,
} from "../model/retry.ts";
import type { ProviderKind } from "./builtin-providers.ts";
import { failureOf } from "./failure.ts";
import { partReader } from "./from-parts.ts";
import { type LanguageModel, loadLanguageModel, optionsName } from "./language-model.ts";
import { withOutputLimit } from "./output-limit.ts";
import { type Endpoint, missingKey } from "./provider-config.ts";
import { checkedFetch, firstServedModel } from "./provider-fetch.ts";
import { callOptions } from "./to-prompt.ts";

/**
 * How a provider is asked again.
 *
 * @inline
 */
export interface ProviderModelOptions {
  readonly clock?: RetryClock;
  readonly retries?: Partial<RetryPolicy>;
}

export function providerModel(
  endpoint: Endpoint,
  facts: ModelFacts,
  { clock = systemClock, retries = {} }: ProviderModelOptions = {},
): Model {
  const policy = { ...defaultRetries, ...retries };
  const client = new ProviderClient(endpoint, facts, clock);
  return { facts, stream: (request) => withRetries((each) => client.answer(each), request, policy, clock) };
}

/** How long a connection may stay open after a complete answer. */
const closeWithinMs = 5000;

class ProviderClient {
  readonly #endpoint: Endpoint;
  readonly #facts: ModelFacts;
  readonly #clock: RetryClock;
  #name: string | undefined;

  constructor(endpoint: Endpoint, facts: ModelFacts, clock: RetryClock) {
    this.#endpoint = endpoint;
    this.#facts = facts;
    this.#clock = clock;
    const name = facts.id.slice(endpoint.id.length + 1);
    this.#name = name === "auto" ? undefined : name;
  }

  /** Retries without thinking parts if the provider refuses them: they may refer to messages that were compacted. */
  async *answer(request: ModelRequest): AsyncGenerator<ModelEvent> {
    try {
      yield* this.#attempt(request, true);
    } catch (error) {
      if (!isAboutThoughts(error) || !hasThoughts(request)) throw error;
      yield* this.#attempt(request, false);
    }
  }

  async *#attempt(request: ModelRequest, sendThoughts: boolean): AsyncGenerator<ModelEvent> {
    request.signal.throwIfAborted();
    const { options, names } = callOptions(request, this.#endpoint, this.#facts, sendThoughts);
    const connection = new AbortController();
    const abort = (): void => connection.abort(request.signal.reason);
    request.signal.addEventListener("abort", abort, { once: true });
    const read = partReader({
      model: this.#facts.id,
      kind: this.#endpoint.kind,
      optionsName: optionsName(this.#endpoint),
      names,
    });
    let hasBegun = false;
    let isAfterBlock = false;
    let reader: ReadableStreamDefaultReader<unknown> | undefined;
    let isComplete = false;
    try {
      const model = await this.#load(connection.signal, options.maxOutputTokens);
      const { stream } = await model.doStream({ ...options, abortSignal: connection.signal });
      const parts = stream.getReader();
      reader = parts;
      for (;;) {
        const { done, value: part } = await parts.read();
        // a stream without `finish` is an unfinished answer
        const next = done ? unfinished : part;
        if (next.type === "error") throw next.error;
        const events = read(next);
        if (endsBlock(next.type, this.#endpoint)) isAfterBlock = true;
        else if (events.length > 0) isAfterBlock = false;
        // set before yielding, since the consumer may stop after `end`
        isComplete = next.type === "finish";
        for (const event of events) {
          hasBegun = true;
          yield event;
        }
        if (isComplete) return;
      }
    } catch (error) {
      if (request.signal.aborted) throw aborted();
      throw error instanceof ModelError ? error : this.#failure(error, hasBegun, isAfterBlock);
    } finally {
      request.signal.removeEventListener("abort", abort);
      if (isComplete && reader !== undefined) void drain(reader, connection);
      else connection.abort();
    }
  }

  async #load(signal: AbortSignal, maxOutput: number | undefined): Promise<LanguageModel> {
    const key = this.#endpoint.key();
    if (key === undefined && this.#endpoint.needsKey) throw missingKey(this.#endpoint);
    this.#name ??= await firstServedModel(this.#endpoint, signal);
    const plain = checkedFetch(this.#endpoint);
    const isLimited = this.#endpoint.kind === "anthropic" && maxOutput !== undefined;
    const fetch = isLimited ? withOutputLimit(plain, maxOutput) : plain;
    return loadLanguageModel(this.#endpoint, this.#name, key, fetch);
  }

  #failure(thrown: unknown, hasBegun: boolean, isAfterBlock: boolean): Failure {
    const key = this.#endpoint.key();
    const headers = Object.entries(this.#endpoint.headers);
    const secretHeaders = headers.filter((header) => isSecretVariable(...header));
    const ofKey = [key?.value, key?.account?.sessionToken].filter((value) => value !== undefined);
    const secrets = [...secretHeaders.map(([, value]) => value), ...ofKey];
    const failure = failureOf(thrown, {
      endpoint: this.#endpoint,
      model: this.#name ?? this.#facts.name,
      secrets,
      now: this.#clock.now(),
      hasBegun,
    });
    failure.isAfterBlock = isAfterBlock;
    return failure;
  }
}

/** The other APIs have no blocks: there the SDK ends a text when its stream ends, whole or not. */
const withBlocks: ReadonlySet<ProviderKind> = new Set(["anthropic", "bedrock", "openai", "azure"]);

function endsBlock(type: string, { kind }: Endpoint): boolean {
  return type.startsWith("tool-") || (type === "text-end" && withBlocks.has(kind));
}

const noTokens = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
const unfinished = {
  type: "finish" as const,
  finishReason: { unified: "interrupted" as const, raw: undefined },
  usage: { inputTokens: noTokens, outputTokens: { total: undefined, text: undefined, reasoning: undefined } },
};

/** Reads to the end so that the connection can be reused; closes one that the server leaves open. */
async function drain(
  reader: ReadableStreamDefaultReader<unknown>,
  connection: AbortController,
): Promise<void> {
  const timer = setTimeout(() => connection.abort(), closeWithinMs);
  timer.unref();
  try {
    while (!(await reader.read()).done);
  } catch {
    // the answer is complete already
  } finally {
    clearTimeout(timer);
  }
}

function isAboutThoughts(error: unknown): boolean {
  const isRefused = error instanceof Failure && error.error.kind === "bad_request";
  return isRefused && /thinking|thought|signature|reasoning|encrypted/i.test(error.message);
}

function hasThoughts({ messages }: ModelRequest): boolean {
  return messages.some(
    ({ role, ...rest }) =>
      role === "assistant" && "content" in rest && rest.content.some((part) => "signature" in part),
  );
}
