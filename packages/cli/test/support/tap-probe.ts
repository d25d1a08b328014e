// Starts `parley tap` as an editor does and collects its output.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readTrace, type Trace } from "@parley/conformance";
import { launcher } from "../../../acp/test/support/programs.ts";

export { launcher };

export interface TapRun {
  readonly child: ChildProcessWithoutNullStreams;
  /** Everything on stdout, when it has ended. Who calls this must not read it in another way. */
  output(): Promise<Buffer>;
  /** Everything on stderr. */
  readonly complaints: Promise<string>;
  readonly exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  trace(): Trace;
}

export class TapFolder {
  readonly #children: ChildProcessWithoutNullStreams[] = [];
  readonly path = mkdtempSync(join(tmpdir(), "parley-tap-test-"));

  /** Ends what is left of failed tests, too. */
  remove(): void {
    for (const child of this.#children)
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    rmSync(this.path, { recursive: true, force: true });
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** Taps an agent; the trace is `NAME.trace` of this folder unless options say otherwise. */
  tap(name: string, agent: readonly string[], options: readonly string[] = []): TapRun {
    const out = this.file(`${name}.trace`);
    const args = ["tap", "--out", out, ...options, "--", ...agent];
    const child = spawn(launcher, args, {
      cwd: this.path,
      env: { ...process.env, PARLEY_HOME: this.file("home") },
    });
    this.#children.push(child);
    const exit = once(child, "exit").then(([code, signal]) => ({ code, signal }));
    return {
      child,
      output: () => collect(child.stdout),
      complaints: collect(child.stderr).then(String),
      exit,
      trace: () => readTrace(readFileSync(out, "utf8")),
    };
  }
}

async function collect(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** What one side sent, put together again from the trace. */
export function bytesFrom({ records }: Trace, side: "client" | "agent"): Buffer {
  const parts = records.map((record) => {
    if (!("from" in record) || !("bytes" in record) || record.from !== side) return Buffer.alloc(0);
    const line =
      record.base64 === undefined ? Buffer.from(record.text ?? "") : Buffer.from(record.base64, "base64");
    return record.newline === false ? line : Buffer.concat([line, Buffer.from("\n")]);
  });
  return Buffer.concat(parts);
}
