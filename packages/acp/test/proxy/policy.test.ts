// A proxy that decides what is allowed: nothing passes that it has not read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type ProxyDefinition, proxy, refuse } from "../../src/proxy.ts";
import { chained, hello, opened, said, text } from "./chained.ts";

type Definition<Data> = Omit<ProxyDefinition<Data>, "name" | "version">;

const made = <Data = undefined>(definition: Definition<Data>) =>
  proxy({ name: "hooks", version: "1", ...definition });

test("what a proxy cannot read passes an open one, and neither a closed one nor a policy", async () => {
  for (const kind of ["open", "closed", "policy"] as const) {
    const prompts: unknown[] = [];
    const part = made({
      prompt: (given) => void prompts.push(given),
      ...(kind === "policy" ? { policy: true } : { errors: kind }),
    });
    const { client, agent, chain } = await opened([part]);
    client.request(1, "session/prompt", { sessionId: "s", prompt: "not a list" });
    agent.notify("session/update", { sessionId: "s", update: { sessionUpdate: "tool_call" } });
    agent.notify("_acme/end", {});
    await client.asked("_acme/end");
    const hasUpdate = client.got.some(({ method }) => method === "session/update");
    assert.equal(hasUpdate, kind !== "policy", `${kind}: the update`);
    if (kind === "open") agent.answer(await agent.asked("session/prompt"), { stopReason: "end_turn" });
    const { error } = await client.answered(1);
    assert.equal(error?.code, kind === "open" ? undefined : -32602);
    assert.deepEqual(prompts, []);
    await chain.close();
  }
});

test("a policy lets nothing pass that its hooks cannot be asked about", async () => {
  const asked: unknown[] = [];
  const rules = () =>
    made({
      policy: true,
      prompt: () => undefined,
      permission: (ask) => void asked.push(ask),
      update: () => undefined,
    });
  const { client, agent, chain } = await opened([rules()]);
  const ask = { toolCall: { toolCallId: "t" }, options: [] };
  for (const [id, params] of [{ ...ask, sessionId: 5 }, ask, [1]].entries()) {
    agent.request(id, "session/request_permission", params);
    const { error } = await agent.answered(id);
    assert.equal(error?.code, -32602);
    assert.match(error?.message ?? "", /^hooks cannot read this session\/request_permission/);
  }
  agent.notify("session/update", said(7 as never, "hidden"));
  client.request(1, "session/prompt", { prompt: [text("go")] });
  assert.equal((await client.answered(1)).error?.code, -32602);
  agent.notify("_acme/list", [1] as never);
  assert.deepEqual((await client.asked("_acme/list")).params, [1]);
  assert.deepEqual(asked, []);
  assert.equal(
    client.got.some(({ method }) => method?.startsWith("session/")),
    false,
  );
  await chain.close();

  // before the agent has answered initialize, and when it answers with a version that nobody knows
  const early = chained([rules()]);
  early.client.request(1, "initialize", hello[1]);
  const hasty = await early.agent;
  const introduction = await hasty.asked("initialize");
  hasty.request(1, "session/request_permission", { ...ask, sessionId: "s" });
  assert.equal((await hasty.answered(1)).error?.code, -32602);
  hasty.answer(introduction, { protocolVersion: 99 });
  assert.match((await early.client.answered(1)).error?.message ?? "", /^hooks cannot read this initialize/);
  assert.equal(early.client.got.length, 1);
  await early.chain.close();
});

test("two members of one name cannot smuggle anything past a policy: it writes what it has read", async () => {
  const rules = made({
    policy: true,
    messages: {
      "fs/write_text_file": ({ params }) =>
        (params as { path?: string }).path === "/ok" ? undefined : refuse("no"),
    },
  });
  const { client, agent, chain } = await opened([rules]);
  agent.sendText(
    '{"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{"path":"/etc/passwd","path":"/ok","content":"","sessionId":"s"}}',
  );
  const asked = await client.asked("fs/write_text_file");
  assert.deepEqual(asked.params, { path: "/ok", content: "", sessionId: "s" });
  assert.equal(
    client.texts.some((each) => each.includes("passwd")),
    false,
  );
  client.sendText(`{"jsonrpc":"2.0","id":${asked.id},"result":{"x":1,"x":2}}`);
  await agent.answered(1);
  assert.equal(
    agent.texts.some((each) => each.includes('"x":1')),
    false,
  );
  agent.sendText(
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hidden","text":"shown"}}}}',
  );
  await client.asked("session/update");
  assert.equal(
    client.texts.some((each) => each.includes("hidden")),
    false,
  );
  await chain.close();
});
