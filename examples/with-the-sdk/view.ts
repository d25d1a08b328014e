// The task of examples/view.ts with the official SDK.

import { randomUUID } from "node:crypto";
import * as acp from "@agentclientprotocol/sdk";

const sessions = new Set<string>();

const helper = acp
  .agent({ name: "helper" })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: "helper", version: "1.0.0" },
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
    const text = (text: string) => ({ type: "text" as const, text });
    await update({ sessionUpdate: "agent_thought_chunk", content: text("I should look.") });
    const toolCallId = randomUUID();
    const title = "List files";
    await update({ sessionUpdate: "tool_call", toolCallId, title, kind: "search", status: "in_progress" });
    const content = [{ type: "content" as const, content: text("notes.txt") }];
    await update({ sessionUpdate: "tool_call_update", toolCallId, status: "completed", content });
    for (const piece of ["There is ", "one file."])
      await update({ sessionUpdate: "agent_message_chunk", content: text(piece) });
    return { stopReason: "end_turn" };
  });

type Item =
  | { kind: "user_message" | "agent_message" | "agent_thought"; text: string }
  | { kind: "tool_call"; toolCallId: string; title: string; status: string };
const timeline: Item[] = [];

function fold(update: acp.SessionUpdate): void {
  switch (update.sessionUpdate) {
    case "user_message_chunk":
    case "agent_message_chunk":
    case "agent_thought_chunk": {
      const kind = update.sessionUpdate.replace("_chunk", "") as "user_message"; // or one of the other two
      const text = update.content.type === "text" ? update.content.text : "";
      const last = timeline.at(-1);
      if (last?.kind === kind) last.text += text;
      else timeline.push({ kind, text });
      break;
    }
    case "tool_call":
    case "tool_call_update": {
      const { toolCallId, title, status } = update;
      const known = timeline.find((item) => item.kind === "tool_call" && item.toolCallId === toolCallId);
      if (known?.kind !== "tool_call") {
        timeline.push({ kind: "tool_call", toolCallId, title: title ?? "", status: status ?? "pending" });
        break;
      }
      known.title = title ?? known.title;
      known.status = status ?? known.status;
    }
  }
}

await acp
  .client({ name: "example-client" })
  .onNotification(acp.methods.client.session.update, ({ params }) => fold(params.update))
  .connectWith(helper, async (ctx) => {
    await ctx.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientInfo: { name: "example-client", version: "1.0.0" },
    });
    await ctx.buildSession("/project").withSession(async (session) => {
      const text = "What is here?";
      timeline.push({ kind: "user_message", text });
      await session.prompt(text);
    });
  });
for (const item of timeline) {
  if (item.kind === "tool_call") console.log(`[${item.title}: ${item.status}]`);
  else console.log(`${item.kind}: ${item.text}`);
}

// prints:
// user_message: What is here?
// agent_thought: I should look.
// [List files: completed]
// agent_message: There is one file.
