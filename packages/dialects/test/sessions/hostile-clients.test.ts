// Clients that break the rules of a dialect: nothing hangs, nothing crashes, and the connection stays usable.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type AgentDefinition, agent } from "@parley/acp";
import { relay } from "@parley/acp/relay";
import { memoryPair } from "@parley/acp/transport";
import { editionNamed } from "@parley/dialects";
import { type Message, RawPeer } from "../../../acp/test/support/raw-peer-probe.ts";
import {
  type Dialect,
  damaged,
  dialects,
  json,
  limit,
  text,
  wrongValues,
} from "../support/damaged-messages.ts";

const hello = {
  pharo: {
    protocolVersion: 1,
    clientCapabilities: {
      fs: { readTextFile: true, writeTextFile: true },
      terminal: { create: true, output: true, waitForExit: true, kill: true, release: true },
    },
  },
  scoped: {
    protocolVersion: 1,
    clientInfo: { name: "c", version: "1" },
    capabilities: {
      fs: { read: true, write: true },
      terminal: { create: true },
      ui: { permissionDialogs: true, diffViewer: true },
    },
  },
};
const opening = { pharo: { cwd: "/w", mcpServers: [] }, scoped: { workingDirectory: "/w" } };
const promptOf = (dialect: Dialect, sessionId: string): object =>
  dialect === "pharo" ? { sessionId, prompt: text } : { sessionId, content: text };

const mode = {
  configId: "mode",
  name: "Mode",
  category: "mode",
  type: "select",
  currentValue: "ask",
  options: [
    { value: "ask", name: "Ask" },
    { value: "code", name: "Code" },
  ],
} as const;
const verbose = { configId: "verbose", name: "Verbose", type: "boolean", currentValue: false } as const;

/** An agent of ours with a client by hand; `behind` a relay the agent speaks version 1. */
async function agentWith(
  dialect: Dialect,
  behind: "relay" | "direct",
  definition: Partial<AgentDefinition> = {},
) {
  const [near, far] = memoryPair();
  const editions = [behind === "relay" ? "v1" : editionNamed(dialect)] as const;
  const served = agent({
    name: "a",
    version: "1",
    editions,
    auth: { methods: [{ type: "agent", methodId: "api_key", name: "Key" }], login: () => undefined },
    session: { open: (session) => session.setConfigOptions([mode, verbose]) },
    prompt: (turn) => turn.say("alive").then(() => undefined),
    ...definition,
  });
  if (behind === "relay") {
    const [agentSide, other] = memoryPair();
    served.connect(other);
    relay(far, agentSide, { as: editionNamed(dialect), agentEdition: "v1" });
  } else served.connect(far);
  const peer = new RawPeer(near);
  await peer.ask(1, "initialize", hello[dialect]);
  const { result } = await peer.ask(2, "session/new", opening[dialect]);
  const { sessionId } = result as { sessionId: string };
  let id = 1_000_000;
  const alive = async (): Promise<void> => {
    const answer = await peer.ask(++id, "session/prompt", promptOf(dialect, sessionId));
    assert.equal((answer["result"] as Message)["stopReason"], "end_turn");
  };
  return { peer, sessionId, alive };
}

/** Requests of a client that are right. */
const requests = (dialect: Dialect, sessionId: string): readonly (readonly [string, object])[] =>
  dialect === "pharo"
    ? [
        ["initialize", hello.pharo],
        ["authenticate", { methodId: "api_key", credentials: { apiKey: "k" } }],
        [
          "session/new",
          { cwd: "/w", mcpServers: [{ transport: "stdio", command: "x", args: ["a"], env: { A: "1" } }] },
        ],
        ["session/load", { sessionId: "none", mcpServers: [] }],
        ["session/prompt", promptOf(dialect, sessionId)],
        ["session/set_mode", { sessionId, modeId: "code" }],
        ["session/set_config_option", { sessionId, option: "verbose", value: true }],
      ]
    : [
        ["initialize", hello.scoped],
        ["authenticate", { method: "api_key", credentials: { apiKey: "k" } }],
        [
          "session/new",
          {
            workingDirectory: "/w",
            mcpServers: [{ name: "x", transport: { type: "stdio", command: "x", env: { A: "1" } } }],
            systemPrompt: "Be brief.",
            initialMode: "code",
            configOptions: { verbose: true },
          },
        ],
        ["session/load", { sessionId: "none" }],
        ["session/prompt", { ...promptOf(dialect, sessionId), attachments: [{ uri: "file:///a" }] }],
        ["session/set_mode", { sessionId, mode: "code" }],
        ["session/set_config_option", { sessionId, key: "verbose", value: true }],
        ["terminal/output", { terminalId: "t", data: "x", stream: "stdout" }],
      ];

