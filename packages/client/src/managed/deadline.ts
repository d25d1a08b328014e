// Waiting, with an end.

import { ConnectionError } from "@parley/acp";

/** Rejects with kind `timeout` when it takes longer. What comes afterwards is for `late`. */
export async function within<Result>(
  ms: number,
  work: Promise<Result>,
  message: string,
  late: (result: Result) => void = () => undefined,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  work.then(
    (result) => {
      if (isLate) late(result);
    },
    () => undefined,
  );
  const ended = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      isLate = true;
      reject(new ConnectionError("timeout", message));
    }, ms);
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves after that time, or at once when the signal aborts; true when it was the time. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const done = (isOver: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      resolve(isOver);
    };
    const abort = () => done(false);
    const timer = setTimeout(() => done(true), ms);
    signal.addEventListener("abort", abort, { once: true });
  });
}
