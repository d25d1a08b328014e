// Loading a long session: the agent reads its history and sends it, against a few lines that read the rows of the same
// SQLite file and write them to the pipe.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sqliteStore } from "@parley/acp/node";
import { type EntryBody, emptyHead, serializeEntry } from "@parley/acp/store";
import { type Benchmark, compare } from "../benchmark.ts";
import { interleave, type RunOptions } from "../rounds.ts";
import { figure } from "../statistics.ts";
import { launcher, RawAgent } from "./raw-agent.ts";
import { inWorkplace, type Workplace } from "./workplace.ts";

const reader = fileURLToPath(new URL("../floor/read-store.ts", import.meta.url));
const sessionId = "bench";
/** One load takes so little time that the scheduler decides what is measured. */
const loads = 5;

export const agentLoad: Benchmark = {
  name: "agent.load",
  about:
    "parley agent loads a session of 20,000 updates; the floor reads them from SQLite and writes the pipe",
  // "at most 1.5 times", turned round
  target: { vsFloor: 1 / 1.5 },
  run: (options) => inWorkplace((place) => measure(options, place)),
};

async function measure(options: RunOptions, place: Workplace) {
  const count = options.quick ? 200 : 20_000;
  await fill(place, count);
  const database = join(place.home, "data/sessions.db");
  const commands = {
    floor: [process.execPath, reader, database],
    ours: [launcher, "agent"],
  };
  const samples = await interleave(["floor", "ours"] as const, options, (entrant) =>
    sample(commands[entrant], place, options.quick ? 1 : loads),
  );
  const of = (entrant: "floor" | "ours", value: (sample: Sample) => number) => samples[entrant].map(value);
  const [ours, floor] = [of("ours", ({ ms }) => ms), of("floor", ({ ms }) => ms)];
  // there is no third: the SDK keeps no sessions
  const result = compare({ ours, floor, sdk: floor }, "ms", "less is better");
  const both = (value: (sample: Sample) => number) => {
    const [mine, theirs] = [figure(of("ours", value)).median, figure(of("floor", value)).median];
    return `ours ${mine.toFixed(1)}, floor ${theirs.toFixed(1)} ms, ${(theirs / mine).toFixed(2)} of the floor`;
  };
  const seen = (entrant: "floor" | "ours") => samples[entrant][0]?.updates;
  return {
    ...result,
    notes: [
      `${count} stored updates: ours sent ${seen("ours")} (pieces of one message as one), the floor ${seen("floor")}`,
      `the first load of a process: ${both(({ firstMs }) => firstMs)}`,
      `CPU of a later load, main thread only: ${both(({ cpuMs }) => cpuMs)}; of the first: ${both(({ firstCpuMs }) => firstCpuMs)}`,
      "the SDK keeps no sessions; its column repeats the floor",
    ],
  };
}

interface Sample {
  /** Of one load, after the first. */
  readonly ms: number;
  readonly cpuMs: number;
  readonly firstMs: number;
  readonly firstCpuMs: number;
  readonly updates: number;
}

/** Loads the session in a fresh process: once to warm up, as in every benchmark here, and then `loads` times. */
async function sample(command: readonly string[], place: Workplace, loads: number): Promise<Sample> {
  const agent = new RawAgent({ command, ...place });
  await agent.handshake();
  // what opening a session loads is no part of loading one
  await agent.request("session/close", { sessionId: await agent.open({ cwd: place.cwd }) });
  const first = await load(agent, place.cwd);
  const later: Awaited<ReturnType<typeof load>>[] = [];
  for (let i = 0; i < loads; i++) later.push(await load(agent, place.cwd));
  const { updates } = agent;
  await agent.close();
  const [ms, cpuMs] = [figure(later.map((each) => each.ms)), figure(later.map((each) => each.cpuMs))];
  return { ms: ms.median, cpuMs: cpuMs.median, firstMs: first.ms, firstCpuMs: first.cpuMs, updates };
}

async function load(agent: RawAgent, cwd: string): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  agent.updates = 0;
  const cpu = agent.mainThreadMs();
  const started = performance.now();
  await agent.request("session/load", { sessionId, cwd, mcpServers: [] });
  const taken = { ms: performance.now() - started, cpuMs: agent.mainThreadMs() - cpu };
  await agent.request("session/close", { sessionId });
  return taken;
}

/** Turns of text, thoughts and tool calls, as an agent stores them. */
async function fill({ home, cwd }: Workplace, count: number): Promise<void> {
  const store = sqliteStore({ path: join(home, "data/sessions.db") });
  const time = Date.now();
  const claim = await store.create({
    sessionId,
    cwd,
    additionalDirectories: [],
    createdAt: time,
    updatedAt: time,
    config: {},
  });
  const perTurn = 100;
  let seq = 0;
  const entry = (body: EntryBody) => ({ format: 1 as const, seq: ++seq, time, ...body });
  for (let turn = 0; turn * perTurn < count; turn++) {
    const messageId = `p${turn}`;
    const entries = [
      entry({ kind: "prompt", messageId, prompt: [{ type: "text", text: `Do thing ${turn}` }] }),
      ...Array.from({ length: perTurn }, (_, i) =>
        entry({ kind: "update", update: updateAt(turn, i) as never }),
      ),
      entry({ kind: "result", messageId, result: { stopReason: "end_turn" } }),
    ];
    // the last one as the agent leaves it
    const state = { ...emptyHead, seq, settledSeq: seq };
    await store.append(claim, seq - entries.length, entries.map(serializeEntry), { state });
  }
  await store.release(claim);
  await store.close();
}

/** Each of them is another message or call: nothing is joined when it is sent again. */
function updateAt(turn: number, i: number): object {
  const text = `Words of turn ${turn}, number ${i}, as long as a line of text is.`;
  if (i % 10 < 6)
    return {
      sessionUpdate: "agent_message_chunk",
      messageId: `m${turn}-${i}`,
      content: { type: "text", text },
    };
  const toolCallId = `t${turn}-${i - (i % 2)}`;
  return i % 2 === 0
    ? {
        sessionUpdate: "tool_call_update",
        toolCallId,
        title: text,
        kind: "read",
        name: "read",
        status: "in_progress",
      }
    : { sessionUpdate: "tool_call_update", toolCallId, status: "completed", rawOutput: { told: text } };
}
