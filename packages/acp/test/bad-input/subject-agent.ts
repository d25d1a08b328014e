// A program: the subject as an agent on stdio. Its argument is its LinkOptions as JSON; its last line on stderr is a report.

import { readFileSync } from "node:fs";
import { stdioTransport } from "../../src/node.ts";
import { startSubject } from "./subject.ts";
import { frameLimits, type LinkOptions } from "./wire.ts";

const options = JSON.parse(process.argv[2] ?? "{}") as LinkOptions;
const subject = startSubject(stdioTransport({ limits: frameLimits(options) }), {
  ...options,
  extensions: { "_test/memory": () => ({ peakBytes: peakBytes(), usedBytes: usedBytes() }) },
});
const { kind } = await subject.closed;
process.stderr.write(`${JSON.stringify({ kind, report: subject.report(), peakBytes: peakBytes() })}\n`);

/** The most that this process has ever had resident. Linux only; 0 elsewhere. */
function peakBytes(): number {
  if (process.platform !== "linux") return 0;
  const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return Number(kilobytes) * 1024;
}

/** What is still held after a collection; the process is started with --expose-gc. */
function usedBytes(): number {
  // the first one only begins to give buffers back
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
