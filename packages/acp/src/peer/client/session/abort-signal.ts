// Checks the signals that an app passes.

import { argumentText } from "../../../jsonrpc/errors.ts";

/** Throws a TypeError for what is no AbortSignal, such as the controller of one. */
export function checkSignal(where: string, signal: unknown): void {
  const { aborted, addEventListener } = (signal ?? {}) as Partial<AbortSignal>; // callers may have no types
  if (signal === undefined || (typeof aborted === "boolean" && typeof addEventListener === "function"))
    return;
  throw new TypeError(
    `${where}: signal must be an AbortSignal, such as controller.signal; got ${argumentText(signal)}`,
  );
}
