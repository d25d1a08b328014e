// An agent in a sandbox with a network of its own reaches the tools of its client by a command.
// Needs a process of its own: the home of the user is where agents in a sandbox have their cache.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { connectAgent } from "@parley/client";
import { commandEntry } from "@parley/client/launch";
import { mcpKit, tool } from "@parley/mcp";
import { programFile } from "../../acp/test/support/programs.ts";
import { withHosts } from "../../sandbox/test/support/required-sandbox.ts";

const program = programFile("mcp/test/support/sdk-agent.ts");

const home = realpathSync(mkdtempSync(join(tmpdir(), "parley-home-")));
process.env["HOME"] = home;
after(() => rmSync(home, { recursive: true, force: true }));

function folderOf(t: TestContext, name: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), name)));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test(
  "an agent in a sandbox that reaches no port of this machine calls a tool of its client",
  withHosts,
  async (t) => {
    const work = folderOf(t, "parley-work-");
    const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith("parley-tools-"));
    const before = folders();
    const echo = tool({
      name: "echo",
      description: "Says it again.",
      schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      run: ({ text }, { sessionId }) => `${text} in ${sessionId}`,
    });
    const entry = {
      ...commandEntry([process.execPath, "--conditions=parley-source", program, "http"]),
      name: "sdk",
      // a network of its own
      hosts: ["example.com"],
    };
    const agent = await connectAgent(entry, {
      name: "test",
      version: "1.0.0",
      editions: ["v1"],
      cwd: work,
      sandbox: true,
      mcp: mcpKit(),
    });
    t.after(() => agent.close());
    const session = await agent.newSession({ cwd: work, tools: [echo] });
    let answer = "";
    for await (const update of session.prompt(JSON.stringify({ by: "older", text: "hi" }))) {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
        answer += update.content.text;
    }
    assert.partialDeepStrictEqual(JSON.parse(answer), {
      way: "stdio",
      result: { content: [{ type: "text", text: `hi in ${session.sessionId}` }] },
    });
    await agent.close();
    assert.deepEqual(folders(), before);
  },
);
