// The task of examples/permission.ts with the official SDK.

import { randomUUID } from "node:crypto";
import * as acp from "@agentclientprotocol/sdk";

const files = new Set(["old.log", "notes.txt"]);
const sessions = new Set<string>();

const cleaner = acp
  .agent({ name: "cleaner" })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: "cleaner", version: "1.0.0" },
  }))
  .onRequest(acp.methods.agent.session.new, () => {
    const sessionId = randomUUID();
    sessions.add(sessionId);
    return { sessionId };
  })
  .onRequest(acp.methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    if (!sessions.has(sessionId)) throw acp.RequestError.sessionNotFound(sessionId);
    const file = prompt.map((block) => (block.type === "text" ? block.text : "")).join("");
    const update = (update: acp.SessionUpdate) =>
      client.notify(acp.methods.client.session.update, { sessionId, update });
    const toolCallId = randomUUID();
    const title = `Delete ${file}`;
    await update({ sessionUpdate: "tool_call", toolCallId, title, kind: "delete", status: "pending" });
    const { outcome } = await client.request(acp.methods.client.session.requestPermission, {
      sessionId,
      toolCall: { toolCallId, title, kind: "delete", status: "pending" },
      options: [
        { optionId: "allow", name: "Allow", kind: "allow_once" },
        { optionId: "reject", name: "Reject", kind: "reject_once" },
      ],
    });
    if (outcome.outcome === "selected" && outcome.optionId === "allow") {
      await update({ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" });
      files.delete(file);
      await update({ sessionUpdate: "tool_call_update", toolCallId, status: "completed" });
      const text = `${file} is gone.`;
      await update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    } else {
      await update({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
    }
    return { stopReason: outcome.outcome === "cancelled" ? "cancelled" : "end_turn" };
  });

await acp
  .client({ name: "example-client" })
  .onRequest(acp.methods.client.session.requestPermission, ({ params: { toolCall, options } }) => {
    const kind = toolCall.title === "Delete old.log" ? "allow_once" : "reject_once";
    const option = options.find((each) => each.kind === kind);
    return {
      outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" },
    };
  })
  .connectWith(cleaner, async (ctx) => {
    await ctx.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientInfo: { name: "example-client", version: "1.0.0" },
    });
    await ctx.buildSession("/project").withSession(async (session) => {
      for (const file of files) {
        await session.prompt(file);
        console.log([file, await session.readText()]);
      }
    });
  });
console.log(files);

// prints:
// [ 'old.log', 'old.log is gone.' ]
// [ 'notes.txt', '' ]
// Set(1) { 'notes.txt' }
