// The task of examples/agent.ts with the official SDK.

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const sessions = new Map<string, { cwd: string; turn?: AbortController }>();

const counter = acp
  .agent({ name: "line-counter" })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: "line-counter", version: "1.0.0" },
  }))
  .onRequest(acp.methods.agent.session.new, ({ params: { cwd } }) => {
    const sessionId = randomUUID();
    sessions.set(sessionId, { cwd });
    return { sessionId };
  })
  .onNotification(acp.methods.agent.session.cancel, ({ params }) =>
    sessions.get(params.sessionId)?.turn?.abort(),
  )
  .onRequest(acp.methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    const session = sessions.get(sessionId);
    if (session === undefined) throw acp.RequestError.sessionNotFound(sessionId);
    session.turn = new AbortController();
    const { signal } = session.turn;
    const name = prompt.map((block) => (block.type === "text" ? block.text : "")).join("");
    const update = (update: acp.SessionUpdate) =>
      client.notify(acp.methods.client.session.update, { sessionId, update });
    const toolCallId = randomUUID();
    const title = `Read ${name}`;
    await update({ sessionUpdate: "tool_call", toolCallId, title, kind: "read", status: "in_progress" });
    let text: string;
    try {
      text = await readFile(resolve(session.cwd, name), { encoding: "utf8", signal });
    } catch (error) {
      await update({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
      if (signal.aborted) return { stopReason: "cancelled" };
      throw error;
    }
    await update({ sessionUpdate: "tool_call_update", toolCallId, status: "completed" });
    const answer = `${name} has ${text.split("\n").length - 1} lines.`;
    await update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: answer } });
    return { stopReason: "end_turn" };
  });

// as: Node's type for a web stream says nothing about its chunks
const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
await counter.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), input)).closed;
