// The task of examples/policy.ts with the official SDK.

import { randomUUID } from "node:crypto";
import * as acp from "@agentclientprotocol/sdk";

const sessions = new Set<string>();

const editor = acp
  .agent({ name: "editor" })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: "editor", version: "1.0.0" },
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
    const say = (text: string) =>
      update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    const tool = async (title: string, kind: acp.ToolKind, run: (toolCallId: string) => Promise<unknown>) => {
      const toolCallId = randomUUID();
      await update({ sessionUpdate: "tool_call", toolCallId, title, kind, status: "pending" });
      try {
        await run(toolCallId);
        await update({ sessionUpdate: "tool_call_update", toolCallId, status: "completed" });
      } catch (error) {
        await update({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
        throw error;
      }
    };
    for (const path of ["/project/src/a.ts", "/project/.env", "/project/README.md"]) {
      await tool(`Write ${path}`, "edit", () =>
        client.request(acp.methods.client.fs.writeTextFile, { sessionId, path, content: "hello\n" }),
      ).catch(() => say(`I may not write ${path}.`));
    }
    const title = "Delete /project/old.log";
    await tool(title, "delete", async (toolCallId) => {
      const { outcome } = await client.request(acp.methods.client.session.requestPermission, {
        sessionId,
        toolCall: { toolCallId, title, kind: "delete", status: "pending" },
        options: [
          { optionId: "allow", name: "Allow", kind: "allow_once" },
          { optionId: "reject", name: "Reject", kind: "reject_once" },
        ],
      });
      if (outcome.outcome !== "selected" || outcome.optionId !== "allow") throw new Error("the user said no");
      await say("It is gone.");
    }).catch(() => say("I may not delete it."));
    return { stopReason: "end_turn" };
  });

/** What the rules say about a write. */
function decide(path: string) {
  if (path.endsWith(".env")) return "deny";
  return path.startsWith("/project/src/") ? "allow" : "ask";
}

/** In place of a dialog. */
function isAllowedByUser(title: string): boolean {
  console.log(`${title}?`);
  return title.startsWith("Write");
}

const written: string[] = [];
await acp
  .client({ name: "example-client" })
  .onRequest(acp.methods.client.session.requestPermission, ({ params: { toolCall, options } }) => {
    const kind = isAllowedByUser(toolCall.title ?? "") ? "allow_once" : "reject_once";
    const option = options.find((each) => each.kind === kind);
    return {
      outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" },
    };
  })
  .onRequest(acp.methods.client.fs.writeTextFile, ({ params: { path } }) => {
    const decision = decide(path);
    if (decision === "deny" || (decision === "ask" && !isAllowedByUser(`Write ${path}`)))
      throw acp.RequestError.invalidRequest({ path }, "the user does not allow this");
    written.push(path);
  })
  .onNotification(acp.methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return;
    console.log(update.content.text);
  })
  .connectWith(editor, async (ctx) => {
    await ctx.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientInfo: { name: "example-client", version: "1.0.0" },
      clientCapabilities: { fs: { writeTextFile: true } },
    });
    await ctx.buildSession("/project").withSession((session) => session.prompt("go"));
  });
console.log(written);

// prints:
// I may not write /project/.env.
// Write /project/README.md?
// Delete /project/old.log?
// I may not delete it.
// [ '/project/src/a.ts', '/project/README.md' ]
