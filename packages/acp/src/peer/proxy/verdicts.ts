// What hooks said, as a forwarder wants it, and what hooks are given of a message.

import { isPromiseLike } from "../../base/objects.ts";
import type { Frame, Verdict } from "../../forward/frame.ts";
import { RequestError, wireParts } from "../../jsonrpc/errors.ts";
import { Answer, type ProxiedCall } from "./proxy-definition.ts";

/** A copy to decode: decoding changes what it is given. */
export function copied({ params: given, text }: Frame, params: unknown): unknown {
  if (text === undefined || params !== given) return structuredClone(params);
  return (JSON.parse(text) as { readonly params?: unknown }).params;
}

export function after<Value, Next>(
  said: Value | PromiseLike<Value>,
  next: (value: Value) => Next | PromiseLike<Next>,
): Next | PromiseLike<Next> {
  return isPromiseLike(said) ? (said as PromiseLike<Value>).then(next) : next(said);
}

export function verdictOf<Value, Result>(
  said: Value | Answer<Result> | RequestError,
  answered: (result: Result) => unknown,
  changed: (value: Value) => unknown,
): Verdict {
  if (said instanceof RequestError) return { answer: { error: wireParts(said) } };
  if (said instanceof Answer) return { answer: { result: answered(said.value) } };
  return { send: changed(said) };
}

export function callOf({ method, signal }: Frame): ProxiedCall | undefined {
  return signal && { method, signal };
}

export function requiredCall(frame: Frame): ProxiedCall {
  return callOf(frame) ?? { method: frame.method, signal: new AbortController().signal };
}

/** What a hook returned keeps the custom data of what it was given, unless it says otherwise. */
export function withItsMeta<Value extends object>(before: Value, after: Value): Value {
  return "_meta" in before && !("_meta" in after) ? { ...after, _meta: before._meta } : after;
}
