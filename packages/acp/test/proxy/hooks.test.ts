// Hooks of proxy(): each looks, changes, answers and refuses in the model's terms.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PromptResult, SessionUpdate } from "../../src/model.ts";
import { answer, type ProxiedSession, type ProxyDefinition, proxy, refuse } from "../../src/proxy.ts";
import type { RawLinePeer, Wire } from "../support/raw-line-peer.ts";
import { brief, chained, hello, introductions, logged, opened, prompt, said, text } from "./chained.ts";

type Definition<Data> = Omit<ProxyDefinition<Data>, "name" | "version">;

const made = <Data = undefined>(definition: Definition<Data>) =>
  proxy({ name: "hooks", version: "1", ...definition });

const versions = [1, 2] as const;

/** The agent's end of a turn, as each version says it. */
async function turnOf(
  version: 1 | 2,
  agent: RawLinePeer,
  words: readonly string[],
  { stopReason = "end_turn", until = async (): Promise<unknown> => undefined } = {},
) {
  const asked = await agent.asked("session/prompt");
  if (version === 2) {
    agent.answer(asked, { messageId: "m" });
    const begun = [
      { sessionUpdate: "user_message", messageId: "m", content: [text("go")] },
      { sessionUpdate: "state_update", state: "running" },
    ];
    for (const update of begun) agent.notify("session/update", { sessionId: "s", update });
  }
  for (const each of words) agent.notify("session/update", said("s", each));
  await until();
  if (version === 1) agent.answer(asked, { stopReason, _meta: { k: 1 } });
  else
    agent.notify("session/update", {
      sessionId: "s",
      update: { sessionUpdate: "state_update", state: "idle", stopReason },
    });
  return asked;
}

