// The task of examples/streaming.ts with the official SDK.

import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import * as acp from "@agentclientprotocol/sdk";

/** In place of your provider's client. */
async function* model(text: string, signal: AbortSignal) {
  for (const word of text.split(" ")) yield await wait(1, `${word} `, { signal });
}

const turns = new Map<string, AbortController>();

const storyteller = acp
  .agent({ name: "storyteller" })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: "storyteller", version: "1.0.0" },
  }))
  .onRequest(acp.methods.agent.session.new, () => {
    const sessionId = randomUUID();
    turns.set(sessionId, new AbortController());
    return { sessionId };
  })
  .onNotification(acp.methods.agent.session.cancel, ({ params }) => turns.get(params.sessionId)?.abort())
  .onRequest(acp.methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    if (!turns.has(sessionId)) throw acp.RequestError.sessionNotFound(sessionId);
    const turn = new AbortController();
    turns.set(sessionId, turn);
    const words = prompt.map((block) => (block.type === "text" ? block.text : "")).join("");
    try {
      for await (const text of model(words, turn.signal)) {
        await client.notify(acp.methods.client.session.update, {
          sessionId,
          update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
        });
      }
      return { stopReason: "end_turn" };
    } catch (error) {
      if (turn.signal.aborted) return { stopReason: "cancelled" };
      throw error;
    }
  });

await acp.client({ name: "example-client" }).connectWith(storyteller, async (ctx) => {
  await ctx.request(acp.methods.agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientInfo: { name: "example-client", version: "1.0.0" },
  });
  await ctx.buildSession("/project").withSession(async (session) => {
    const { sessionId } = session;
    const prompt = session.prompt("Once upon a time there was an agent that never stopped.");
    for (;;) {
      const message = await session.nextUpdate();
      if (message.kind === "stop") break;
      const { update } = message;
      if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") continue;
      process.stdout.write(update.content.text);
      if (update.content.text === "time ") await ctx.notify(acp.methods.agent.session.cancel, { sessionId });
    }
    console.log(`(${(await prompt).stopReason})`);
  });
});

// prints:
// Once upon a time (cancelled)
