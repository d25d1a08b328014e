// Tools of our client in an agent on the official SDK of ACP.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type ClientDefinition, type ClientSession, client } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";
import { mcpKit, tool } from "@parley/mcp";
import { programFile } from "../../acp/test/support/programs.ts";
import { mcpClients } from "./support/mcp-clients.ts";

const program = programFile("mcp/test/support/sdk-agent.ts");
const deadline = { timeout: 120_000 };

const echo = tool({
  name: "echo",
  description: "Says it again.",
  schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: ({ text }, { sessionId }) => `${text} in ${sessionId}`,
});

async function connected(t: TestContext, way: string, more: Partial<ClientDefinition> = {}) {
  const app = client({ name: "editor", version: "1.0.0", mcp: mcpKit(), ...more });
  const agent = await app.connect(
    spawnTransport(process.execPath, ["--conditions=parley-source", program, way]),
  );
  t.after(() => agent.close());
  return agent;
}

async function said(session: ClientSession, prompt: object): Promise<unknown> {
  let answer = "";
  for await (const update of session.prompt(JSON.stringify(prompt))) {
    if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
      answer += update.content.text;
  }
  return JSON.parse(answer);
}

for (const way of ["http", "stdio"] as const) {
  for (const by of Object.keys(mcpClients)) {
    test(
      `an agent on the official SDK calls a tool of ours by ${way} with the ${by} MCP client (M21)`,
      deadline,
      async (t) => {
        const receipts: object[] = [];
        const agent = await connected(t, way, { mcpReceipt: (receipt) => void receipts.push(receipt) });
        const session = await agent.newSession({ cwd: process.cwd(), tools: [echo] });
        assert.partialDeepStrictEqual(await said(session, { by, text: "hi" }), {
          way,
          result: { content: [{ type: "text", text: `hi in ${session.sessionId}` }] },
        });
        assert.partialDeepStrictEqual(receipts, [{ state: "connected", sessionId: session.sessionId }]);
      },
    );
  }
}

test(
  "an agent on the official SDK that has MCP over ACP calls it without a bridge (M1, M21)",
  deadline,
  async (t) => {
    const agent = await connected(t, "acp", { unstable: ["mcp_over_acp"] });
    const [one, two] = await Promise.all(
      ["one", "two"].map(async (text) => {
        const session = await agent.newSession({ cwd: process.cwd(), tools: [echo] });
        return [session.sessionId, await said(session, { text })] as const;
      }),
    );
    for (const [[sessionId, answer] = assert.fail(), text] of [
      [one, "one"],
      [two, "two"],
    ] as const) {
      assert.partialDeepStrictEqual(answer, {
        way: "acp",
        result: { content: [{ text: `${text} in ${sessionId}` }] },
      });
    }
  },
);