for (const version of versions) {
  test(`prompt: a hook changes it, and fields that the proxy does not know stay (v${version}; N083, X9)`, async () => {
    const part = made({ prompt: ({ content }) => ({ content: [...content, text("Be brief.") as never] }) });
    const { client, agent, chain } = await opened([part], { version });
    const sent = {
      sessionId: "s",
      prompt: [{ type: "text", text: "hi", extra: { a: 1 } }],
      _meta: { trace: "t" },
      _more: [1],
    };
    client.request(1, "session/prompt", sent);
    const { params } = await agent.asked("session/prompt");
    assert.deepEqual(params, { ...sent, prompt: [...sent.prompt, text("Be brief.")] });
    await chain.close();
  });

  test(`prompt: answered in place of the agent, and refused (v${version})`, async () => {
    const part = made({
      prompt({ content }) {
        const [first] = content as readonly { text?: string }[];
        if (first?.text === "no") return refuse("not today");
        if (first?.text === "throw") throw refuse("not now");
        return answer({ stopReason: "refusal", say: "over budget" });
      },
    });
    const { client, agent, chain } = await opened([part], { version });
    client.request(1, "session/prompt", prompt("s", "no"));
    const { error } = await client.answered(1);
    assert.deepEqual(error, { code: -32600, message: "not today", data: { reason: "refused" } });
    client.request(2, "session/prompt", prompt("s", "throw"));
    assert.equal((await client.answered(2)).error?.message, "not now");
    const before = client.got.length;
    client.request(3, "session/prompt", prompt("s", "go"));
    const { result } = await client.answered(3);
    if (version === 1) assert.deepEqual(result, { stopReason: "refusal" });
    else {
      const idle = await client.next(
        ({ params }) => (params?.["update"] as { state?: string } | undefined)?.state === "idle",
      );
      assert.deepEqual(idle.params?.["update"], {
        sessionUpdate: "state_update",
        state: "idle",
        stopReason: "refusal",
      });
    }
    const kinds = client.got
      .slice(before)
      .map(
        ({ method, params }) => method && (params?.["update"] as SessionUpdate | undefined)?.sessionUpdate,
      );
    assert.deepEqual(
      kinds,
      version === 1
        ? ["agent_message_chunk", undefined]
        : [undefined, "user_message", "state_update", "agent_message_chunk", "state_update"],
    );
    assert.equal(
      agent.got.some(({ method }) => method === "session/prompt"),
      false,
    );
    await chain.close();
  });

  test(`update: looked at, changed with what is unknown of it, and dropped (v${version})`, async () => {
    const seen: string[] = [];
    const part = made({
      update(update) {
        seen.push(update.sessionUpdate);
        if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text")
          return undefined;
        if (update.content.text === "secret") return null;
        if (update.content.text === "same") return update;
        return { ...update, content: { ...update.content, text: update.content.text.toUpperCase() } };
      },
    });
    const { client, agent, chain } = await opened([part], { version });
    const chunk = (words: string) => ({
      sessionId: "s",
      update: {
        sessionUpdate: "agent_message_chunk",
        ...(version === 2 && { messageId: "m" }),
        content: { ...text(words), extra: 1 },
        _more: { b: [2] },
        _meta: { u: 1 },
      },
      _meta: { n: 1 },
      _top: true,
    });
    const before = client.got.length;
    for (const words of ["loud", "secret", "same"]) agent.notify("session/update", chunk(words));
    agent.notify("session/update", { sessionId: "s", update: { sessionUpdate: "_new_kind", data: 1 } });
    agent.notify("_acme/end", {});
    await client.asked("_acme/end");
    assert.deepEqual(
      client.got.slice(before, -1).map(({ params }) => params),
      [chunk("LOUD"), chunk("same"), { sessionId: "s", update: { sessionUpdate: "_new_kind", data: 1 } }],
    );
    assert.deepEqual(seen.slice(0, 3), Array(3).fill("agent_message_chunk"));
    await chain.close();
  });

  test(`permission: looked at, changed, answered and refused (v${version})`, async () => {
    const part = made({
      async permission({ options, ...ask }, session, { method }) {
        assert.equal(method, "session/request_permission");
        assert.equal(session.sessionId, "s");
        await undefined;
        const [first] = options;
        if (first?.name === "allow") return answer({ outcome: "selected", optionId: first.optionId });
        if (first?.name === "refuse") return refuse("no");
        if (first?.name === "change") return { ...ask, options: [{ ...first, name: "changed" }] };
        return undefined;
      },
    });
    const { client, agent, chain } = await opened([part], { version });
    const toolCall = { toolCallId: "t", title: "Delete everything", _x: 1 };
    const ask = (name: string) => ({
      sessionId: "s",
      ...(version === 1
        ? { toolCall }
        : { title: "Delete everything", subject: { type: "tool_call", toolCall } }),
      options: [{ optionId: "o", name, kind: "allow_once", _y: 2 }],
      _meta: { z: 3 },
    });
    agent.request(1, "session/request_permission", ask("allow"));
    assert.deepEqual((await agent.answered(1)).result, { outcome: { outcome: "selected", optionId: "o" } });
    agent.request(2, "session/request_permission", ask("refuse"));
    assert.equal((await agent.answered(2)).error?.message, "no");
    for (const name of ["change", "pass"]) {
      agent.request(name, "session/request_permission", ask(name));
      const question = await client.asked("session/request_permission");
      const expected = ask(name);
      if (name === "change")
        expected.options = [{ ...(expected.options[0] as object), name: "changed" } as never];
      assert.deepEqual(question.params, expected);
      client.answer(question, { outcome: { outcome: "cancelled" }, _meta: { more: 1 } });
      assert.deepEqual((await agent.answered(name)).result, {
        outcome: { outcome: "cancelled" },
        _meta: { more: 1 },
      });
    }
    await chain.close();
  });

  test(`elicitation: changed and answered (v${version})`, async () => {
    const part = made({
      elicitation(ask) {
        if (ask.message === "answer") return answer({ action: "accept", content: { name: "x" } });
        return { ...ask, message: `${ask.message}!` };
      },
    });
    const { client, agent, chain } = await opened([part], { version });
    const form = (message: string) => ({
      sessionId: "s",
      mode: "form",
      message,
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, _x: 1 },
      _y: 1,
    });
    agent.request(1, "elicitation/create", form("answer"));
    assert.deepEqual((await agent.answered(1)).result, { action: "accept", content: { name: "x" } });
    agent.request(2, "elicitation/create", form("who"));
    const question = await client.asked("elicitation/create");
    assert.deepEqual(question.params, { ...form("who"), message: "who!" });
    client.answer(question, { action: "decline" });
    assert.deepEqual((await agent.answered(2)).result, { action: "decline" });
    await chain.close();
  });

  test(`turnEnd: called once for each turn, with its result, for cancelled ones too (v${version})`, async () => {
    const ended: PromptResult[] = [];
    const part = made({ turnEnd: (result) => void ended.push(result) });
    const { client, agent, chain } = await opened([part], { version });
    client.request(1, "session/prompt", prompt("s", "go"));
    await turnOf(version, agent, ["a"]);
    client.request(2, "session/prompt", prompt("s", "go"));
    const ending = turnOf(version, agent, ["b"], {
      stopReason: "cancelled",
      until: () => agent.asked("session/cancel"),
    });
    await client.next((message) => brief(message) === "session/update b");
    client.notify("session/cancel", { sessionId: "s" });
    await ending;
    // an agent may also say so with an error
    client.request(3, "session/prompt", prompt("s", "go"));
    agent.send({
      jsonrpc: "2.0",
      id: (await agent.asked("session/prompt")).id,
      error: { code: -32800, message: "cancelled" },
    });
    await client.answered(3);
    agent.notify("_acme/end", {});
    await client.asked("_acme/end");
    assert.deepEqual(
      ended.map(({ stopReason }) => stopReason),
      ["end_turn", "cancelled", "cancelled"],
    );
    await chain.close();
  });

  test(`open: changed for every request that opens a session, answered, and what is unknown stays (v${version})`, async () => {
    const kinds: string[] = [];
    const part = made({
      open(setup) {
        kinds.push(setup.kind);
        if (setup.cwd === "/no") return refuse("not there");
        const server = { type: "stdio", name: "mine", command: "/bin/x", args: [], env: [] };
        return { ...setup, mcpServers: [...setup.mcpServers, server as never] };
      },
    });
    const { client, agent, chain } = await opened([part], { version });
    kinds.length = 0;
    const theirs = {
      name: "theirs",
      command: "/bin/y",
      args: ["a"],
      env: [],
      ...(version === 2 && { type: "stdio" }),
      _x: 1,
    };
    const params = { cwd: "/w", mcpServers: [theirs], _meta: { m: 1 }, _more: 1 };
    const methods =
      version === 1 ? ["session/new", "session/load", "session/resume"] : ["session/new", "session/resume"];
    for (const method of methods) {
      const given = { ...params, ...(method !== "session/new" && { sessionId: "old" }) };
      client.request(method, method, given);
      const asked = await agent.asked(method);
      const { mcpServers, ...rest } = asked.params as { mcpServers: { name: string }[] };
      const { mcpServers: _, ...expected } = given;
      assert.deepEqual(rest, expected);
      assert.deepEqual(mcpServers[0], theirs);
      assert.equal(mcpServers[1]?.name, "mine");
      agent.answer(asked, method === "session/new" ? { sessionId: "n" } : {});
      await client.answered(method);
    }
    client.request(9, "session/new", { ...params, cwd: "/no" });
    assert.equal((await client.answered(9)).error?.message, "not there");
    assert.deepEqual(kinds, [...methods.map((method) => method.split("/")[1]), "new"]);
    await chain.close();
  });
}

