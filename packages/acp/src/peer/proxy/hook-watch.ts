// Ends a chain if a hook holds a message for too long and does nothing.

import type { Frame } from "../../forward/frame.ts";
import { whileExcused } from "./handshake.ts";
import type { Activity } from "./proxied-sessions.ts";

/** How long a hook may hold a message, in milliseconds. */
const defaultHookMs = 300_000;

export class HookWatch {
  readonly #ms: number;
  readonly #failed: (reason: string) => void;
  /** Stop the watches of hooks that have not settled. */
  readonly #open = new Set<() => void>();

  constructor(ms: number | undefined, failed: (reason: string) => void) {
    this.#ms = ms ?? defaultHookMs;
    this.#failed = failed;
  }

  /** A hook holds the message. `activity` is what its proxy does in the session. Returns what ends the watch. */
  begin(frame: Frame, activity: Activity | undefined): () => void {
    let sent = activity?.sent;
    const isExcused = (): boolean => {
      // a request that was cancelled holds nothing any more
      const isOver = frame.kind === "request" && frame.signal?.aborted === true;
      // it waits for an answer itself, or it has sent something
      const isBusy = isOver || (activity?.asking ?? 0) > 0 || sent !== activity?.sent;
      sent = activity?.sent;
      return isBusy;
    };
    const stop = whileExcused(this.#ms, isExcused, () => {
      this.#failed(`its hook for ${frame.method} has not settled for ${this.#ms} ms`);
    });
    const over = (): void => {
      this.#open.delete(over);
      stop();
    };
    this.#open.add(over);
    return over;
  }

  close(): void {
    for (const over of this.#open) over();
  }
}
