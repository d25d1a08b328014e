// The official SDK's clients with an agent written with agent(): the system prompt, the legacy models of version 1, and
// work that is cancelled piece by piece.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { programCommand } from "./app-samples.ts";
import { connectSdk, type SdkClient } from "./app-sdk-client.ts";
import * as v1 from "./v1-samples.ts";
import * as v2 from "./v2-samples.ts";

const deadline = { timeout: 120_000 };
const systemPrompt = { mode: "append", content: [{ type: "text", text: "be brief" }] };

type Json = Record<string, unknown>;

async function started(t: TestContext, version: "v1" | "v2") {
  const client: SdkClient = await connectSdk(version, programCommand("./steered-agent.ts"));
  t.after(() => client.close());
  const request = (method: string, params: object) => client.agent.request(method, params) as Promise<Json>;
  const introduction = await request("initialize", (version === "v1" ? v1 : v2).initializeRequest);
  const session = await request("session/new", { cwd: "/", mcpServers: [], systemPrompt });
  const sessionId = String(session["sessionId"]);
  const prompt = (text: string) => request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  /** The first update that has the words in it, whenever it came. */
  const update = async (words: string): Promise<Json> => {
    for (let count = 1; ; count++) {
      const all = (await client.log.until("session/update", count)) as { update: Json }[];
      const found = all.find((each) => JSON.stringify(each.update).includes(words));
      if (found !== undefined) return found.update;
    }
  };
  return { request, introduction, session, sessionId, prompt, update };
}

for (const version of ["v1", "v2"] as const) {
  test(`our agent takes the system prompt of the SDK's client (${version})`, deadline, async (t) => {
    const { prompt, update, introduction } = await started(t, version);
    assert.match(JSON.stringify(introduction), /"systemPrompt":\{/);
    await prompt("?");
    const { content } = (await update("learnt: ")) as { content: { text: string } };
    assert.deepEqual(JSON.parse(content.text.slice("learnt: ".length)).systemPrompt, systemPrompt);
  });
}

test("the SDK's v1 client sees our models and sets one as it used to", deadline, async (t) => {
  const { request, session, sessionId, prompt, update } = await started(t, "v1");
  assert.partialDeepStrictEqual(session["models"], {
    currentModelId: "small",
    availableModels: [{ modelId: "small" }, { modelId: "large" }],
  });
  assert.deepEqual(await request("session/set_model", { sessionId, modelId: "large" }), {});
  assert.partialDeepStrictEqual(await update("config_option_update"), {
    configOptions: [{ id: "which", currentValue: "large" }],
  });
  await prompt("?");
  assert.match(JSON.stringify(await update("learnt: ")), /large/);
  await assert.rejects(request("session/set_model", { sessionId, modelId: "none" }), { code: -32602 });
});

test("A108 the SDK's v2 client cancels a tool call and a terminal by themselves", deadline, async (t) => {
  const { request, sessionId, prompt, update } = await started(t, "v2");
  await prompt("work");
  await update('"in_progress"');
  const { terminalId } = await update("terminal_update");
  await assert.rejects(request("tool_call/cancel", { sessionId, toolCallId: "unknown" }), { code: -32602 });
  assert.deepEqual(await request("tool_call/cancel", { sessionId, toolCallId: "call-1" }), {});
  assert.partialDeepStrictEqual(await update('"cancelled"'), { toolCallId: "call-1", status: "cancelled" });
  assert.deepEqual(await request("terminal/cancel", { sessionId, terminalId }), {});
  assert.partialDeepStrictEqual(await update("SIGTERM"), { terminalId, exitStatus: { signal: "SIGTERM" } });
  await update("both were cancelled");
  assert.partialDeepStrictEqual(await update('"idle"'), { state: "idle", stopReason: "end_turn" });
});
