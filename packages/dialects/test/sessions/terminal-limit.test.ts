// `maxConcurrent` of the dialect scoped: no more terminals than the client said run at once, whoever keeps count.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, client, RequestError } from "@parley/acp";
import { capabilitiesKey } from "@parley/acp/extensions";
import type { Terminals } from "@parley/acp/model";
import { memoryPair } from "@parley/acp/transport";
import { editionNamed } from "@parley/dialects";
import { type Message, RawPeer } from "../../../acp/test/support/raw-peer-probe.ts";

const scoped = editionNamed("scoped");
const most = 2;
const asked = 6;

/** Terminals that run until they are released, and how many ran at most. */
function countedTerminals() {
  const counts = { live: 0, most: 0, started: 0 };
  const create: Terminals["create"] = async () => {
    counts.live += 1;
    counts.started += 1;
    counts.most = Math.max(counts.most, counts.live);
    return {
      terminalId: `t${counts.started}`,
      output: async () => ({ output: "", truncated: false }),
      waitForExit: async () => ({ exitCode: 0 }),
      kill: async () => undefined,
      release: async () => {
        counts.live -= 1;
      },
    };
  };
  return { counts, terminals: { create } };
}

const limited = { [capabilitiesKey]: { terminal: { create: true, maxConcurrent: most } } };

test("an agent that wants more terminals at once gets as many as the client allows, and a reason for the rest", async () => {
  const { counts, terminals } = countedTerminals();
  const kinds: unknown[] = [];
  const busy = agent({
    name: "busy",
    version: "1",
    editions: [scoped],
    async prompt({ client: { terminals: far } }) {
      for (const _ of [1, 2]) {
        const created = await Promise.allSettled(
          Array.from({ length: asked }, () => far?.create({ command: "sleep", args: ["1"] })),
        );
        const refused = created.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
        kinds.push(refused.map((error: unknown) => (error instanceof RequestError ? error.kind : error)));
        // the next ones wait for these
        for (const each of created) if (each.status === "fulfilled") await each.value?.release();
      }
    },
  });
  const connection = await client({
    name: "c",
    version: "1",
    editions: [scoped],
    terminals,
    _meta: limited,
  }).connect(busy);
  const session = await connection.newSession({ cwd: "/w" });
  assert.equal((await session.prompt("go")).stopReason, "end_turn");
  const rest = Array.from({ length: asked - most }, () => "limit_exceeded");
  assert.deepEqual(kinds, [rest, rest]);
  assert.deepEqual(counts, { live: 0, most, started: 2 * most });
  await connection.close();
});

test("a client refuses an agent that does not keep to its limit, and takes one more after each release", async () => {
  const { counts, terminals } = countedTerminals();
  const [near, far] = memoryPair();
  const answers: Message[] = [];
  const results: Record<string, unknown> = {
    initialize: { protocolVersion: 1, agentInfo: { name: "greedy", version: "1" }, capabilities: {} },
    "session/new": { sessionId: "s", createdAt: "2026-02-04T10:30:00Z" },
  };
  const greedy = async (prompt: Message, self: RawPeer): Promise<void> => {
    const create = (id: number) => self.ask(id, "terminal/create", { command: "sleep" });
    answers.push(...(await Promise.all(Array.from({ length: asked }, (_, at) => create(100 + at)))));
    const [first] = answers.flatMap(({ result }) => (result === undefined ? [] : [result as Message]));
    await self.ask(200, "terminal/release", { terminalId: first?.["terminalId"] });
    answers.push(await create(201), await create(202));
    self.answer(prompt, { stopReason: "end_turn", usage: { inputTokens: 1, outputTokens: 1 } });
  };
  new RawPeer(far, (message, self) => {
    const { method, id } = message;
    if (typeof method !== "string" || id === undefined) return;
    if (method === "session/prompt") void greedy(message, self);
    else self.answer(message, results[method] ?? {});
  });
  const connection = await client({
    name: "c",
    version: "1",
    editions: [scoped],
    terminals,
    _meta: limited,
  }).connect(near);
  const session = await connection.newSession({ cwd: "/w" });
  await session.prompt("go");
  const codes = answers.map(({ error }) => (error as { code: number } | undefined)?.code);
  assert.deepEqual(codes.slice(0, asked), [undefined, undefined, -32008, -32008, -32008, -32008]);
  assert.deepEqual(codes.slice(asked), [undefined, -32008]);
  assert.deepEqual([counts.most, counts.started], [most, most + 1]);
  await connection.close();
});