for (const dialect of dialects) {
  for (const behind of ["direct", "relay"] as const) {
    test(
      `damaged requests of a client of ${dialect} are answered, each once (${behind})`,
      limit,
      async () => {
        const { peer, sessionId, alive } = await agentWith(dialect, behind);
        let id = 10;
        for (const [method, params] of requests(dialect, sessionId)) {
          const sent: number[] = [];
          for (const each of [...damaged(params), ...wrongValues]) {
            peer.send({ jsonrpc: "2.0", id: ++id, method, params: each });
            sent.push(id);
          }
          await Promise.all(sent.map((each) => peer.until((message) => message["id"] === each)));
          // and as notifications, which nobody answers
          for (const each of wrongValues) peer.send({ jsonrpc: "2.0", method, params: each });
        }
        await alive();
        const answers = peer.got
          .filter((message) => message["method"] === undefined)
          .map((each) => each["id"]);
        const numbers = answers.filter((each) => each !== null);
        assert.equal(new Set(numbers).size, numbers.length, "no request is answered twice");
        assert.equal(({} as Record<string, unknown>)["a"], undefined, "no prototype is changed");
      },
    );

    test(
      `a client of ${dialect} that sends nonsense does not end the connection (${behind})`,
      limit,
      async () => {
        const { peer, alive } = await agentWith(dialect, behind);
        const nonsense: object[] = [
          { id: 900, result: {} },
          { id: "parley:1", result: { outcome: 1 } },
          { id: "parley:1", error: { code: 1, message: "x" } },
          { id: null, result: null },
          { id: 901, result: {}, error: { code: 1, message: "both" } },
          { id: 902 },
          { method: "session/cancel", params: { sessionId: "nobody" } },
          { method: "session/update", params: {} },
          { method: "no/such/method", params: [] },
          { method: "_vendor/thing" },
          { method: "$/cancel_request", params: { requestId: 12345 } },
        ];
        for (const each of nonsense) peer.send({ jsonrpc: "2.0", ...each });
        const unknown = await peer.ask(903, "no/such/method", {});
        assert.equal((unknown["error"] as { code: number }).code, -32601);
        peer.send([] as unknown as object);
        peer.send([1, { jsonrpc: "2.0", id: 904, method: "no/such" }] as unknown as object);
        await alive();
      },
    );

    test(
      `two requests of a client of ${dialect} with one id: the first is answered (${behind})`,
      limit,
      async () => {
        const go = Promise.withResolvers<void>();
        const prompt: AgentDefinition["prompt"] = async () => {
          await go.promise;
          return undefined;
        };
        const { peer, sessionId, alive } = await agentWith(dialect, behind, { prompt });
        const params = promptOf(dialect, sessionId);
        peer.send({ jsonrpc: "2.0", id: 50, method: "session/prompt", params });
        peer.send({ jsonrpc: "2.0", id: 50, method: "session/prompt", params });
        await peer.until(({ id, error }) => (id === null || id === 50) && error !== undefined);
        go.resolve();
        await peer.until(({ id, result }) => id === 50 && result !== undefined);
        await alive();
      },
    );
  }

  test(
    `a question answered twice by a client of ${dialect} counts once, by its first answer`,
    limit,
    async () => {
      const outcomes: unknown[] = [];
      const options = [
        { optionId: "y", name: "Yes", kind: "allow_once" as const },
        { optionId: "n", name: "No", kind: "reject_once" as const },
      ];
      const { peer, alive } = await agentWith(dialect, "direct", {
        prompt: async (turn) =>
          void outcomes.push((await turn.requestPermission({ title: "Go on?", options }))?.optionId),
      });
      const answers =
        dialect === "pharo"
          ? [{ selectedOptionId: "y" }, { selectedOptionId: "n" }]
          : [{ granted: true }, { granted: false }];
      const turn = alive();
      const question = await peer.until(({ method }) => method === "session/request_permission");
      for (const answer of answers) peer.answer(question, answer);
      await turn;
      const late = alive();
      const next = await peer.until(
        ({ id, method }) => method === "session/request_permission" && id !== question["id"],
      );
      peer.answer(question, answers[0]);
      peer.answer(next, answers[1]);
      await late;
      assert.deepEqual(outcomes, ["y", undefined]);
    },
  );

  test(`prototype names in maps of a client of ${dialect} are plain names`, limit, async () => {
    const seen: unknown[] = [];
    const { peer, sessionId } = await agentWith(dialect, "direct", {
      auth: {
        methods: [{ type: "agent", methodId: "api_key", name: "Key" }],
        login: (_methodId, { credentials }) => void seen.push(JSON.stringify(credentials)),
      },
      session: {
        open: (session) => {
          session.setConfigOptions([mode, verbose]);
          for (const server of session.mcpServers)
            seen.push(JSON.stringify("env" in server ? server.env : undefined));
        },
      },
    });
    seen.length = 0;
    const map = '{"__proto__":"p","constructor":"c","A":"1"}';
    const credentials = json(map);
    const env = json(map);
    const login =
      dialect === "pharo" ? { methodId: "api_key", credentials } : { method: "api_key", credentials };
    await peer.ask(60, "authenticate", login);
    const server =
      dialect === "pharo"
        ? { transport: "stdio", command: "/x", args: [], env }
        : { name: "x", transport: { type: "stdio", command: "/x", env } };
    await peer.ask(61, "session/new", { ...opening[dialect], mcpServers: [server] });
    assert.equal(seen[0], map);
    assert.match(String(seen[1]), /__proto__.*"p".*constructor/);
    for (const name of ["__proto__", "constructor", "toString"]) {
      const named = dialect === "pharo" ? { option: name } : { key: name };
      const { error } = await peer.ask(70, "session/set_config_option", { sessionId, ...named, value: 1 });
      assert.equal((error as { code: number }).code, -32602, name);
    }
    if (dialect === "scoped") {
      const configOptions = json('{"__proto__":{"polluted":true}}');
      const { error } = await peer.ask(71, "session/new", { workingDirectory: "/w", configOptions });
      assert.notEqual(error, undefined);
    }
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  });
}

