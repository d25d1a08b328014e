// The task of examples/stored-sessions.ts with the official SDK.

import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as acp from "@agentclientprotocol/sdk";

const folder = await mkdtemp(join(tmpdir(), "parley-example-"));
const file = join(folder, "sessions.json");

interface StoredSession {
  cwd: string;
  title: string | null;
  updatedAt: string;
  updates: acp.SessionUpdate[];
}

function start() {
  const sessions: Record<string, StoredSession> = existsSync(file)
    ? JSON.parse(readFileSync(file, "utf8"))
    : {};
  // renamed, so that a crash leaves the old file or the new one
  const save = async () => {
    await writeFile(`${file}.new`, JSON.stringify(sessions));
    await rename(`${file}.new`, file);
  };
  const find = (sessionId: string) => {
    const session = sessions[sessionId];
    if (session === undefined) throw acp.RequestError.sessionNotFound(sessionId);
    return session;
  };
  return acp
    .agent({ name: "notes" })
    .onRequest(acp.methods.agent.initialize, () => ({
      protocolVersion: acp.PROTOCOL_VERSION,
      agentInfo: { name: "notes", version: "1.0.0" },
      agentCapabilities: { loadSession: true, sessionCapabilities: { list: {} } },
    }))
    .onRequest(acp.methods.agent.session.new, async ({ params: { cwd } }) => {
      const sessionId = randomUUID();
      sessions[sessionId] = { cwd, title: null, updatedAt: new Date().toISOString(), updates: [] };
      await save();
      return { sessionId };
    })
    .onRequest(acp.methods.agent.session.list, ({ params }) => ({
      sessions: Object.entries(sessions)
        .map(([sessionId, { cwd, title, updatedAt }]) => ({ sessionId, cwd, title, updatedAt }))
        .filter(({ cwd }) => params.cwd == null || params.cwd === cwd),
    }))
    .onRequest(acp.methods.agent.session.load, async ({ params: { sessionId }, client }) => {
      for (const update of find(sessionId).updates)
        await client.notify(acp.methods.client.session.update, { sessionId, update });
    })
    .onRequest(acp.methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
      const session = find(sessionId);
      const note = prompt.map((block) => (block.type === "text" ? block.text : "")).join("");
      const update = async (update: acp.SessionUpdate) => {
        session.updates.push(update);
        await save();
        await client.notify(acp.methods.client.session.update, { sessionId, update });
      };
      session.updatedAt = new Date().toISOString();
      session.title = note;
      for (const content of prompt) session.updates.push({ sessionUpdate: "user_message_chunk", content });
      await update({ sessionUpdate: "session_info_update", title: note, updatedAt: session.updatedAt });
      const count = session.updates.filter((each) => each.sessionUpdate === "user_message_chunk").length;
      const text = `Note ${count}: ${note}`;
      await update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
      return { stopReason: "end_turn" };
    });
}

const hello = {
  protocolVersion: acp.PROTOCOL_VERSION,
  clientInfo: { name: "example-client", version: "1.0.0" },
};
await acp.client({ name: "example-client" }).connectWith(start(), async (ctx) => {
  await ctx.request(acp.methods.agent.initialize, hello);
  await ctx.buildSession(folder).withSession((session) => session.prompt("buy milk"));
});

await acp
  .client({ name: "example-client" })
  .onNotification(acp.methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return;
    console.log(update.content.text);
  })
  .connectWith(start(), async (ctx) => {
    await ctx.request(acp.methods.agent.initialize, hello);
    const { sessions } = await ctx.request(acp.methods.agent.session.list, {});
    for (const { sessionId, title } of sessions) {
      console.log(`loading: ${title}`);
      await ctx.request(acp.methods.agent.session.load, { sessionId, cwd: folder, mcpServers: [] });
      const prompt = [{ type: "text" as const, text: "buy bread" }];
      await ctx.request(acp.methods.agent.session.prompt, { sessionId, prompt });
    }
  });
await rm(folder, { recursive: true });

// prints:
// loading: buy milk
// Note 1: buy milk
// Note 2: buy bread
