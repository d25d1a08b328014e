// The life of a session beyond one prompt after the other, with the official SDK's clients over real processes:
// an inbox, work beside and between prompts, the cancel of one tool call or terminal, a system prompt, legacy models.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { interopCommand } from "./agent-command.ts";
import { connectSdk } from "./app-sdk-client.ts";
import * as v1 from "./v1-samples.ts";
import * as v2 from "./v2-samples.ts";

const deadline = { timeout: 120_000 };

type Json = Record<string, unknown>;

async function opened(t: TestContext, version: "v1" | "v2", more: object = {}) {
  const client = await connectSdk(version, interopCommand("lifecycle-agent.ts"));
  t.after(async () => {
    assert.deepEqual(await client.close(), { exitCode: 0 });
    assert.equal(client.complaints(), "");
  });
  await client.agent.request("initialize", (version === "v1" ? v1 : v2).initializeRequest);
  const place = { cwd: v1.cwd, mcpServers: [], ...more };
  const session = (await client.agent.request("session/new", place)) as { sessionId: string; models?: Json };
  const { sessionId } = session;
  const updates = () => (client.log.of("session/update") as { update: Json }[]).map(({ update }) => update);
  /** Waits until an update that fits has come, and gives all of them up to it. */
  const until = async (fits: (update: Json) => boolean): Promise<Json[]> => {
    for (;;) {
      const at = updates().findIndex(fits);
      if (at >= 0) return updates().slice(0, at + 1);
      await client.log.until("session/update", updates().length + 1);
    }
  };
  const prompt = (text: string) =>
    client.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }) as Promise<Json>;
  return { client, session, sessionId, prompt, until, updates };
}

const says = (words: string) => (update: Json) =>
  update["sessionUpdate"] === "agent_message_chunk" &&
  ((update["content"] as Json)["text"] as string).startsWith(words);
const isBuild = (status: string) => (update: Json) =>
  update["toolCallId"] === "build" && update["status"] === status;

for (const version of ["v1", "v2"] as const) {
  const isV2 = version === "v2";

  test(`${version}: a system prompt of the SDK's client reaches our agent`, deadline, async (t) => {
    const systemPrompt = { mode: "append", content: [{ type: "text", text: "be brief" }] };
    const { prompt, until } = await opened(t, version, { systemPrompt });
    await prompt("system prompt");
    const told = (await until(says("{"))).at(-1) as { content: { text: string } };
    assert.deepEqual(JSON.parse(told.content.text), systemPrompt);
  });

  test(
    `${version}: a prompt of the SDK's client steers the running turn of our agent`,
    deadline,
    async (t) => {
      const { prompt, until, updates } = await opened(t, version);
      const first = prompt("steered");
      await until(says("waiting"));
      const answers = await Promise.all([first, prompt("to the left")]);
      if (isV2) {
        await until(({ state }) => state === "idle");
        const echoed = updates().flatMap(({ sessionUpdate, messageId }) =>
          sessionUpdate === "user_message" ? [{ messageId }] : [],
        );
        assert.deepEqual(echoed, answers);
        assert.equal(updates().filter(({ state }) => state === "running").length, 1);
      } else assert.deepEqual(answers, [{ stopReason: "end_turn" }, { stopReason: "end_turn" }]);
      await until(says('heard [{"type":"text","text":"to the left"}]'));
    },
  );

  test(
    `${version}: our agent works beside prompts, and between them, and the SDK's client sees it`,
    deadline,
    async (t) => {
      const { prompt, until, updates } = await opened(t, version);
      await prompt("background");
      await until(isBuild("in_progress"));
      if (isV2) {
        const background = [{ type: "tool_call", toolCallId: "build" }];
        await until((update) => update["state"] === "idle" && Array.isArray(update["background"]));
        assert.deepEqual(updates().findLast(({ state }) => state === "idle")?.["background"], background);
      }
      await prompt("finish");
      await until(isBuild("completed"));
      const all = await until(says("the build is over"));
      assert.ok(all.findIndex(isBuild("completed")) >= 0, "it was over before the agent said so");
      if (isV2) await until((update) => update["state"] === "idle" && isEmpty(update["background"]));
    },
  );
}

test(
  "A108 v2: the SDK's client cancels one tool call of our agent, and the agent goes on",
  deadline,
  async (t) => {
    const { client, sessionId, prompt, until } = await opened(t, "v2");
    await prompt("background");
    await until(isBuild("in_progress"));
    assert.deepEqual(await client.agent.request("tool_call/cancel", { sessionId, toolCallId: "build" }), {});
    await until(isBuild("cancelled"));
    await until(says("the build is over"));
  },
);

test("A108 v2: the SDK's client cancels a terminal of our agent by itself", deadline, async (t) => {
  const { client, sessionId, prompt, until } = await opened(t, "v2");
  await prompt("terminal");
  const shown = await until(({ sessionUpdate }) => sessionUpdate === "terminal_update");
  const cancel = (terminalId: unknown) => client.agent.request("terminal/cancel", { sessionId, terminalId });
  await assert.rejects(cancel("unknown"), { code: -32602 });
  const terminalId = shown.at(-1)?.["terminalId"];
  assert.deepEqual(await cancel(terminalId), {});
  const all = await until(({ exitStatus }) => exitStatus !== undefined);
  assert.partialDeepStrictEqual(all.at(-1), {
    terminalId,
    exitStatus: { signal: "SIGTERM" },
    capabilities: null,
  });
  assert.equal((await until(({ state }) => state === "idle")).at(-1)?.["stopReason"], "end_turn");
});

test("v1: the SDK's client sees the models of our agent, and sets one as it used to", deadline, async (t) => {
  const { client, session, sessionId, prompt, until } = await opened(t, "v1");
  assert.partialDeepStrictEqual(session.models, {
    currentModelId: "small",
    availableModels: [{ modelId: "small" }, { modelId: "large" }],
  });
  const set = (modelId: string) => client.agent.request("session/set_model", { sessionId, modelId });
  assert.deepEqual(await set("large"), {});
  const changed = await until(({ sessionUpdate }) => sessionUpdate === "config_option_update");
  assert.partialDeepStrictEqual(changed.at(-1), { configOptions: [{ id: "which", currentValue: "large" }] });
  await prompt("model");
  await until(says("the model is large"));
  await assert.rejects(set("none"), { code: -32602 });
});

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.length === 0;
}
