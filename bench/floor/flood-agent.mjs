// An agent that streams a long turn as a model would write it, with tool calls in between: PARLEY_BENCH_UPDATES updates
// with at most PARLEY_BENCH_RATE bytes per second. It writes { bytes, ms } to PARLEY_BENCH_REPORT.

import { writeFileSync } from "node:fs";

const { PARLEY_BENCH_UPDATES = "1000", PARLEY_BENCH_RATE = "Infinity", PARLEY_BENCH_REPORT } = process.env;
const words =
  "the agent reads every file of the project and then says in many words what it has found in them";
const texts = [
  "## What I found\n\n",
  `${words.slice(0, 60)} `,
  "**three** things matter, ",
  `${words.slice(30)}.\n\n`,
  "- a list with `code` in it\n- and a second item of it\n\n",
  "```ts\nexport const answer: number = 42;\n```\n\n",
];

let rest = "";
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (sessionUpdate, at) => ({
  sessionUpdate,
  content: { type: "text", text: texts[at % texts.length] },
});

/** In each hundred: 85 of text, 5 of thought, and 5 tool calls with their ends. */
function updateAt(at) {
  const place = at % 100;
  const toolCallId = `call-${Math.floor(at / 100)}-${place % 5}`;
  if (place < 85) return text("agent_message_chunk", at);
  if (place < 90) return text("agent_thought_chunk", at);
  const isStart = place < 95;
  return isStart
    ? {
        sessionUpdate: "tool_call",
        toolCallId,
        title: `Read src/file-${at}.ts`,
        kind: "read",
        status: "pending",
      }
    : {
        sessionUpdate: "tool_call_update",
        toolCallId,
        status: "completed",
        content: [{ type: "content", content: { type: "text", text: words } }],
      };
}

async function flood(sessionId) {
  const started = performance.now();
  const count = Number(PARLEY_BENCH_UPDATES);
  let bytes = 0;
  let updates = 0;
  while (updates < count) {
    // as much as is due by now, but in pieces
    const ms = performance.now() - started;
    const due = Math.min((Number(PARLEY_BENCH_RATE) / 1000) * (ms + 2) - bytes, 65_536);
    let piece = "";
    while (piece.length < due && updates < count) {
      const params = { sessionId, update: updateAt(updates) };
      piece += `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params })}\n`;
      updates += 1;
    }
    bytes += piece.length;
    const isReady = piece === "" || process.stdout.write(piece);
    await new Promise((resolve) => {
      if (!isReady) process.stdout.once("drain", resolve);
      else if (due === 65_536) setImmediate(resolve);
      else setTimeout(resolve, 2);
    });
  }
  const ms = performance.now() - started;
  if (PARLEY_BENCH_REPORT !== undefined) writeFileSync(PARLEY_BENCH_REPORT, JSON.stringify({ bytes, ms }));
}

process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize") send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
    else if (method === "session/new") send({ id, result: { sessionId: "s" } });
    else if (method === "session/prompt")
      void flood(params.sessionId).then(() => send({ id, result: { stopReason: "end_turn" } }));
    // goose-tui asks what model it has before it shows a prompt
    else if (method === "_goose/defaults/read")
      send({ id, result: { providerId: "flood", modelId: "flood" } });
    else if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
  }
});
