// What hooks said, as a forwarder wants it, and what hooks are given of a message.

import { isPromiseLike } from "../../base/objects.ts";
import { steeringMethod } from "../../edition/vendor-extensions.ts";
import type { Frame, FrameAction } from "../../forward/frame.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
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

export function actionOf<Value, Result>(
  said: Value | Answer<Result> | RequestError,
  answered: (result: Result) => unknown,
  changed: (value: Value) => unknown,
): FrameAction {
  if (said instanceof RequestError) return { answer: { error: wireParts(said) } };
  if (said instanceof Answer) return { answer: { result: answered(said.value) } };
  return { send: changed(said) };
}

export function answeredLater(
  result: PromiseLike<unknown>,
  failed: (error: unknown) => FrameAction,
): FrameAction {
  const answered = (value: unknown): FrameAction => ({ answer: { result: value } });
  return { later: result.then(answered, failed) };
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

/** A message for a turn that runs is a prompt under another name. */
export function isSteering({ method, from }: Pick<Frame, "method" | "from">): boolean {
  return method === steeringMethod && from === "client";
}

/** The method, for which the hooks are asked. */
export function promptsWith(frame: Pick<Frame, "method" | "from">): string {
  return isSteering(frame) ? "session/prompt" : frame.method;
}

export function hookOf<Hook>(
  hooks: Readonly<Record<string, Hook>> | undefined,
  method: string,
): Hook | undefined {
  if (hooks === undefined) return undefined;
  return Object.hasOwn(hooks, method) ? hooks[method] : hooks["*"];
}

/** Stands for params that this version cannot read. */
export const unreadable = Symbol("unreadable");

export const same = <Value>(value: Value): Value => value;

/** An async hook would reorder updates. Only callers without types can write one. */
export function synchronous<Value>(said: Value): Value {
  if (!isPromiseLike(said)) return said;
  Promise.resolve(said).catch(() => undefined);
  throw new TypeError(
    "the hook update must not be async, because updates keep their order: return the update, null or undefined",
  );
}

/** A message that its component cannot read, and therefore does not pass on. */
export function unreadBy(name: string, frame: Frame): FrameAction {
  const message = `${name} cannot read this ${frame.method}, and lets nothing pass unread: check its params`;
  return refusal(frame, message, errorCodes.invalid_params, { reason: "unreadable", component: name });
}

/** A message that its component has not checked, because a hook failed. */
export function failedIn(name: string, frame: Frame): FrameAction {
  const message = `${name} failed, and lets nothing pass that it has not checked: see its log`;
  return refusal(frame, message, errorCodes.internal_error, { reason: "proxy_failed", component: name });
}

function refusal(frame: Frame, message: string, code: number, data: object): FrameAction {
  return frame.kind === "notification" ? { drop: message } : { answer: { error: { code, message, data } } };
}
