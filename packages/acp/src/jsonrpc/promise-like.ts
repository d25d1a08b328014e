// Recognises promises of any realm or library; callbacks of JavaScript users may return one despite their type.

export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function"
  );
}

/** Calls a callback and reports if it throws or if its promise rejects. */
export function callSafely(callback: () => unknown, report: (error: unknown) => void): void {
  try {
    reportRejection(callback(), report);
  } catch (error) {
    report(error);
  }
}

/** Reports the rejection of a promise that a callback returned although it should return nothing. */
export function reportRejection(returned: unknown, report: (error: unknown) => void): void {
  if (returned === undefined || !isPromiseLike(returned)) return;
  try {
    returned.then(undefined, report);
  } catch (error) {
    report(error);
  }
}
