// Tests clients that answer permission requests wrongly, twice, too late or never.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { memoryPair } from "@parley/acp/transport";
import { type Answer, calls, inEveryVersion, says, scriptedModel } from "../../test/support/agent-probe.ts";
import { stubRun, stubWrite } from "../../test/support/stub-tools.ts";
import { type CodingAgentOptions, codingAgent } from "../coding-agent.ts";
import { readTool } from "../tools/files/read.ts";

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: never;
  readonly result?: never;
  readonly error?: { readonly message: string };
}

type Reply = (message: Message, send: (message: object) => void) => void;

/** A client of one session. `reply` gets every request of the agent. */
async function byHand(
  version: 1 | 2,
  cwd: string,
  reply: Reply,
  options: Partial<CodingAgentOptions> & { script: readonly Answer[] },
) {
  const [left, right] = memoryPair();
  const { script, ...more } = options;
  const model = scriptedModel(script);
  const tools = [readTool, stubWrite, stubRun];
  codingAgent({ version: "1", models: [model], tools, log: () => undefined, ...more }).connect(left);
  const waiting = new Map<number | string, (message: Message) => void>();
  const updates: Record<string, unknown>[] = [];
  let stopped = Promise.withResolvers<string>();
  const send = (message: object) => void right.send({ jsonrpc: "2.0", ...message });
  right.start({
    message(value) {
      const message = value as Message;
      if (message.method === "session/update") {
        const { update } = message.params as never as { update: Record<string, unknown> };
        updates.push(update);
        if (update["state"] === "idle") stopped.resolve(String(update["stopReason"]));
      } else if (message.method !== undefined && message.id !== undefined) reply(message, send);
      else if (message.id !== undefined) waiting.get(message.id)?.(message);
    },
    idle: () => undefined,
    reject: () => undefined,
    drain: () => undefined,
    end: () => undefined,
  });
  let ids = 0;
  const call = (method: string, params: object) =>
    new Promise<Message>((resolve) => {
      const id = ++ids;
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  const fs = { readTextFile: true, writeTextFile: false };
  await call(
    "initialize",
    version === 1
      ? { protocolVersion: 1, clientCapabilities: { fs } }
      : { protocolVersion: 2, info: { name: "hand", version: "1" }, capabilities: {} },
  );
  const opened = await call("session/new", { cwd, mcpServers: [] });
  const { sessionId } = opened.result as never as { sessionId: string };
  return {
    model,
    updates,
    /** The stop reason. */
    async prompt(words: string): Promise<string> {
      stopped = Promise.withResolvers();
      const { result } = await call("session/prompt", { sessionId, prompt: [{ type: "text", text: words }] });
      return version === 1 ? (result as never as { stopReason: string }).stopReason : stopped.promise;
    },
    cancel: () => send({ method: "session/cancel", params: { sessionId } }),
    end: () => right.close(),
  };
}

const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });
const run = ["bash", { command: "touch made" }] as const;
const write = ["write", { path: "made", content: "x" }] as const;

inEveryVersion(
  "N128 N129 N130 N131 any answer but an offered yes is a no, and the turn continues",
  {},
  async ({ version, cwd }) => {
    const answers: unknown[] = [
      selected("forged"),
      { outcome: { outcome: "approved", optionId: "allow_once" } },
      null,
      {},
      [],
      selected("reject_once"),
    ];
    const reply: Reply = ({ id }, send) => send({ id, result: answers.shift() });
    const wanted = answers.map(() => write);
    const hand = await byHand(version, cwd, reply, { script: [calls(...wanted), says("done")] });
    assert.equal(await hand.prompt("go"), "end_turn");
    assert.equal(answers.length, 0, "all were asked");
    assert.equal(existsSync(join(cwd, "made")), false);
    await hand.end();
  },
);

