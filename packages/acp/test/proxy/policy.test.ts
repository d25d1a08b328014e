// A proxy that decides what is allowed: nothing passes that it has not read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, conductor, type ProxyDefinition, proxy, refuse } from "../../src/proxy.ts";
import { chained, hello, opened, prompt, said, text } from "./chained.ts";

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

test("duplicate keys cannot smuggle anything past a policy, because it sends what it has read (N049, N050)", async () => {
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

test("what lenient decoding leaves out does not pass a policy: it sends what its hooks were shown", async () => {
  const shown: unknown[] = [];
  const rules = made({
    policy: true,
    open: (setup) => void shown.push(setup),
    update: (update) => void shown.push(update),
    messages: { "session/resume": ({ params }) => void shown.push(params) },
  });
  const { client, agent, chain } = await opened([rules]);
  shown.length = 0;
  const odd = { cwd: "/", mcpServers: [], _meta: 5, more: 1 };
  client.request(1, "session/new", odd);
  const asked = await agent.asked("session/new");
  assert.deepEqual(asked.params, { cwd: "/", mcpServers: [], more: 1 });
  assert.equal(shown.length, 1);
  agent.answer(asked, { sessionId: "t" });
  client.request(2, "session/resume", { ...odd, sessionId: "t" });
  const resumed = await agent.asked("session/resume");
  const { params } = resumed;
  agent.answer(resumed, {});
  assert.deepEqual(params, { cwd: "/", mcpServers: [], more: 1, sessionId: "t" });
  assert.deepEqual(params, shown[1]);
  shown.length = 0;
  const older = { connectionId: "c", method: "tools/list" };
  agent.request(1, "mcp/message", older);
  assert.deepEqual((await client.asked("mcp/message")).params, older);
  client.request(3, "session/set_mode", { sessionId: "t", modeId: 5 });
  assert.match((await client.answered(3)).error?.message ?? "", /cannot read this session\/set_mode/);

  const call = { sessionUpdate: "tool_call", toolCallId: "c", title: "Read", kind: "read" };
  const locations = [{ path: "/a" }, { path: 5, secret: "x" }];
  agent.notify("session/update", { sessionId: "t", update: { ...call, locations } });
  const told = await client.asked("session/update");
  assert.deepEqual(told.params, { sessionId: "t", update: { ...call, locations: [{ path: "/a" }] } });
  assert.deepEqual((shown[0] as { locations?: unknown }).locations, [{ path: "/a" }]);
  await chain.close();
});

test("a hook for updates sees the echo of a prompt, and both spellings of a terminal's output do not pass a policy", async () => {
  const seen: string[] = [];
  const rules = made({ policy: true, update: (update) => void seen.push(JSON.stringify(update)) });
  const { client, agent, chain } = await opened([rules]);
  client.request(1, "session/prompt", prompt("s", "go on"));
  const asked = await agent.asked("session/prompt");
  const echo = { sessionUpdate: "user_message_chunk", content: { ...text("go"), _meta: { hidden: 1 } } };
  agent.notify("session/update", { sessionId: "s", update: echo });
  await client.asked("session/update");
  assert.match(seen.splice(0).join(), /hidden/);
  const _meta = {
    terminal_output_delta: { terminal_id: "t", data: "shown" },
    terminal_output: { terminal_id: "t", data: "unseen" },
  };
  const update = { sessionUpdate: "tool_call_update", toolCallId: "c", _meta };
  agent.notify("session/update", { sessionId: "s", update });
  const told = await client.asked("session/update");
  const { terminal_output: _, ...rest } = _meta;
  assert.deepEqual(told.params?.["update"], { ...update, _meta: rest });
  agent.answer(asked, { stopReason: "end_turn" });
  await client.answered(1);
  await chain.close();
});

test("a policy forgets no session, however many a client names", async () => {
  let made = 0;
  const counting = proxy<{ n: number }>({
    name: "counting",
    version: "1",
    policy: true,
    session: () => ({ n: ++made }),
    prompt: (_, { data }) => (data.n === 1 ? undefined : refuse(`session ${data.n}`)),
  });
  const { client, agent, chain } = await opened([counting]);
  client.request("first", "session/prompt", prompt("s", "go"));
  agent.answer(await agent.asked("session/prompt"), { stopReason: "end_turn" });
  for (let i = 0; i < 16_400; i++) client.request(i, "session/prompt", prompt(`made-up-${i}`, "x"));
  assert.match((await client.answered(16_399)).error?.message ?? "", /cannot read this session\/prompt/);
  client.request("again", "session/prompt", prompt("s", "go"));
  agent.answer(await agent.asked("session/prompt"), { stopReason: "end_turn" });
  await client.answered("again");
  await chain.close();
});

test("what is said of a chain counts for its components: a policy, and that it cannot be bypassed", async () => {
  const failing = made({
    prompt: () => {
      throw new Error("broken");
    },
  });
  const inner = conductor([failing]);
  assert.throws(
    () =>
      conductor([
        { name: "rules", start: conductor([made({ policy: true })]), onExit: "bypass" },
        () => assert.fail(),
      ]),
    /hooks cannot be bypassed/,
  );
  const { client, agent, chain } = await opened([{ name: "rules", start: inner, policy: true }]);
  client.request(1, "session/prompt", prompt("s", "go"));
  assert.match((await client.answered(1)).error?.message ?? "", /lets nothing pass that it has not checked/);
  assert.equal(
    agent.got.some(({ method }) => method === "session/prompt"),
    false,
  );
  await chain.close();
});

test("a change of one of several updates leaves no word of it in the others (redaction of a terminal's output)", async () => {
  const part = made({
    update(update) {
      if (update.sessionUpdate !== "terminal_output_chunk") return undefined;
      return { ...update, data: Buffer.from("[removed]").toString("base64") };
    },
  });
  const { client, agent, chain } = await opened([part]);
  const _meta = { terminal_output: { terminal_id: "t", data: "hunter2" } };
  const call = { sessionUpdate: "tool_call_update", toolCallId: "c", status: "in_progress" };
  for (const update of [
    { ...call, _meta },
    { sessionUpdate: "tool_call_update", toolCallId: "c", _meta },
  ])
    agent.notify("session/update", { sessionId: "s", update });
  agent.notify("_acme/end", {});
  await client.asked("_acme/end");
  assert.doesNotMatch(client.texts.join(), /hunter2/);
  assert.equal(client.texts.join().match(/\[removed\]/g)?.length, 2);
  await chain.close();
});

test("a message for a turn that runs is a prompt for the hooks: looked at, changed, refused and answered", async () => {
  const seen: string[] = [];
  const rules = made({
    policy: true,
    prompt({ content }) {
      const [first] = content as readonly { text: string }[];
      seen.push(first?.text ?? "");
      if (first?.text === "no") return refuse("not that");
      if (first?.text === "mine") return answer({ stopReason: "end_turn", say: "It was answered here." });
      return { content: [text("changed") as never] };
    },
  });
  const { client, agent, chain } = await opened([rules]);
  const steer = (id: number, words: unknown) =>
    client.request(id, "_session/steering", { sessionId: "s", prompt: words, more: 1 });
  steer(1, [text("go")]);
  const asked = await agent.asked("_session/steering");
  assert.deepEqual(asked.params, { sessionId: "s", prompt: [text("changed")], more: 1 });
  agent.answer(asked, { outcome: "injected" });
  await client.answered(1);
  steer(2, [text("no")]);
  assert.equal((await client.answered(2)).error?.message, "not that");
  steer(3, "not a list");
  assert.match((await client.answered(3)).error?.message ?? "", /cannot read this _session\/steering/);
  steer(4, [text("mine")]);
  assert.deepEqual((await client.answered(4)).result, { outcome: "injected" });
  assert.match(client.texts.join(), /It was answered here/);
  client.notify("_session/steering", { sessionId: "s", prompt: [text("hidden")] });
  agent.notify("_acme/end", {});
  await client.asked("_acme/end");
  assert.deepEqual(seen, ["go", "no", "mine"]);
  assert.doesNotMatch(agent.texts.join(), /hidden/);
  await chain.close();
});

test("a proxy asks the user its own question, and passes on a question of the agent unchanged", async () => {
  const yes = { optionId: "yes", name: "Yes", kind: "allow_once" } as const;
  const part = made({
    async permission(ask, session, { signal }) {
      const own = await session.ask({ title: "May it ask?", description: "It is new.", options: [yes] });
      return answer(own.outcome === "selected" ? await session.ask(ask, { signal }) : own);
    },
  });
  const { client, agent, chain } = await opened([part]);
  const toolCall = { toolCallId: "t", title: "Delete", _acme: 1 };
  agent.request(1, "session/request_permission", {
    sessionId: "s",
    toolCall,
    options: [yes],
    _meta: { a: 1 },
  });
  const first = await client.asked("session/request_permission");
  assert.partialDeepStrictEqual(first.params, {
    sessionId: "s",
    toolCall: { title: "May it ask?" },
    options: [yes],
  });
  client.answer(first, { outcome: { outcome: "selected", optionId: "yes" } });
  const second = await client.asked("session/request_permission");
  assert.deepEqual(second.params, { sessionId: "s", toolCall, options: [yes], _meta: { a: 1 } });
  client.answer(second, { outcome: { outcome: "selected", optionId: "yes" }, _meta: { said: "ok" } });
  assert.deepEqual((await agent.answered(1)).result, {
    outcome: { outcome: "selected", optionId: "yes" },
    _meta: { said: "ok" },
  });

  // a question that the agent withdraws is withdrawn, and a malformed answer counts as cancelled
  agent.request(2, "session/request_permission", { sessionId: "s", toolCall, options: [yes] });
  const third = await client.asked("session/request_permission");
  client.answer(third, { outcome: "yes" });
  assert.deepEqual((await agent.answered(2)).result, { outcome: { outcome: "cancelled" } });
  await chain.close();
});
