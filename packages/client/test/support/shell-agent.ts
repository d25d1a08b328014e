// A program: an agent that does whatever a prompt says, as a shell script, and answers with the output. It uses nothing
// but Node, because a hostile agent does not use our library either.

import { spawnSync } from "node:child_process";
import { createInterface } from "node:readline";

process.stderr.write("the agent is up\n");
if (process.argv[2] === "fail") process.exit(4);

const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const results: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: 1, agentCapabilities: {}, authMethods: [] },
  "session/new": { sessionId: "s" },
  "session/prompt": { stopReason: "end_turn" },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "session/prompt") {
    const { stdout, stderr } = spawnSync("sh", ["-c", params.prompt[0].text], { encoding: "utf8" });
    const content = { type: "text", text: `${stdout}${stderr}` };
    const update = { sessionUpdate: "agent_message_chunk", content };
    send({ method: "session/update", params: { sessionId: "s", update } });
  }
  const result = results[method];
  send(result === undefined ? { id, error: { code: -32601, message: "unknown" } } : { id, result });
});
