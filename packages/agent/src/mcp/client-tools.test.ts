// Tools of the client, which the coding agent uses over the connection itself.

import assert from "node:assert/strict";
import { mcpKit, tool } from "@parley/mcp";
import {
  calls,
  inEveryVersion,
  says,
  scriptedModel,
  talk,
  toolStories,
} from "../../test/support/agent-probe.ts";
import { outcomesOf } from "../../test/support/mcp-probe.ts";

inEveryVersion(
  "a tool of the client runs when the user allows it, and knows the session",
  {},
  async ({ version, cwd }) => {
    const ran: unknown[] = [];
    const rename = tool({
      name: "rename_tab",
      description: "Renames the tab.",
      schema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
      run({ title }, { sessionId, progress }) {
        progress(1, 2, "half");
        ran.push({ title, sessionId });
        return `the tab is called ${title}`;
      },
    });
    const model = scriptedModel([calls(["probe/rename_tab", { title: "night" }]), says("done")]);
    const link = await talk({
      version,
      cwd,
      models: [model],
      answers: ["allow_once"],
      clientTools: [rename],
      clientDefinition: { mcp: mcpKit(), unstable: ["mcp_over_acp"] },
    });
    assert.equal((await link.session.prompt("go").result).stopReason, "end_turn");
    assert.deepEqual(ran, [{ title: "night", sessionId: link.session.sessionId }]);
    assert.deepEqual(outcomesOf(model), ["the tab is called night"]);
    assert.deepEqual(toolStories(link.updates), ["probe/rename_tab: pending > in_progress > completed"]);
    assert.equal(link.asks[0]?.title, "probe/rename_tab");
    // rules of clients for `mcp` are about what this says
    const said = link.updates.find(({ sessionUpdate }) => /^tool_call/.test(sessionUpdate));
    assert.deepEqual(said && "_meta" in said && said._meta, { toolName: "mcp__probe__rename_tab" });
    await link.end();
  },
);
