// The least that a client can do: start the agent, prompt it, print its text, leave. Nothing is checked.

import { spawn } from "node:child_process";

const child = spawn(process.execPath, process.argv.slice(2), { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
let rest = "";
let nextId = 0;
const request = (method, params) =>
  new Promise((resolve) => {
    waiting.set(++nextId, resolve);
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: nextId, method, params })}\n`);
  });
child.stdout.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  let said = "";
  for (const line of lines) {
    const { id, method, params, result } = JSON.parse(line);
    if (method === "session/update") said += params.update.content?.text ?? "";
    else waiting.get(id)?.(result);
  }
  if (said !== "") process.stdout.write(said);
});
await request("initialize", { protocolVersion: 1 });
const { sessionId } = await request("session/new", { cwd: process.cwd(), mcpServers: [] });
await request("session/prompt", { sessionId, prompt: [{ type: "text", text: "hello" }] });
child.stdin.end();
