// A tool of our client in production agents, which have no MCP over ACP: they reach it through the bridge.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { client } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";
import { mcpKit, tool } from "@parley/mcp";
import { environment, type Place } from "./claude.ts";
import type { MessagesModel } from "./messages-model.ts";

/** The model of claude-agent-acp calls the tool, with the user's permission, and gets what it returned. */
export async function claudeUsesTool(place: Place, model: MessagesModel): Promise<void> {
  const work = join(place.folder, "work-tools");
  mkdirSync(work);
  const calls: unknown[] = [];
  const asked: string[] = [];
  const receipts: unknown[] = [];
  const rename = tool({
    name: "rename_tab",
    description: "Renames the tab of this conversation.",
    schema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
    run({ title }, { sessionId }) {
      calls.push({ title, sessionId });
      return `the tab is called ${title}`;
    },
  });
  const app = client({
    name: "parley-peers",
    version: "1.0.0",
    mcp: mcpKit(),
    requestPermission({ title, options }) {
      asked.push(title);
      return options.find(({ kind }) => kind === "allow_once")?.optionId;
    },
    mcpReceipt: (receipt) => void receipts.push(receipt),
  });
  const agent = await app.connect(
    // its model is told of all tools at once
    spawnTransport("claude-agent-acp", [], {
      env: { ...environment(place, model), ENABLE_TOOL_SEARCH: "false" },
      cwd: work,
    }),
  );
  try {
    const session = await agent.newSession({ cwd: work, tools: [rename] });
    const { stopReason } = await session.prompt('CALL: rename_tab {"title":"night work"}').result;
    assert.equal(stopReason, "end_turn");
    assert.deepEqual(calls, [{ title: "night work", sessionId: session.sessionId }]);
    assert.equal(asked.length, 1);
    assert.match(model.conversations.join("\n"), /the tab is called night work/);
    assert.partialDeepStrictEqual(receipts, [{ state: "connected", tools: 1, sessionId: session.sessionId }]);
  } finally {
    await agent.close();
  }
}
