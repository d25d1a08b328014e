// Rules that both dialects share, with a peer whose messages the test writes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, type ClientDefinition, client, RequestError, type Turn } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { editionNamed } from "@parley/dialects";
import { type Message, RawPeer } from "../../../acp/test/support/raw-peer-probe.ts";
import { type Dialect, dialects, limit } from "../support/damaged-messages.ts";

type Files = NonNullable<ClientDefinition["files"]>;

const welcome = (dialect: Dialect, protocolVersion = 1): object =>
  dialect === "pharo"
    ? { protocolVersion, agentCapabilities: {}, authenticationMethods: [] }
    : { protocolVersion, agentInfo: { name: "a", version: "1" }, capabilities: {} };

const hello = (dialect: Dialect): object =>
  dialect === "pharo"
    ? { protocolVersion: 1, clientInfo: { name: "c", version: "1" }, clientCapabilities: {} }
    : { protocolVersion: 1, clientInfo: { name: "c", version: "1" }, capabilities: {} };

/** A client with a file service, in a turn with an agent by hand. */
async function inTurn(dialect: Dialect, files: Files) {
  const [near, far] = memoryPair();
  const peer = new RawPeer(far, (message, self) => {
    if (message["method"] === "initialize") self.answer(message, welcome(dialect));
    if (message["method"] === "session/new")
      self.answer(message, { sessionId: "s", createdAt: "2026-02-04T10:30:00Z" });
  });
  const connection = await client({
    name: "c",
    version: "1",
    editions: [editionNamed(dialect)],
    files,
  }).connect(near);
  const session = await connection.newSession({ cwd: "/w" });
  const turn = session.prompt("hi");
  const prompt = await peer.until(({ method }) => method === "session/prompt");
  const end = async (): Promise<void> => {
    peer.answer(prompt, { stopReason: "end_turn" });
    await turn;
    await connection.close();
  };
  return { peer, end };
}

const codeOf = ({ error }: Message): number | undefined => (error as { code?: number } | undefined)?.code;

for (const dialect of dialects) {
  test(`${dialect}: the first line of a file is 1`, limit, async () => {
    const { peer, end } = await inTurn(dialect, { readText: async () => "text" });
    const params = { path: "/w/a", ...(dialect === "pharo" ? { sessionId: "s" } : {}) };
    const refused = await peer.ask(70, "fs/read_text_file", { ...params, startLine: 0 });
    assert.equal(codeOf(refused), -32602);
    assert.equal(codeOf(await peer.ask(71, "fs/read_text_file", { ...params, startLine: 1 })), undefined);
    await end();
  });

  for (const version of [0, 2, 7]) {
    test(`${dialect}: a client leaves an agent that answers version ${version} (Q3)`, limit, async () => {
      const [near, far] = memoryPair();
      const peer = new RawPeer(far, (message, self) => self.answer(message, welcome(dialect, version)));
      const connecting = client({ name: "c", version: "1", editions: [editionNamed(dialect)] }).connect(near);
      await assert.rejects(
        connecting,
        new RegExp(`the agent answered with version ${version} of the protocol, this client speaks 1`),
      );
      await peer.ended.promise;
    });
  }

  for (const [what, text] of Object.entries({
    "a method that is a number": '{"jsonrpc":"2.0","id":78,"method":5}',
    "a method that is null": '{"jsonrpc":"2.0","id":78,"method":null}',
    "params and no method": '{"jsonrpc":"2.0","id":78,"params":{}}',
    "an id that is an object": '{"jsonrpc":"2.0","id":{},"method":"session/prompt"}',
  })) {
    test(`${dialect}: ${what} is an invalid request, alone and in a batch`, limit, async () => {
      const [near, far] = memoryPair();
      const logged: unknown[] = [];
      agent({
        name: "a",
        version: "1",
        editions: [editionNamed(dialect)],
        prompt: () => undefined,
        log: (level, message, details) => void (level === "debug" || logged.push([message, details])),
      }).connect(far);
      const peer = new RawPeer(near);
      await peer.ask(1, "initialize", hello(dialect));
      peer.send({}, text);
      const isRefusal = ({ id, error }: Message): boolean =>
        id === null && (error as { code?: number } | undefined)?.code === -32600;
      await peer.until(isRefusal);
      peer.send([], `[${text}]`);
      await peer.until((message) => Array.isArray(message) && isRefusal(message[0]));
      assert.doesNotMatch(JSON.stringify(logged), /could not be translated/);
      await peer.close();
    });
  }
}

test("scoped: an agent that wants no directories made gets none made (5.2.3)", limit, async () => {
  const asked: unknown[] = [];
  const { peer, end } = await inTurn("scoped", {
    readText: () => Promise.reject(new RequestError("not_found", "no")),
    writeText: async (_path, _content, options) => void asked.push(options?.createDirectories),
  });
  const params = { path: "/w/a/b", content: "x" };
  await peer.ask(70, "fs/write_text_file", { ...params, createDirectories: false });
  await peer.ask(71, "fs/write_text_file", params);
  assert.deepEqual(asked, [false, undefined]);
  await end();
});