test("session: data of its own for each session, and say, update, notify and request", async () => {
  let answered: unknown;
  const part = made({
    session: ({ sessionId, edition }) => ({ sessionId, edition, prompts: 0 }),
    async prompt(_, session: ProxiedSession<{ sessionId: string; edition: string; prompts: number }>) {
      session.data.prompts += 1;
      assert.deepEqual(session.data, {
        sessionId: session.sessionId,
        edition: "v1",
        prompts: session.data.prompts,
      });
      session.say(`prompt ${session.data.prompts}`);
      session.update({ sessionUpdate: "session_info_update", title: "T" });
      session.notify("agent", "_acme/hint", { sessionId: session.sessionId });
      answered = await session.request("client", "_acme/ask", { n: 1 });
      await assert.rejects(session.request("client", "_acme/fails", {}), { name: "RequestError", code: 7 });
      return undefined;
    },
  });
  const { client, agent, chain } = await opened([part]);
  const before = client.got.length;
  client.request(1, "session/prompt", prompt("s", "go"));
  client.answer(await client.asked("_acme/ask"), { yes: true });
  const failing = await client.asked("_acme/fails");
  client.send({ jsonrpc: "2.0", id: failing.id, error: { code: 7, message: "no" } });
  agent.answer(await agent.asked("session/prompt"), { stopReason: "end_turn" });
  await client.answered(1);
  assert.deepEqual(answered, { yes: true });
  assert.equal(brief(client.got[before] as never), "session/update prompt 1");
  assert.equal((client.got[before + 1]?.params?.["update"] as { title?: string } | undefined)?.title, "T");
  assert.deepEqual(agent.got.at(-2)?.method, "_acme/hint");
  await chain.close();
});

