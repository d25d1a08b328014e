// An agent that costs next to nothing: what is left is what the client costs. PARLEY_BENCH_UPDATES chunks in each turn,
// and PARLEY_BENCH_RUN, the argv of a command that the client is asked to run first.

let rest = "";
let nextId = 0;
const waiting = new Map();
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const ask = (method, params) =>
  new Promise((resolve) => {
    waiting.set(++nextId, resolve);
    send({ id: nextId, method, params });
  });

async function answer(sessionId) {
  const { PARLEY_BENCH_RUN: run, PARLEY_BENCH_UPDATES: updates = "1" } = process.env;
  if (run !== undefined) {
    const [command, ...args] = JSON.parse(run);
    const { terminalId } = await ask("terminal/create", { sessionId, command, args, outputByteLimit: 1024 });
    await ask("terminal/wait_for_exit", { sessionId, terminalId });
    await ask("terminal/release", { sessionId, terminalId });
  }
  const update = {
    sessionUpdate: "agent_message_chunk",
    content: { type: "text", text: "sixty characters of an answer, no more and no less than that" },
  };
  for (let sent = 0; sent < Number(updates); sent += 1) {
    const line = `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } })}\n`;
    if (!process.stdout.write(line)) await new Promise((resolve) => process.stdout.once("drain", resolve));
  }
  return { stopReason: "end_turn" };
}

process.stdin.setEncoding("utf8").on("data", async (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params, result } = JSON.parse(line);
    if (method === "initialize") send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
    else if (method === "session/new") send({ id, result: { sessionId: "s" } });
    else if (method === "session/prompt")
      void answer(params.sessionId).then((done) => send({ id, result: done }));
    else if (method === undefined) waiting.get(id)?.(result);
    else if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
  }
});
