// Loading a long session: the agent reads its history and sends it, against a few lines that read the rows of the same
// SQLite file and write them to the pipe.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sqliteStore } from "@parley/acp/node";
import { type EntryBody, emptyHead, serializeEntry } from "@parley/acp/store";
import { type Benchmark, compare } from "../benchmark.ts";
import { interleave, type RunOptions } from "../rounds.ts";
import { launcher, RawAgent } from "./raw-agent.ts";
import { inWorkplace, type Workplace } from "./workplace.ts";

const reader = fileURLToPath(new URL("../floor/read-store.ts", import.meta.url));
const sessionId = "bench";

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
  const seen: Record<string, number> = {};
  const samples = await interleave(["floor", "ours"] as const, options, async (entrant) => {
    const agent = new RawAgent({ command: commands[entrant], ...place });
    await agent.handshake();
    // all of it is loaded before the clock starts, as in an editor that was open for a while
    const another = await agent.open({ cwd: place.cwd });
    await agent.request("session/close", { sessionId: another });
    agent.updates = 0;
    const started = performance.now();
    await agent.request("session/load", { sessionId, cwd: place.cwd, mcpServers: [] });
    const ms = performance.now() - started;
    seen[entrant] = agent.updates;
    await agent.close();
    return ms;
  });
  // there is no third: the SDK keeps no sessions
  const result = compare({ ...samples, sdk: samples.floor }, "ms", "less is better");
  return {
    ...result,
    notes: [
      `${count} stored updates: ours sent ${seen["ours"]} (pieces of one message as one), the floor ${seen["floor"]}`,
      "the SDK keeps no sessions; its column repeats the floor",
    ],
  };
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
