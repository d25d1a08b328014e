// Estimates the cost of a model request.

import type { Price, TokenUsage } from "./model.ts";

/** US dollars, or undefined when the price is unknown. */
export function costOf(price: Price | undefined, usage: TokenUsage): number | undefined {
  if (price === undefined) return undefined;
  const cached = usage.cachedInput ?? 0;
  const written = usage.cacheWrite ?? 0;
  const fresh = Math.max(0, usage.input - cached - written);
  const input =
    fresh * price.input +
    cached * (price.cachedInput ?? price.input) +
    written * (price.cacheWrite ?? price.input);
  const output = usage.output * price.output;
  const isLong = price.long !== undefined && usage.input > price.long.above;
  return isLong ? (input * price.long.input + output * price.long.output) / 1e6 : (input + output) / 1e6;
}
