// The task of examples/testing.ts with the official SDK.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import * as acp from "@agentclientprotocol/sdk";

const sessions = new Set<string>();

const greeter = acp
  .agent({ name: "greeter" })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: "greeter", version: "1.0.0" },
  }))
  .onRequest(acp.methods.agent.session.new, () => {
    const sessionId = randomUUID();
    sessions.add(sessionId);
    return { sessionId };
  })
  .onRequest(acp.methods.agent.session.prompt, async ({ params: { sessionId }, client }) => {
    if (!sessions.has(sessionId)) throw acp.RequestError.sessionNotFound(sessionId);
    const update = (update: acp.SessionUpdate) =>
      client.notify(acp.methods.client.session.update, { sessionId, update });
    const toolCallId = randomUUID();
    const title = "Look up your name";
    await update({ sessionUpdate: "tool_call", toolCallId, title, kind: "read", status: "pending" });
    const { outcome } = await client.request(acp.methods.client.session.requestPermission, {
      sessionId,
      toolCall: { toolCallId, title, kind: "read", status: "pending" },
      options: [
        { optionId: "allow_once", name: "Allow", kind: "allow_once" },
        { optionId: "reject_once", name: "Reject", kind: "reject_once" },
      ],
    });
    const isAllowed = outcome.outcome === "selected" && outcome.optionId === "allow_once";
    const status = isAllowed ? "completed" : "failed";
    await update({ sessionUpdate: "tool_call_update", toolCallId, status });
    if (!isAllowed) return { stopReason: outcome.outcome === "cancelled" ? "cancelled" : "end_turn" };
    for (const text of ["Hello, ", "Ada"])
      await update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    return { stopReason: "end_turn" };
  });

async function turnWith(optionId: string) {
  let text = "";
  const calls = new Map<string, unknown>();
  const { stopReason } = await acp
    .client({ name: "test" })
    .onRequest(acp.methods.client.session.requestPermission, () => ({
      outcome: { outcome: "selected", optionId },
    }))
    .onNotification(acp.methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update")
        calls.set(update.toolCallId, update.status ?? calls.get(update.toolCallId));
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
        text += update.content.text;
    })
    .connectWith(greeter, async (ctx) => {
      await ctx.request(acp.methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION });
      return ctx.buildSession("/project").withSession((session) => session.prompt("Good morning"));
    });
  return [text, ...calls.values(), stopReason];
}

assert.deepEqual(await turnWith("allow_once"), ["Hello, Ada", "completed", "end_turn"]);
assert.deepEqual(await turnWith("reject_once"), ["", "failed", "end_turn"]);
console.log("passed");

// prints:
// passed