test("the data of a session is forgotten when the session is closed, and not when that is refused", async () => {
  const counts: number[] = [];
  const part = made({
    session: () => ({ prompts: 0 }),
    prompt(_, { data }: ProxiedSession<{ prompts: number }>) {
      data.prompts += 1;
      counts.push(data.prompts);
    },
  });
  const { client, agent, chain } = await opened([part]);
  const close = async (id: string, answerTo: (asked: Wire) => object) => {
    client.request(id, "session/close", { sessionId: "s" });
    agent.send({ jsonrpc: "2.0", ...answerTo(await agent.asked("session/close")) });
    await client.answered(id);
  };
  const go = async (id: number) => {
    client.request(id, "session/prompt", prompt("s", "go"));
    agent.answer(await agent.asked("session/prompt"), { stopReason: "end_turn" });
    await client.answered(id);
  };
  await go(1);
  await close("refused", ({ id }) => ({ id, error: { code: 1, message: "busy" } }));
  await go(2);
  await close("done", ({ id }) => ({ id, result: {} }));
  await go(3);
  assert.deepEqual(counts, [1, 2, 1]);
  await chain.close();
});

test("messages and results see every method of both sides by its name, with the session", async () => {
  const seen: string[] = [];
  const part = made({
    session: () => "data",
    messages: {
      "_acme/ask": ({ from, kind, params }, session, call) => {
        seen.push(`${from} ${kind} ${session?.data} ${call?.method}`);
        const { n } = params as { n: number };
        if (n === 1) return { ...(params as object), n: 10 };
        if (n === 2) return answer({ mine: true });
        if (n === 3) return null;
        return undefined;
      },
      "_acme/tell": ({ kind }, _, call) => {
        seen.push(`${kind} ${call}`);
        return null;
      },
    },
    results: {
      "_acme/ask": (result, session, { from, params }) => {
        seen.push(`result for ${from} ${session?.data} ${JSON.stringify(params)}`);
        const { hide } = result as { hide?: boolean };
        return hide ? { hidden: true } : undefined;
      },
    },
  });
  const { client, agent, chain } = await opened([part]);
  client.request(1, "_acme/ask", { sessionId: "s", n: 1 });
  const asked = await agent.asked("_acme/ask");
  assert.deepEqual(asked.params, { sessionId: "s", n: 10 });
  agent.answer(asked, { hide: true, secret: 1 });
  assert.deepEqual((await client.answered(1)).result, { hidden: true });
  client.request(2, "_acme/ask", { sessionId: "s", n: 2 });
  assert.deepEqual((await client.answered(2)).result, { mine: true });
  client.request(3, "_acme/ask", { sessionId: "s", n: 3 });
  assert.deepEqual((await client.answered(3)).error, {
    code: -32600,
    message: "hooks dropped it",
    data: { reason: "refused" },
  });
  client.notify("_acme/tell", {});
  agent.request(4, "_acme/ask", { n: 4 });
  client.answer(await client.asked("_acme/ask"), { plain: 1 });
  assert.deepEqual((await agent.answered(4)).result, { plain: 1 });
  assert.deepEqual(seen, [
    "client request data _acme/ask",
    'result for client data {"sessionId":"s","n":10}',
    "client request data _acme/ask",
    "client request data _acme/ask",
    "notification undefined",
    "agent request undefined _acme/ask",
    'result for agent undefined {"n":4}',
  ]);
  assert.equal(
    agent.got.some(({ method }) => method === "_acme/tell"),
    false,
  );
  await chain.close();
});

