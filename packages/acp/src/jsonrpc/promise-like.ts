// Callbacks of JavaScript users may be async whatever their types say, and a promise may come from
// another realm or library.

export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function"
  );
}

/** A callback that was to return nothing returned this: when it is a promise, its rejection is reported. */
export function reportRejection(returned: unknown, report: (error: unknown) => void): void {
  if (returned === undefined || !isPromiseLike(returned)) return;
  try {
    returned.then(undefined, report);
  } catch (error) {
    report(error);
  }
}