test("pharo: an announced call has a list of contents", limit, async () => {
  const [near, far] = memoryPair();
  const doIt = async (turn: Turn): Promise<void> => {
    await turn.tool({ title: "Do it", kind: "other" }, async () => undefined);
  };
  agent({ name: "a", version: "1", editions: [editionNamed("pharo")], prompt: doIt }).connect(far);
  const peer = new RawPeer(near);
  await peer.ask(1, "initialize", hello("pharo"));
  const { result } = await peer.ask(2, "session/new", { cwd: "/w" });
  const { sessionId } = result as { sessionId: string };
  await peer.ask(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
  const announced = peer.texts.find((text) => text.includes('"tool_call"'));
  assert.match(announced ?? "", /"content":\[\]/);
  await peer.close();
});

test("scoped: autoApprove is on or off, and the client that sets it is its source (7.9)", limit, async () => {
  const [near, far] = memoryPair();
  const set: unknown[] = [];
  const option = {
    configId: "autoApprove",
    name: "Auto",
    type: "select" as const,
    options: ["off", "reads", "edits"].map((value) => ({ value, name: value })),
  };
  agent({
    name: "a",
    version: "1",
    editions: [editionNamed("scoped")],
    session: {
      open: (session) => session.setConfigOptions([{ ...option, currentValue: "reads" }]),
      setConfigOption: (session, _id, value) => {
        set.push(value);
        session.setConfigOptions([{ ...option, currentValue: String(value) }]);
      },
    },
    prompt: () => undefined,
  }).connect(far);
  const peer = new RawPeer(near);
  await peer.ask(1, "initialize", hello("scoped"));
  const { result } = await peer.ask(2, "session/new", { workingDirectory: "/w" });
  const { sessionId } = result as { sessionId: string };
  const choose = (id: number, value: unknown) =>
    peer.ask(id, "session/set_config_option", { sessionId, key: "autoApprove", value });
  const [on, off] = [await choose(3, true), await choose(4, false)];
  assert.deepEqual(on.result, { key: "autoApprove", currentValue: true, previousValue: false });
  assert.deepEqual(off.result, { key: "autoApprove", currentValue: false, previousValue: true });
  assert.deepEqual(set, ["edits", "off"]);
  const told = peer.got.flatMap(({ params }) => (params as { data?: object } | undefined)?.data ?? []);
  assert.deepEqual(told.slice(1), [
    { key: "autoApprove", currentValue: true, previousValue: false, source: "user" },
    { key: "autoApprove", currentValue: false, previousValue: true, source: "user" },
  ]);
  await peer.close();
});

test("the dialects' own words are in their errors", limit, async () => {
  const mode = {
    configId: "mode",
    name: "Mode",
    category: "mode" as const,
    type: "select" as const,
    currentValue: "ask",
    options: ["ask", "architect"].map((value) => ({ value, name: value })),
  };
  for (const dialect of dialects) {
    const [near, far] = memoryPair();
    agent({
      name: "a",
      version: "1",
      editions: [editionNamed(dialect)],
      session: { open: (session) => session.setConfigOptions([mode]), setConfigOption: () => undefined },
      prompt: () => undefined,
    }).connect(far);
    const peer = new RawPeer(near);
    await peer.ask(1, "initialize", hello(dialect));
    const place = dialect === "pharo" ? { cwd: "/w" } : { workingDirectory: "/w" };
    const { result } = await peer.ask(2, "session/new", place);
    const { sessionId } = result as { sessionId: string };
    const isPharo = dialect === "pharo";
    const refused = [
      await peer.ask(3, "session/set_mode", { sessionId, [isPharo ? "modeId" : "mode"]: "nope" }),
      await peer.ask(4, "session/set_config_option", {
        sessionId,
        [isPharo ? "option" : "key"]: "nope",
        value: "x",
      }),
      await peer.ask(5, "session/load", { sessionId: "nope" }),
    ];
    const [wrongMode, wrongOption, noSession] = refused.map(
      ({ error }) => error as { message: string; data: { path?: string } },
    );
    assert.equal(wrongMode?.data.path, isPharo ? "/modeId" : "/mode");
    assert.equal(wrongOption?.data.path, isPharo ? "/option" : "/key");
    assert.doesNotMatch(noSession?.message ?? "", /session\/list/);
    if (!isPharo)
      assert.match(
        wrongMode?.message ?? "",
        /params\/mode must be one of: default, plan, architect, got "nope"/,
      );
    await peer.close();
  }
});

test(
  "scoped: an MCP server over ACP is refused without naming what a client cannot enable",
  limit,
  async () => {
    const [near, far] = memoryPair();
    agent({ name: "a", version: "1", editions: [editionNamed("scoped")], prompt: () => undefined }).connect(
      far,
    );
    const peer = new RawPeer(near);
    await peer.ask(1, "initialize", hello("scoped"));
    const transport = { type: "acp", agentUrl: "acp://a", mcpServerName: "b" };
    const params = { workingDirectory: "/w", mcpServers: [{ name: "x", transport }] };
    const { error } = await peer.ask(2, "session/new", params);
    const { message, data } = error as { message: string; data: { path: string } };
    assert.equal(data.path, "/mcpServers/0/transport/type");
    assert.doesNotMatch(message, /unstable/);
    await peer.close();
  },
);
