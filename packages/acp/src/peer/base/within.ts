// A wait that ends.

import { type Deadline, deadline } from "../../jsonrpc/deadline.ts";

/** What the promise resolves with, or nothing when it has not within so many milliseconds. */
export async function within<Value>(ms: number, promise: Promise<Value>): Promise<Value | undefined> {
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
