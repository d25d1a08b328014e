// The task of examples/policy.ts with the official SDK.

import { randomUUID } from "node:crypto";
import * as acp from "@agentclientprotocol/sdk";

const refused = () => acp.RequestError.invalidRequest(undefined, "the user does not allow this");
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
  .onRequest(acp.methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    if (!sessions.has(sessionId)) throw acp.RequestError.sessionNotFound(sessionId);
    const path = prompt.map((block) => (block.type === "text" ? block.text : "")).join("");
    const update = (update: acp.SessionUpdate) =>
      client.notify(acp.methods.client.session.update, { sessionId, update });
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
    try {
      await tool(`Write ${path}`, "edit", () =>
        client.request(acp.methods.client.fs.writeTextFile, { sessionId, path, content: "hello\n" }),
      );
      const title = `Delete ${path}.bak`;
      await tool(title, "delete", async (toolCallId) => {
        const { outcome } = await client.request(acp.methods.client.session.requestPermission, {
          sessionId,
          toolCall: { toolCallId, title, kind: "delete", status: "pending" },
          options: [
            { optionId: "allow", name: "Allow", kind: "allow_once" },
            { optionId: "reject", name: "Reject", kind: "reject_once" },
          ],
        });
        if (outcome.outcome !== "selected" || outcome.optionId !== "allow") throw refused();
      });
    } catch (error) {
      if (!(error instanceof acp.RequestError) || error.code !== refused().code) throw error;
    }
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
    if (decision === "deny" || (decision === "ask" && !isAllowedByUser(`Write ${path}`))) throw refused();
    console.log(`written: ${path}`);
  })
  .connectWith(editor, async (ctx) => {
    await ctx.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientInfo: { name: "example-client", version: "1.0.0" },
      clientCapabilities: { fs: { writeTextFile: true } },
    });
    await ctx.buildSession("/project").withSession(async (session) => {
      for (const path of ["src/a.ts", ".env", "README.md"]) await session.prompt(`/project/${path}`);
    });
  });

// prints:
// written: /project/src/a.ts
// Delete /project/src/a.ts.bak?
// Write /project/README.md?
// written: /project/README.md
// Delete /project/README.md.bak?
