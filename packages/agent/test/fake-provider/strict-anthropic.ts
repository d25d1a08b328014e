// An Anthropic server that enforces the rules of the API: tools, limits, the context window and the cache.

import { type AnthropicBlock, anthropicError, anthropicEvents, anthropicFault } from "./anthropic-wire.ts";
import { type Answer, streamed } from "./fake-provider.ts";
import { type AnthropicRequest, type CacheCount, MarkedCache } from "./prompt-cache.ts";

interface Limits {
  readonly contextWindow: number;
  readonly maxOutput: number;
}

export interface StrictReply {
  readonly blocks: readonly AnthropicBlock[];
  readonly stop?: string;
}

/** Each request that keeps the rules gets the answer that `reply` makes of it; any other one an error. */
export function strictAnthropic(
  { contextWindow, maxOutput }: Limits,
  reply: (request: AnthropicRequest, index: number, count: CacheCount) => StrictReply | Promise<StrictReply>,
): Answer {
  const cache = new MarkedCache();
  return async (exchange, index) => {
    const request = exchange.request.body as AnthropicRequest; // the check below says what is wrong with it
    const refuse = (message: string) =>
      exchange.json(400, anthropicError("invalid_request_error", message), { "x-should-retry": "false" });
    const fault = anthropicFault(request as never);
    if (fault !== undefined) return refuse(fault);
    if (request.max_tokens > maxOutput)
      return refuse(`max_tokens: ${request.max_tokens} > ${maxOutput}, which is the maximum for this model`);
    const count = cache.count(request);
    const { read, written, fresh } = count;
    const input = read + written + fresh;
    if (input > contextWindow)
      return refuse(`prompt is too long: ${input} tokens > ${contextWindow} maximum`);
    if (input + request.max_tokens > contextWindow)
      return refuse(
        `input length and \`max_tokens\` exceed context limit: ${input} + ${request.max_tokens} > ${contextWindow}`,
      );
    const budget = Number(request.thinking?.budget_tokens ?? 0);
    if (request.max_tokens <= budget)
      return refuse("`max_tokens` must be greater than `thinking.budget_tokens`");
    const { blocks, stop } = await reply(request, index, count);
    const startUsage = {
      input_tokens: fresh,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
    };
    const usage = { output_tokens: Math.ceil(JSON.stringify(blocks).length / 4) };
    return streamed(anthropicEvents({ blocks, startUsage, usage, ...(stop !== undefined && { stop }) }))(
      exchange,
      index,
    );
  };
}