inEveryVersion("N132 N133 every question offers a no, and no option twice", {}, async ({ version, cwd }) => {
  const seen: string[][] = [];
  const reply: Reply = ({ id, params }, send) => {
    const { options } = params as never as { options: { optionId: string; kind: string }[] };
    seen.push(options.map(({ optionId }) => optionId));
    assert.ok(options.some(({ kind }) => kind.startsWith("reject")));
    send({ id, result: { outcome: { outcome: "cancelled" } } });
  };
  const secret = ["read", { path: ".env" }] as const;
  const hand = await byHand(version, cwd, reply, { script: [calls(run, write, secret), says("done")] });
  await hand.prompt("go");
  assert.ok(seen.length >= 2);
  for (const ids of seen) assert.equal(new Set(ids).size, ids.length);
  await hand.end();
});

inEveryVersion("N134 a yes after the cancel has no effect", {}, async ({ version, cwd }) => {
  const hand = await byHand(
    version,
    cwd,
    ({ id }, send) => {
      hand.cancel();
      send({ id, result: selected("allow_once") });
    },
    { script: [calls(write), says("done")] },
  );
  assert.equal(await hand.prompt("go"), "cancelled");
  assert.equal(await hand.prompt("and now?"), "end_turn");
  assert.equal(existsSync(join(cwd, "made")), false);
  await hand.end();
});

inEveryVersion("N135 of two answers the first counts", {}, async ({ version, cwd }) => {
  const reply: Reply = ({ id }, send) => {
    send({ id, result: selected("reject_once") });
    send({ id, result: selected("allow_once") });
  };
  const hand = await byHand(version, cwd, reply, { script: [calls(write), says("done")] });
  assert.equal(await hand.prompt("go"), "end_turn");
  assert.equal(existsSync(join(cwd, "made")), false);
  await hand.end();
});

inEveryVersion(
  "N136 a title is one line of two hundred characters, without marks that hide or reorder",
  {},
  async ({ version, cwd }) => {
    const titles: string[] = [];
    const reply: Reply = ({ id, params }, send) => {
      const { title, toolCall } = params as never as { title?: string; toolCall?: { title?: string } };
      titles.push(title ?? toolCall?.title ?? "");
      send({ id, result: selected("reject_once") });
    };
    const nasty = [
      "rm -rf x\n\nApproved ✓",
      "echo \u202ecod.exe\u2066 \u200b\ufeff",
      `\u001b[2Jecho ${"x".repeat(1_000_000)}`,
    ];
    const wanted = nasty.map((command) => ["bash", { command }] as const);
    const hand = await byHand(version, cwd, reply, { script: [calls(...wanted), says("done")] });
    await hand.prompt("go");
    assert.equal(titles.length, 3);
    for (const title of titles) {
      assert.match(title, /^[^\p{Cc}\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]{1,200}$/u);
    }
    await hand.end();
  },
);

inEveryVersion(
  "F5 a cancel ends the wait for a client that never answers (300 times)",
  {},
  async ({ version, cwd }) => {
    const rounds = 300;
    let asked = 0;
    const script = Array.from({ length: rounds }, () => calls(write));
    const never: Reply = () => {
      asked++;
      hand.cancel();
    };
    const hand = await byHand(version, cwd, never, { script: [...script, says("still here")] });
    for (let round = 0; round < rounds; round++) assert.equal(await hand.prompt("go"), "cancelled");
    assert.equal(asked, rounds);
    // more than may be open in a session: nothing of them is left
    assert.equal(await hand.prompt("and now?"), "end_turn");
    await hand.end();
  },
);

inEveryVersion(
  "F5 a client that never gives a file costs its time limit, and the work goes on",
  { a: "1" },
  async ({ version, cwd }) => {
    // only clients of version 1 have files
    if (version === 2) return;
    const hand = await byHand(version, cwd, () => undefined, {
      script: [calls(["read", { path: "a" }]), says("done")],
      connection: { clientTimeoutMs: 50 },
    });
    assert.equal(await hand.prompt("go"), "end_turn");
    assert.match(JSON.stringify(hand.model.requests[1]?.messages.at(-1)), /no answer within 50 ms/);
    await hand.end();
  },
);