test("initialize: a proxy edits one field of it and leaves the others, and capabilities on the way back (P4, P6, P7)", async () => {
  const order: string[] = [];
  const editing = (name: string) =>
    proxy({
      name,
      version: "1",
      messages: {
        initialize: ({ params }) => {
          order.push(`${name} in`);
          return {
            ...(params as object),
            _seenBy: [...((params as { _seenBy?: string[] })._seenBy ?? []), name],
          };
        },
      },
      results: {
        initialize(result) {
          order.push(`${name} out`);
          const { agentCapabilities, ...rest } = result as { agentCapabilities: { _by?: string[] } };
          return {
            ...rest,
            agentCapabilities: { ...agentCapabilities, _by: [...(agentCapabilities._by ?? []), name] },
          };
        },
      },
    });
  const { client, agent: starting, chain } = chained([editing("one"), editing("two")]);
  client.request(1, "initialize", { ...hello[1], _unknown: { deep: [null] } });
  const agent = await starting;
  const asked = await agent.asked("initialize");
  assert.deepEqual(asked.params, { ...hello[1], _unknown: { deep: [null] }, _seenBy: ["one", "two"] });
  agent.answer(asked, { ...introductions[1], _also: 1 });
  const { result } = await client.answered(1);
  assert.deepEqual(result, { ...introductions[1], agentCapabilities: { _by: ["two", "one"] }, _also: 1 });
  assert.deepEqual(order, ["one in", "two in", "two out", "one out"]);
  await chain.close();
});

test("two proxies give the agent an MCP server of the same name: both arrive (P30)", async () => {
  const giving = (url: string) =>
    made({
      open: (setup) => ({
        ...setup,
        mcpServers: [...setup.mcpServers, { type: "http", name: "tools", url, headers: [] } as never],
      }),
    });
  const { client, agent, chain } = await opened([
    giving("http://127.0.0.1:1/"),
    giving("http://127.0.0.1:2/"),
  ]);
  client.request(1, "session/new", { cwd: "/", mcpServers: [] });
  const { params } = await agent.asked("session/new");
  assert.deepEqual(
    (params?.["mcpServers"] as { url: string }[] | undefined)?.map(({ url }) => url),
    ["http://127.0.0.1:1/", "http://127.0.0.1:2/"],
  );
  await chain.close();
});

