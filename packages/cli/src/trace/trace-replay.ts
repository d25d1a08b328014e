// `parley trace replay FILE --as agent|client`: one side of a trace, played to a live peer.

import { readFile } from "node:fs/promises";
import type { Transport } from "@parley/acp";
import { spawnTransport, stdioTransport } from "@parley/acp/node";
import { type Replay, type ReplayReport, readTrace, replayAgent, replayClient } from "@parley/conformance";
import type { Invocation } from "../command/command.ts";
import { missingFile, withTraceErrors } from "./trace-failure.ts";

/** The live peer did something else than the recorded one. */
const divergedCode = 3;

/** A model may think for a while; a person in front of a client may do so for ever. */
const defaultTimeoutMs = { client: 60_000, agent: Number.POSITIVE_INFINITY } as const;
const tellAfterMs = 4_000;

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const [path, command, ...args] = positionals;
  if (path === undefined) return missingFile("trace replay", json);
  const { as: side, pace } = values;
  if (side !== "agent" && side !== "client")
    return misuse(`--as takes agent or client, got ${String(side ?? "nothing")}`);
  if (pace !== "fast" && pace !== "recorded")
    return misuse(`--pace takes fast or recorded, got ${String(pace)}`);
  const timeoutMs = values.timeout === undefined ? defaultTimeoutMs[side] : Number(values.timeout) * 1000;
  if (!(timeoutMs > 0))
    return misuse(`--timeout takes seconds, such as 60 or 0.5, got ${String(values.timeout)}`);
  if (side === "client" && command === undefined) {
    return misuse("which agent? type: parley trace replay FILE --as client -- COMMAND [ARGUMENTS]");
  }
  if (side === "agent" && command !== undefined) {
    return misuse(`--as agent serves on stdin and stdout and starts nothing, got ${command}`);
  }
  if (side === "agent" && json) return misuse("--as agent has no --json: stdout is the wire");
  return withTraceErrors(path, json, async () => {
    const trace = readTrace(await readFile(path, "utf8"));
    const play = side === "agent" ? replayAgent : replayClient;
    const transport =
      side === "agent" ? stdioTransport({ exitOnEnd: false }) : agentTransport(command ?? "", args);
    const replay = play(trace, transport, { pace, timeoutMs });
    stopOnSignal(replay);
    const stopTelling = tellWaiting(replay);
    const report = await replay.done;
    stopTelling();
    return conclude(report, side, json);
  });
}

function agentTransport(command: string, args: readonly string[]): Transport {
  return spawnTransport(command, args, { onStderr: (text) => process.stderr.write(text) }).transport;
}

/** Whoever looks at a replay that does not move is told why, once for each thing that is waited for. */
function tellWaiting(replay: Replay): () => void {
  let before: string | undefined;
  let told: string | undefined;
  const timer = setInterval(() => {
    const now = replay.waitingFor();
    if (now !== undefined && now === before && now !== told) {
      told = now;
      process.stderr.write(`parley: waiting for ${now}\n`);
    }
    before = now;
  }, tellAfterMs / 2);
  return () => clearInterval(timer);
}

/** Somebody who loses patience is told what was waited for. */
function stopOnSignal(replay: Replay): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      // done, which resolves with the divergence, is awaited by the command itself
      void replay.close();
    });
  }
}

function conclude(report: ReplayReport, side: "agent" | "client", json: boolean): number {
  const { divergence, sent, matched, missing, extra, skipped, exit } = report;
  if (json) process.stdout.write(`${JSON.stringify({ v: 1, data: report })}\n`);
  else {
    const say = (text: string) => process.stderr.write(`parley: ${text}\n`);
    if (divergence !== undefined) say(divergence.message);
    say(
      `${divergence === undefined ? "replayed" : "stopped after"} ${sent} ${sent === 1 ? "line" : "lines"} of the ${side}; ${matched} messages came as recorded,` +
        ` ${missing} notifications were missing, ${extra} were extra${skipped === 0 ? "" : `, ${skipped} lines could not be sent`}`,
    );
  }
  if (divergence !== undefined) return divergedCode;
  // A recorded agent leaves as it left.
  return side === "agent" ? (exit?.code ?? 0) : 0;
}

function misuse(message: string): number {
  process.stderr.write(`parley: ${message}\nparley: see parley help trace replay\n`);
  return 2;
}
