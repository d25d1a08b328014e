// Agents that break the rules of a dialect: nothing hangs, nothing crashes, and the connection stays usable.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type ClientDefinition, client } from "@parley/acp";
import type { TerminalHandle } from "@parley/acp/model";
import { relay } from "@parley/acp/relay";
import { memoryPair } from "@parley/acp/transport";
import { editionNamed } from "@parley/dialects";
import { type Message, RawPeer } from "../../../acp/test/support/raw-peer-probe.ts";
import { type Dialect, damaged, dialects, limit, text, wrongValues } from "../support/damaged-messages.ts";

/** A client of ours with an agent by hand, in a turn of each of its sessions; behind a relay the client speaks version 1. */
async function clientWith(
  dialect: Dialect,
  sessions: number,
  definition: Partial<ClientDefinition> = {},
  { takesOutput = true, behind = "direct" }: { takesOutput?: boolean; behind?: "relay" | "direct" } = {},
) {
  const [near, between] = memoryPair();
  const [agentSide, far] = behind === "relay" ? memoryPair() : [undefined, between];
  if (agentSide !== undefined) relay(between, agentSide, { as: "v1", agentEdition: editionNamed(dialect) });
  const ids: string[] = [];
  const welcome =
    dialect === "pharo"
      ? { protocolVersion: 1, agentCapabilities: {}, authenticationMethods: [] }
      : {
          protocolVersion: 1,
          agentInfo: { name: "a", version: "1" },
          capabilities: { promptCapabilities: { streaming: true, cancellation: true } },
        };
  const prompts: Message[] = [];
  const peer = new RawPeer(far, (message, self) => {
    if (message["method"] === "initialize") self.answer(message, welcome);
    if (message["method"] === "session/new") {
      ids.push(`s${ids.length}`);
      self.answer(message, { sessionId: ids.at(-1), createdAt: "2026-02-04T10:30:00Z" });
    }
    if (message["method"] === "session/prompt") prompts.push(message);
    if (message["method"] === "terminal/output" && takesOutput) self.answer(message, { received: true });
  });
  const connection = await client({
    name: "c",
    version: "1",
    editions: [behind === "relay" ? "v1" : editionNamed(dialect)],
    files: {
      readText: async (path) => `text of ${path}`,
      writeText: async () => undefined,
    },
    terminals: { create: async () => fakeTerminal() },
    requestPermission: ({ options }) => options[0]?.optionId,
    ...definition,
  }).connect(near);
  const opened = await Promise.all(
    Array.from({ length: sessions }, () => connection.newSession({ cwd: "/w" })),
  );
  const turns = opened.map((session) => session.prompt("hi"));
  await peer.until(() => prompts.length === sessions);
  /** Ends all turns, and has one more in each session. */
  const alive = async (): Promise<void> => {
    const end = () => {
      for (const prompt of prompts.splice(0)) peer.answer(prompt, { stopReason: "end_turn" });
    };
    end();
    for (const turn of turns) assert.equal((await turn).stopReason, "end_turn");
    for (const session of opened) {
      const turn = session.prompt("again");
      await peer.until(() => prompts.length > 0);
      end();
      assert.equal((await turn).stopReason, "end_turn");
    }
    await connection.close();
  };
  return { peer, alive, opened };
}

let terminals = 0;
function fakeTerminal(): TerminalHandle {
  const exited = Promise.withResolvers<{ exitCode: number }>();
  const end = async () => exited.resolve({ exitCode: 0 });
  return {
    terminalId: `t${++terminals}`,
    output: async () => ({ output: "out", truncated: false }),
    onOutput(listener) {
      listener({ data: "out" });
      return () => undefined;
    },
    waitForExit: () => exited.promise,
    kill: end,
    release: end,
  };
}