test("a hook that throws: open lets the message pass, closed refuses or drops it, and the log says so", async () => {
  for (const errors of ["open", "closed"] as const) {
    const { lines, log } = logged();
    const fail = () => {
      throw new Error("boom");
    };
    const part = made({
      prompt: fail,
      update: fail,
      permission: fail,
      messages: { "_acme/ask": fail },
      results: { "_acme/other": fail },
      errors,
    });
    const { client, agent, chain } = await opened([part], { options: { log } });
    client.request(1, "session/prompt", prompt("s", "go"));
    client.request(2, "_acme/ask", {});
    client.request(3, "_acme/other", {});
    agent.answer(await agent.asked("_acme/other"), { yes: 1 });
    agent.notify("session/update", said("s", "a"));
    agent.request(4, "session/request_permission", {
      sessionId: "s",
      toolCall: { toolCallId: "t" },
      options: [],
    });
    agent.notify("_acme/end", {});
    if (errors === "open") {
      agent.answer(await agent.asked("session/prompt"), { stopReason: "end_turn" });
      agent.answer(await agent.asked("_acme/ask"), {});
      client.answer(await client.asked("session/request_permission"), { outcome: { outcome: "cancelled" } });
      await agent.answered(4);
      await client.asked("session/update");
      for (const id of [1, 2, 3]) assert.equal((await client.answered(id)).error, undefined);
    } else {
      for (const id of [1, 2, 3]) {
        const { error } = await client.answered(id);
        assert.equal(error?.code, -32603);
        assert.match(error?.message ?? "", /^hooks failed, and lets nothing pass/);
      }
      assert.equal((await agent.answered(4)).error?.code, -32603);
      await client.asked("_acme/end");
      assert.equal(
        client.got.some(({ method }) => method === "session/update"),
        false,
      );
    }
    assert.ok(lines.filter((line) => line === "error: a hook of hooks failed").length >= 5, lines.join("\n"));
    await chain.close();
  }
});

test("what nobody looks at passes as it was written", async () => {
  const part = made({ prompt: () => undefined, messages: { "_acme/other": () => undefined } });
  const { client, agent, chain } = await opened([part]);
  client.sendText(
    '{ "jsonrpc":"2.0", "method":"_acme/n", "params":{"big":12345678901234567890,"a":1.0,"\\u0061":2} }',
  );
  await agent.asked("_acme/n");
  assert.equal(
    agent.texts.at(-1),
    '{ "jsonrpc":"2.0", "method":"_acme/n", "params":{"big":12345678901234567890,"a":1.0,"\\u0061":2} }',
  );
  await chain.close();
});

test("a definition that is wrong is refused with the reason", () => {
  for (const [definition, words] of [
    [{ name: "", version: "1" }, /name must be a string that is not empty/],
    [{ name: "x", version: "1", prompts: () => undefined }, /prompts/],
    [{ name: "x", version: "1", prompt: "no" }, /prompt must be a function/],
    [{ name: "x", version: "1", errors: "ajar" }, /errors must be "open" or "closed"/],
    [
      { name: "x", version: "1", messages: { "session/prompt": 1 } },
      /messages\["session\/prompt"\] must be a function/,
    ],
    [{ name: "x", version: "1", results: [] }, /results must be an object of functions/],
    [{ name: "x", version: "1", policy: "yes" }, /policy must be true/],
  ] as const) {
    assert.throws(() => proxy(definition as never), { name: "TypeError", message: words });
  }
});

test("opened: called with the session, or with the error of an agent that refused (P28)", async () => {
  const told: unknown[] = [];
  const part = made({
    open: (setup) => ({ ...setup, cwd: `${setup.cwd}/in` }),
    opened: ({ kind, cwd }, session, error) =>
      void told.push([kind, cwd, session?.sessionId, error?.message]),
  });
  const { client, agent, chain } = await opened([part]);
  client.request(1, "session/new", { cwd: "/no", mcpServers: [] });
  const { id } = await agent.asked("session/new");
  agent.send({ jsonrpc: "2.0", id, error: { code: -32_000, message: "log in first" } });
  await client.answered(1);
  client.request(2, "session/load", { sessionId: "old", cwd: "/old", mcpServers: [] });
  agent.answer(await agent.asked("session/load"), {});
  await client.answered(2);
  assert.deepEqual(told, [
    ["new", "//in", "s", undefined],
    ["new", "/no/in", undefined, "log in first"],
    ["load", "/old/in", "old", undefined],
  ]);
  await chain.close();
});