test(
  "a flood of output for terminals that are not there is taken or refused, and nothing is kept (scoped)",
  limit,
  async () => {
    let output = "";
    const { peer, alive } = await agentWith("scoped", "direct", {
      async prompt(turn) {
        const terminal = await turn.client.terminals?.create({ command: "make" });
        await terminal?.waitForExit();
        output = (await terminal?.output())?.output ?? "";
        await terminal?.release();
      },
    });
    const push = (id: number | undefined, terminalId: string, data: string) =>
      peer.send({
        jsonrpc: "2.0",
        ...(id === undefined ? {} : { id }),
        method: "terminal/output",
        params: { terminalId, data },
      });
    for (let n = 0; n < 2_000; n++) push(n % 2 === 0 ? 2_000 + n : undefined, `t${n % 50}`, "x".repeat(100));
    const refused = await peer.until(({ id }) => id === 2_000);
    assert.deepEqual(refused["result"], { received: false });
    const turn = alive();
    const create = await peer.until(({ method }) => method === "terminal/create");
    peer.answer(create, { terminalId: "live" });
    const wait = await peer.until(({ method }) => method === "terminal/wait_for_exit");
    for (let n = 0; n < 40; n++) push(undefined, "live", String(n % 10).repeat(64 * 1024));
    push(undefined, "other", "not of this terminal");
    peer.answer(wait, { exitCode: 0 });
    peer.answer(await peer.until(({ method }) => method === "terminal/release"), { released: true });
    await turn;
    assert.ok(output.length <= 1024 * 1024, `${output.length}`);
    assert.match(output, /^[0-9]+$/);
    assert.ok(output.endsWith("9"));
  },
);