/** Messages of an agent that are right. */
const agentMessages = (dialect: Dialect): readonly (readonly [string, object])[] => {
  const own = dialect === "pharo" ? { sessionId: "s0" } : {};
  const range =
    dialect === "pharo" ? { startLine: 1, lineLimit: 2 } : { startLine: 1, endLine: 2, encoding: "utf-8" };
  const updates =
    dialect === "pharo"
      ? [
          { type: "message", role: "agent", content: text },
          {
            type: "tool_call",
            toolCallId: "c",
            title: "T",
            kind: "edit",
            status: "pending",
            location: { path: "/w/a", line: 1 },
          },
          {
            type: "tool_call_update",
            toolCallId: "c",
            status: "completed",
            content: [{ type: "diff", path: "/w/a", oldText: "", newText: "x" }],
          },
          { type: "plan", entries: [{ content: "x", priority: "high", status: "pending" }] },
          { type: "available_commands_update", availableCommands: [{ name: "x", description: "y" }] },
          { type: "current_mode_update", modeId: "code" },
        ].map((update) => ({ sessionId: "s0", update }))
      : [
          { type: "agent_message_chunk", data: { content: "x", index: 0, final: true } },
          { type: "thought_message_chunk", data: { content: "x", visible: false } },
          {
            type: "tool_call",
            data: {
              id: "c",
              tool: "fs/read_text_file",
              input: { path: "/w/a" },
              status: "pending",
              location: { path: "/w/a", line: 1, column: 2 },
            },
          },
          {
            type: "tool_call_update",
            data: {
              id: "c",
              status: "completed",
              duration: 3,
              output: {
                type: "diff",
                path: "/w/a",
                hunks: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, content: "-a\n+b" }],
              },
            },
          },
          { type: "plan", data: { planId: "p", steps: [{ id: "1", description: "x", status: "pending" }] } },
          { type: "available_commands", data: { commands: [{ name: "x", description: "y" }] } },
          { type: "current_mode_update", data: { previousMode: "ask", currentMode: "code" } },
          {
            type: "config_option_update",
            data: { key: "__proto__", previousValue: 1, currentValue: { a: 1 }, source: "agent" },
          },
        ].map((update) => ({ sessionId: "s0", timestamp: "2026-02-04T10:30:00Z", ...update }));
  const question =
    dialect === "pharo"
      ? {
          sessionId: "s0",
          title: "T",
          description: "D",
          options: [{ optionId: "y", kind: "allow_once", label: "Yes" }],
        }
      : { sessionId: "s0", operation: "file_write", resource: "/w/a", reason: "r", toolCallId: "c" };
  return [
    ...updates.map((update) => ["session/update", update] as const),
    ["session/request_permission", question],
    ["fs/read_text_file", { ...own, path: "/w/a", ...range }],
    [
      "fs/write_text_file",
      { ...own, path: "/w/a", content: "x", ...(dialect === "scoped" ? { overwrite: false } : {}) },
    ],
    ["terminal/create", { ...own, command: "x", args: ["a"], env: { A: "1" }, cwd: "/w" }],
    ["terminal/wait_for_exit", { ...own, terminalId: "none", timeout: 5 }],
    ["terminal/output", { ...own, terminalId: "none" }],
    ["terminal/kill", { ...own, terminalId: "none" }],
    ["terminal/release", { ...own, terminalId: "none" }],
  ];
};

for (const dialect of dialects) {
  for (const behind of ["direct", "relay"] as const) {
    test(
      `damaged messages of an agent of ${dialect} are answered, each once, and the turn goes on (${behind})`,
      limit,
      async () => {
        const { peer, alive } = await clientWith(dialect, 1, {}, { behind });
        let id = 100;
        for (const [method, params] of agentMessages(dialect)) {
          const sent: number[] = [];
          for (const each of [params, ...damaged(params), ...wrongValues]) {
            const isUpdate = method === "session/update";
            peer.send({ jsonrpc: "2.0", ...(isUpdate ? {} : { id: ++id }), method, params: each });
            if (!isUpdate) sent.push(id);
          }
          const isAnswer = (each: number) => (message: Message) =>
            message["id"] === each && message["method"] === undefined;
          await Promise.all(sent.map((each) => peer.until(isAnswer(each))));
        }
        const answers = peer.got.filter(({ id: each, method }) => each !== null && method === undefined);
        assert.equal(
          answers.length,
          new Set(answers.map((each) => each["id"])).size,
          "none is answered twice",
        );
        await alive();
        assert.equal(({} as Record<string, unknown>)["a"], undefined, "no prototype is changed");
      },
    );
  }

  test(
    `an agent of ${dialect} with hundreds of terminals gets them, and all end with the connection`,
    limit,
    async () => {
      let open = 0;
      const { peer, alive } = await clientWith(dialect, 1, {
        terminals: {
          async create() {
            open += 1;
            const terminal = fakeTerminal();
            const release = async () => {
              open -= 1;
            };
            return { ...terminal, release };
          },
        },
      });
      const own = dialect === "pharo" ? { sessionId: "s0" } : {};
      const answers = await Promise.all(
        Array.from({ length: 300 }, (_, n) => peer.ask(100 + n, "terminal/create", { ...own, command: "x" })),
      );
      const made = answers.filter(({ result }) => result !== undefined).length;
      assert.equal(open, made);
      assert.ok(made > 0);
      await alive();
      assert.equal(open, 0);
    },
  );
}

test(
  "with two turns at once a call without a session is refused with a sentence, and both turns go on (scoped)",
  limit,
  async () => {
    const { peer, alive } = await clientWith("scoped", 2);
    for (const [at, [method, params]] of agentMessages("scoped")
      .filter(([each]) => /^fs|create/.test(each))
      .entries()) {
      const { error } = await peer.ask(100 + at, method, params);
      assert.match((error as { message: string }).message, /2 turns|several|one turn/);
    }
    await alive();
  },
);

test("without a turn a call without a session is refused too (scoped)", limit, async () => {
  const { peer, alive } = await clientWith("scoped", 0);
  const { error } = await peer.ask(100, "fs/read_text_file", { path: "/w/a" });
  assert.match((error as { message: string }).message, /turn/);
  await alive();
});

test(
  "an agent that never takes pushed output still ends its terminal and its turn (scoped)",
  limit,
  async () => {
    const { peer, alive } = await clientWith("scoped", 1, {}, { takesOutput: false });
    const created = await peer.ask(100, "terminal/create", { command: "x" });
    const { terminalId } = created["result"] as { terminalId: string };
    const wait = peer.ask(101, "terminal/wait_for_exit", { terminalId });
    await peer.until(({ method }) => method === "terminal/output");
    const released = await peer.ask(102, "terminal/release", { terminalId });
    assert.deepEqual(released["result"], { released: true });
    assert.notEqual((await wait)["id"], undefined);
    assert.equal(peer.got.filter(({ method }) => method === "terminal/output").length, 1);
    await alive();
  },
);
