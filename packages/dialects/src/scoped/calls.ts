// What the handlers of both roles share.

import type { Call, Fields, Handler } from "../exchange/exchange.ts";
import { RequestError } from "../exchange/library.ts";

/** A RequestError that the handler throws is its answer. */
export function refusing(handler: Handler): Handler {
  return (params, call) => attempt(call, () => handler(params, call));
}

/** The same for work that is done later. */
export function attempt(call: Call, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { code, message, data } = error;
    call.refuse({ code, message, ...(data === undefined ? {} : { data }) });
  }
}

/** Passes a request on, where translating its answer may throw a RequestError. */
export function forward(call: Call, params: object, back: (result: Fields) => unknown): void {
  call.forwardThen(params, (answer) => {
    if (answer.error !== undefined) call.refuse(answer.error);
    else attempt(call, () => call.answer(back(answer.result)));
  });
}

/** The other side did not declare it. */
export function capabilityMissing(name: string): RequestError {
  const data = { reason: "method_not_found", capability: name };
  return new RequestError("method_not_found", `the client does not offer ${name}`, { data });
}

/** Timers of the platform wait at most so long. */
const longestWait = 2 ** 31 - 1;

/** A time limit in milliseconds. */
export function limitOf(value: unknown): number | undefined {
  if (typeof value !== "number" || !(value >= 0)) return undefined;
  return Math.min(Math.ceil(value), longestWait);
}
