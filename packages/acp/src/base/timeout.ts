// Awaits a promise with a timeout.

import { type Deadline, deadline } from "./deadline.ts";

/** The promise's value, or undefined when it has not settled within so many milliseconds. */
export async function withTimeout<Value>(ms: number, promise: Promise<Value>): Promise<Value | undefined> {
  let timer: Deadline;
  const late = new Promise<undefined>((resolve) => {
    timer = deadline(ms, () => resolve(undefined));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
