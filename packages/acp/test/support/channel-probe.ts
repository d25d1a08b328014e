// Records what a byte channel delivers, and waits for processes to end.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { EndReason } from "../../src/jsonrpc/transport.ts";
import type { ByteChannel } from "../../src/transport/byte-channel.ts";

export interface ChannelProbe {
  /** All that has arrived, decoded. */
  text(): string;
  /** Resolves with the match when what has arrived matches; fails when the channel ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves at the next `drained`. */
  drained(): Promise<void>;
  readonly ended: Promise<EndReason>;
}

/** Opens a channel and watches it. */
export function probe(channel: ByteChannel): ChannelProbe {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  const end = Promise.withResolvers<EndReason>();
  let progress = Promise.withResolvers<void>();
  let drain = Promise.withResolvers<void>();
  let isOver = false;
  const step = (): void => {
    progress.resolve();
    progress = Promise.withResolvers();
  };
  channel.open({
    bytes(chunk) {
      assert.equal(isOver, false, "bytes after the end");
      text += decoder.decode(chunk, { stream: true });
      step();
    },
    drained() {
      drain.resolve();
      drain = Promise.withResolvers();
    },
    ended(reason) {
      assert.equal(isOver, false, "a second end");
      isOver = true;
      end.resolve(reason);
      step();
    },
  });
  return {
    text: () => text,
    async until(pattern) {
      for (;;) {
        const match = pattern.exec(text);
        if (match !== null) return match;
        if (isOver) assert.fail(`ended before ${pattern}, got ${JSON.stringify(text.slice(-500))}`);
        await progress.promise;
      }
    },
    drained: () => drain.promise,
    ended: end.promise,
  };
}

/** Whether a process runs; a zombie does not. Without /proc, a zombie counts until its parent has reaped it. */
export function runs(pid: number | undefined): boolean {
  assert.ok(pid !== undefined, "it has been started");
  try {
    if (existsSync("/proc/self/stat")) {
      return !/\) [ZX] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
    }
    return process.kill(pid, 0);
  } catch {
    // no such process
    return false;
  }
}

/** Resolves when none of the processes runs any more; fails, and ends them, after 30 s. */
export async function gone(...pids: readonly (number | undefined)[]): Promise<void> {
  try {
    await until(() => !pids.some(runs));
  } catch {
    const left = pids.filter((pid) => pid !== undefined).filter(runs);
    for (const pid of left) process.kill(pid, "SIGKILL");
    assert.fail(`still running after 30 s: ${left.join(", ")}`);
  }
}

/** Polls for what no event announces; fails after 30 s. */
export async function until(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!isTrue()) {
    if (performance.now() > deadline) assert.fail("still not true after 30 s");
    await delay(20);
  }
}
