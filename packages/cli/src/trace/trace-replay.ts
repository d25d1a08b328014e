// `parley trace replay FILE --as agent|client`: replays one side of a trace to a live peer.

import { readFile } from "node:fs/promises";
import type { Transport } from "@parley/acp";
import { spawnTransport, stdioTransport } from "@parley/acp/node";
import {
  isTraceMessage,
  type Replay,
  type ReplayReport,
  readTrace,
  replayAgent,
  replayClient,
} from "@parley/conformance";
import {
  type CommandError,
  type Invocation,
  printAnswer,
  usageError,
  watchOutput,
} from "../command/command.ts";
import { secondsOption } from "../command/option-values.ts";
import { placeOf } from "./hop-journeys.ts";
import { traceFile, withTraceErrors } from "./read-trace.ts";

/** Exit code: the live peer differs from the recorded one. */
const divergedCode = 3;

/** A model may take a while; the user of a client may take any time. */
const defaultTimeoutMs = { client: 60_000, agent: Number.POSITIVE_INFINITY } as const;
const stallMs = 4_000;

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const path = traceFile(positionals, "trace replay");
  const [, command, ...args] = positionals;
  const { as: side, pace } = values;
  if (side !== "agent" && side !== "client")
    throw misuse(`--as: expected agent or client, got ${String(side ?? "nothing")}`);
  if (pace !== "fast" && pace !== "recorded")
    throw misuse(`--pace: expected fast or recorded, got ${String(pace)}`);
  const timeoutMs = secondsOption(values, "timeout") ?? defaultTimeoutMs[side];
  if (side === "client" && command === undefined)
    throw misuse("expected an agent: parley trace replay FILE --as client -- COMMAND [ARGUMENTS]");
  if (side === "agent" && command !== undefined)
    throw misuse(`--as agent serves on stdin and stdout and takes no command, got ${command}`);
  if (side === "agent" && json) throw misuse("--as agent has no --json: stdout carries the protocol");
  return withTraceErrors(path, async () => {
    const read = readTrace(await readFile(path, "utf8"));
    // in the record of a chain, each message is there once per hop
    const records = read.records.filter((record) => !isTraceMessage(record) || placeOf(record) === 0);
    const trace = { ...read, records };
    const play = side === "agent" ? replayAgent : replayClient;
    const transport =
      side === "agent" ? stdioTransport({ exitOnEnd: false }) : agentTransport(command ?? "", args);
    const replay = play(trace, transport, { pace, timeoutMs });
    stopOnSignal(replay);
    const stopReports = reportStalls(replay);
    const report = await replay.done;
    stopReports();
    return conclude(report, side, json);
  });
}

function agentTransport(command: string, args: readonly string[]): Transport {
  return spawnTransport(command, args, { onStderr: (text) => process.stderr.write(text) });
}

/** Prints what a stalled replay waits for, once each. */
function reportStalls(replay: Replay): () => void {
  let before: string | undefined;
  let printed: string | undefined;
  const timer = setInterval(() => {
    const now = replay.waitingFor();
    if (now !== undefined && now === before && now !== printed) {
      printed = now;
      process.stderr.write(`parley: waiting for ${now}\n`);
    }
    before = now;
  }, stallMs / 2);
  return () => clearInterval(timer);
}

/** An interrupted replay reports what it waited for. */
function stopOnSignal(replay: Replay): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      // `done` resolves with the divergence, and the command awaits it
      void replay.close();
    });
  }
}

function conclude(report: ReplayReport, side: "agent" | "client", json: boolean): number {
  const { divergence, sent, matched, missing, extra, skipped, exit } = report;
  watchOutput();
  if (json) printAnswer("", report, json);
  else {
    const say = (text: string) => process.stderr.write(`parley: ${text}\n`);
    if (divergence !== undefined) say(divergence.message);
    say(
      `${divergence === undefined ? "replayed" : "stopped after"} ${sent} ${sent === 1 ? "line" : "lines"} of the ${side}; ${matched} messages came as recorded,` +
        ` ${missing} notifications were missing, ${extra} were extra${skipped === 0 ? "" : `, ${skipped} lines could not be sent`}`,
    );
  }
  if (divergence !== undefined) return divergedCode;
  // a replayed agent exits as it did
  return side === "agent" ? (exit?.code ?? 0) : 0;
}

function misuse(message: string): CommandError {
  return usageError(message, "see parley help trace replay");
}
