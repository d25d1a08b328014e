// Tests turns that cannot be stored or reported as their handler ends them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { introduction, RawPeer } from "../../../test/support/raw-peer-probe.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import { memoryStore } from "../../log/memory-store.ts";
import { memoryPair } from "../../transport/memory.ts";
import { client } from "../client/client.ts";
import { agent } from "./agent.ts";
import type { AgentDefinition } from "./agent-definition.ts";

const limit = { timeout: 20_000 };

function served(version: 1 | 2, parts: Partial<AgentDefinition>) {
  const logged: string[] = [];
  const [near, far] = memoryPair();
  agent({
    name: "scripted",
    version: "1.0.0",
    prompt: () => undefined,
    log: (_level, message) => void logged.push(message),
    ...parts,
    editions: [`v${version}`],
  }).connect(far);
  return { near, logged };
}

test("v2: a prompt that could not be replayed is refused, and its handler does not run", limit, async () => {
  let runs = 0;
  const { near } = served(2, { prompt: () => void runs++ });
  const peer = new RawPeer(near);
  await peer.ask(1, "initialize", introduction(2));
  const { result } = await peer.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
  const { sessionId } = result as { sessionId: string };
  const prompt = [{ type: "resource_link", name: "a", uri: "no scheme" }];
  const answer = await peer.ask(3, "session/prompt", { sessionId, prompt });
  assert.match(JSON.stringify(answer.error), /-32602.*uri must be a URI with a scheme/);
  assert.equal(runs, 0);
  await peer.close();
});

const cycle: { self?: unknown } = {};
cycle.self = cycle;
for (const version of [1, 2] as const) {
  for (const [what, prompt] of Object.entries({
    "throws an error with data that is no JSON": () => {
      throw new RequestError("auth_required", "no", { data: cycle });
    },
    "returns custom data that is no JSON": () => ({ stopReason: "end_turn", _meta: { a: 1n } }),
  } satisfies Record<string, AgentDefinition["prompt"]>)) {
    test(
      `v${version}: a handler that ${what} is answered, and the next prompt runs (G4)`,
      limit,
      async () => {
        let isFirst = true;
        const { near, logged } = served(version, {
          prompt: () => {
            if (!isFirst) return undefined;
            isFirst = false;
            return prompt();
          },
        });
        const connected = await client({ name: "c", version: "1", editions: [`v${version}`] }).connect(near);
        const session = await connected.newSession({ cwd: "/w" });
        const first = await session.prompt("a").result;
        assert.equal(first.stopReason, "error");
        assert.equal(first.error?.code, -32603);
        assert.ok(logged.includes("a prompt handler failed"), logged.join("; "));
        assert.equal((await session.prompt("b").result).stopReason, "end_turn");
        await connected.close();
      },
    );
  }

  test(
    `v${version}: an agent that rejects concurrent prompts takes the next one after an end`,
    limit,
    async () => {
      const { near } = served(version, { concurrentPrompts: "reject" });
      const connected = await client({ name: "c", version: "1", editions: [`v${version}`] }).connect(near);
      const session = await connected.newSession({ cwd: "/w" });
      for (let i = 0; i < 4; i++) assert.equal((await session.prompt("a").result).stopReason, "end_turn");
      await connected.close();
    },
  );

  test(
    `v${version}: an agent that rejects concurrent prompts rejects one while a turn runs`,
    limit,
    async () => {
      const running = Promise.withResolvers<void>();
      const { near } = served(version, { concurrentPrompts: "reject", prompt: () => running.promise });
      const peer = new RawPeer(near);
      await peer.ask(1, "initialize", introduction(version));
      const { result } = await peer.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
      const { sessionId } = result as { sessionId: string };
      const prompt = [{ type: "text", text: "x" }];
      const first = peer.ask(3, "session/prompt", { sessionId, prompt });
      const second = await peer.ask(4, "session/prompt", { sessionId, prompt });
      assert.match(JSON.stringify(second.error), /-32064/);
      running.resolve();
      assert.equal((await first).error, undefined);
      await peer.close();
    },
  );
}

test("v2: a client that prompts as soon as it sees the idle state is not rejected", limit, async () => {
  const { near } = served(2, { concurrentPrompts: "reject" });
  let next = 10;
  let sessionId = "";
  const prompt = [{ type: "text", text: "x" }];
  const peer = new RawPeer(near, (message, self) => {
    const { update } = (message.params ?? {}) as { update?: { state?: string } };
    if (update?.state !== "idle" || next > 12) return;
    self.send({ jsonrpc: "2.0", id: next++, method: "session/prompt", params: { sessionId, prompt } });
  });
  await peer.ask(1, "initialize", introduction(2));
  const { result } = await peer.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
  ({ sessionId } = result as { sessionId: string });
  await peer.ask(3, "session/prompt", { sessionId, prompt });
  const last = await peer.until(({ id, method }) => id === 12 && method === undefined);
  assert.equal(last.error, undefined);
  assert.deepEqual(
    peer.got.flatMap(({ error }) => error ?? []),
    [],
  );
  await peer.close();
});

for (const version of [1, 2] as const) {
  test(
    `v${version}: a session whose store hangs is closed, and its prompts are answered (G4)`,
    limit,
    async (t) => {
      const store = memoryStore();
      const append = Promise.withResolvers<never>();
      const { near } = served(version, {
        session: {
          store: new Proxy(store, {
            get: (target, name) => (name === "append" ? () => append.promise : Reflect.get(target, name)),
          }),
        },
      });
      const peer = new RawPeer(near);
      await peer.ask(1, "initialize", introduction(version));
      const { result } = await peer.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
      const { sessionId } = result as { sessionId: string };
      t.mock.timers.enable({ apis: ["setTimeout"] });
      const prompt = [{ type: "text", text: "x" }];
      const answers = Promise.all([
        peer.ask(10, "session/prompt", { sessionId, prompt }),
        peer.ask(11, "session/prompt", { sessionId, prompt }),
        peer.ask(12, "session/close", { sessionId }),
      ]);
      let isDone = false;
      void answers.then(() => {
        isDone = true;
      });
      // the grace times of a close, one after the other
      for (let i = 0; i < 1_000 && !isDone; i++) {
        await new Promise((resolve) => setImmediate(resolve));
        t.mock.timers.tick(1_000);
      }
      assert.ok(isDone, "a request was not answered");
      await peer.close();
    },
  );
}
