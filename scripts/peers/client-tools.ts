// A tool of our client in production agents, which have no MCP over ACP: they reach it through the bridge.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { client } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";
import { mcpKit, tool } from "@parley/mcp";
import { fakeProvider } from "../../packages/agent/test/fake-provider/fake-provider.ts";
import { responsesEvents } from "../../packages/agent/test/fake-provider/responses-wire.ts";
import { environment, type Place } from "./claude.ts";
import type { MessagesModel } from "./messages-model.ts";

/** The model of claude-agent-acp calls the tool, with the user's permission, and gets what it returned. */
export async function claudeUsesTool(place: Place, model: MessagesModel): Promise<void> {
  // its model is told of all tools at once
  const env = { ...environment(place, model), ENABLE_TOOL_SEARCH: "false" };
  await usesTool(place, "claude-agent-acp", env, 'CALL: rename_tab {"title":"night work"}');
  assert.match(model.conversations.join("\n"), /the tab is called night work/);
}

/** The same for codex-acp. A model of its own reviews calls that change something, so this one says that it does not. */
export async function codexUsesTool(place: Place): Promise<void> {
  const home = join(place.folder, "codex-tools");
  mkdirSync(home);
  const told: string[] = [];
  const model = await fakeProvider(async (exchange) => {
    const { request } = exchange;
    if (request.method !== "POST" || !request.path.endsWith("/responses"))
      return exchange.json(404, { error: { message: "unknown" } });
    const said = JSON.stringify(request.body.input ?? "");
    told.push(said);
    const call = { id: "call_1", name: "rename_tab", json: ['{"title":"night work"}'] };
    const answer = said.includes("function_call_output") ? { text: ["done"] } : { calls: [call] };
    exchange.open();
    // it knows the tools of a server by a namespace
    const named = '"namespace":"mcp__parley_peers","name":"rename_tab"';
    for (const event of responsesEvents(answer))
      await exchange.write(event.replaceAll('"name":"rename_tab"', named));
    exchange.end();
  });
  const provider = `[model_providers.fake]\nname = "fake"\nbase_url = "${model.url}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n`;
  writeFileSync(join(home, "config.toml"), `model = "fake"\nmodel_provider = "fake"\n\n${provider}`);
  const PATH = `${place.bin}:${process.env.PATH ?? ""}`;
  const env = { PATH, HOME: place.folder, CODEX_HOME: home, OPENAI_API_KEY: "fake" };
  try {
    await usesTool(place, "codex-acp", env, "rename the tab", true);
    assert.match(told.join("\n"), /the tab is called night work/);
    // it connects with the session, before any prompt
    const { stdout } = await promisify(execFile)(place.launcher, ["agents", "check", "codex", "--json"], {
      env: { ...env, PARLEY_HOME: join(place.folder, "parley-codex") },
    });
    const { state, way } = JSON.parse(stdout).data.tools;
    assert.deepEqual([state, way], ["connected", "http"], stdout);
  } finally {
    await model.close();
  }
}

async function usesTool(
  { folder }: Place,
  command: string,
  env: Readonly<Record<string, string>>,
  prompt: string,
  readOnly = false,
): Promise<void> {
  const work = join(folder, `work-${command}-tools`);
  mkdirSync(work);
  const calls: unknown[] = [];
  const asked: string[] = [];
  const receipts: unknown[] = [];
  const rename = tool({
    name: "rename_tab",
    description: "Renames the tab of this conversation.",
    schema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
    readOnly,
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
  const agent = await app.connect(spawnTransport(command, [], { env, cwd: work }));
  try {
    const session = await agent.newSession({ cwd: work, tools: [rename] });
    assert.equal((await session.prompt(prompt).result).stopReason, "end_turn");
    assert.deepEqual(calls, [{ title: "night work", sessionId: session.sessionId }]);
    assert.equal(asked.length, readOnly ? 0 : 1);
    assert.partialDeepStrictEqual(receipts, [{ state: "connected", tools: 1, sessionId: session.sessionId }]);
  } finally {
    await agent.close();
  }
}
