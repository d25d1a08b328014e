// The task of examples/options.ts with the official SDK.

import { randomUUID } from "node:crypto";
import * as acp from "@agentclientprotocol/sdk";

const sessions = new Map<string, { mode: string; brief: boolean }>();
const modes = [
  { id: "ask", name: "Ask" },
  { id: "code", name: "Code" },
];

function find(sessionId: string) {
  const session = sessions.get(sessionId);
  if (session === undefined) throw acp.RequestError.sessionNotFound(sessionId);
  return session;
}

function configOptions(sessionId: string) {
  const { brief } = find(sessionId);
  return [{ id: "brief", name: "Short answers", type: "boolean" as const, currentValue: brief }];
}

const moody = acp
  .agent({ name: "moody" })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: "moody", version: "1.0.0" },
  }))
  .onRequest(acp.methods.agent.session.new, ({ client }) => {
    const sessionId = randomUUID();
    sessions.set(sessionId, { mode: "ask", brief: false });
    const availableCommands = [{ name: "status", description: "Say what is chosen" }];
    const update = { sessionUpdate: "available_commands_update" as const, availableCommands };
    // after the answer: a client drops updates of a session that it does not know yet
    setImmediate(() => client.notify(acp.methods.client.session.update, { sessionId, update }));
    return {
      sessionId,
      modes: { currentModeId: "ask", availableModes: modes },
      configOptions: configOptions(sessionId),
    };
  })
  .onRequest(acp.methods.agent.session.setMode, ({ params: { sessionId, modeId } }) => {
    if (!modes.some(({ id }) => id === modeId)) throw acp.RequestError.invalidParams({ modeId });
    find(sessionId).mode = modeId;
  })
  .onRequest(acp.methods.agent.session.setConfigOption, ({ params: { sessionId, configId, value } }) => {
    if (configId !== "brief" || typeof value !== "boolean")
      throw acp.RequestError.invalidParams({ configId });
    find(sessionId).brief = value;
    return { configOptions: configOptions(sessionId) };
  })
  .onRequest(acp.methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    const { mode, brief } = find(sessionId);
    const command = prompt.map((block) => (block.type === "text" ? block.text : "")).join("");
    if (command === "/status") {
      const content = { type: "text" as const, text: `mode ${mode}, brief ${brief}` };
      await client.notify(acp.methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: "agent_message_chunk", content },
      });
    }
    return { stopReason: "end_turn" };
  });

await acp.client({ name: "example-client" }).connectWith(moody, async (ctx) => {
  await ctx.request(acp.methods.agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientInfo: { name: "example-client", version: "1.0.0" },
    clientCapabilities: { session: { configOptions: { boolean: {} } } },
  });
  await ctx.buildSession("/project").withSession(async (session) => {
    const { sessionId } = session;
    await ctx.request(acp.methods.agent.session.setMode, { sessionId, modeId: "code" });
    await ctx.request(acp.methods.agent.session.setConfigOption, {
      sessionId,
      configId: "brief",
      type: "boolean",
      value: true,
    });
    const message = await session.nextUpdate();
    if (message.kind !== "session_update") return;
    if (message.update.sessionUpdate !== "available_commands_update") return;
    for (const { name } of message.update.availableCommands) {
      await session.prompt(`/${name}`);
      console.log(await session.readText());
    }
  });
});

// prints:
// mode code, brief true
