// Records what passes between the components of a chain, as a trace.

import { resolve } from "node:path";
import type { WatchHops } from "@parley/acp/proxy";
import { ownVersion } from "../settings/installation.ts";
import { shownWords } from "../settings/known-secrets.ts";
import { createTrace } from "../trace/trace-file.ts";
import { TapRecorder } from "./tap-recorder.ts";

/** How long the end may take. */
const lateMs = 800;
const limits = { maxBytes: 2 ** 30, maxLineBytes: 8 * 2 ** 20, queueBytes: 64 * 2 ** 20 };

export interface RecordedChain {
  readonly command: readonly string[];
  /** Whether each record says between whom it passed. */
  readonly label: boolean;
  warn(text: string): void;
}

export interface HopRecorder {
  readonly watch: WatchHops;
  /** Resolves when everything is written, or cannot be. */
  end(): Promise<void>;
}

/** Without a file that can be written, nothing is recorded. `label`: which hop it is stands in each record. */
export function hopRecorder(path: string, { command, label, warn }: RecordedChain): HopRecorder {
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
        command: shownWords(command),
        cwd: process.cwd(),
        writer: `parley ${ownVersion()}`,
      },
      ...limits,
      failed: (message) => warn(`cannot write the trace, the chain continues without it: ${message}`),
    });
    return {
      watch: ({ hop, place, from, message }) =>
        recorder.message(from, JSON.stringify(message), label ? { hop, place } : {}),
      async end() {
        await recorder.finish({ stillMs: lateMs, maxMs: lateMs, hurried: new Promise(() => undefined) });
      },
    };
  } catch (error) {
    warn(`cannot create the trace, the chain runs without one: ${(error as Error).message}`);
    return { watch: () => undefined, end: () => Promise.resolve() };
  }
}
