// Records what passes at every hop of a chain, as a trace.

import { resolve } from "node:path";
import type { WatchHops } from "@parley/acp/proxy";
import { ownVersion } from "../settings/installation.ts";
import { TapRecorder } from "../tap/tap-recorder.ts";
import { createTrace } from "../trace/trace-file.ts";

/** How long the end may take. */
const lateMs = 800;
const limits = { maxBytes: 2 ** 30, maxLineBytes: 8 * 2 ** 20, queueBytes: 64 * 2 ** 20 };

export interface HopRecorder {
  readonly watch: WatchHops;
  /** Resolves when everything is written, or cannot be. */
  end(): Promise<void>;
}

/** Undefined if the trace cannot be created: the chain runs without one. */
export async function recordHops(
  path: string,
  agent: string,
  warn: (text: string) => void,
): Promise<HopRecorder | undefined> {
  try {
    const { fd, path: written } = createTrace(resolve(path));
    warn(`recording to ${written}`);
    const recorder = new TapRecorder({
      fd,
      header: {
        parley: "trace",
        version: 1,
        minor: 0,
        startedAt: new Date().toISOString(),
        command: ["parley", "proxy", "--", agent],
        cwd: process.cwd(),
        writer: `parley ${ownVersion()}`,
      },
      ...limits,
      failed: (message) => warn(`cannot write the trace, the chain continues without it: ${message}`),
    });
    return {
      watch: ({ hop, place, from, message }) => recorder.message(from, JSON.stringify(message), { hop, place }),
      async end() {
        await recorder.finish({ stillMs: lateMs, maxMs: lateMs, hurried: new Promise(() => undefined) });
      },
    };
  } catch (error) {
    warn(`cannot create the trace, the chain runs without one: ${(error as Error).message}`);
    return undefined;
  }
}
