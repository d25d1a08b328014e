// Tests prompts that cannot be sent: they fail, and the session stays usable where it can.

import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryPair } from "../../transport/memory.ts";
import { agent } from "../agent/agent.ts";
import { client } from "./client.ts";

const limit = { timeout: 20_000 };

async function connectedSession(version: 1 | 2) {
  const [near, far] = memoryPair();
  agent({ name: "a", version: "1", prompt: () => undefined, editions: [`v${version}`] }).connect(far);
  const connected = await client({
    name: "c",
    version: "1",
    strict: true,
    editions: [`v${version}`],
  }).connect(near);
  return { connected, session: await connected.newSession({ cwd: "/w" }) };
}

for (const version of [1, 2] as const) {
  test(`v${version}: a strict client freezes a prompt with binary data in its _meta`, limit, async () => {
    const { connected, session } = await connectedSession(version);
    const prompt = session.prompt([{ type: "text", text: "x", _meta: { b: new Uint8Array(3) } }]);
    await prompt.result.catch(() => undefined);
    assert.equal((await session.prompt("next").result).stopReason, "end_turn");
    await connected.close();
  });

  test(`v${version}: a prompt on a session that was closed before its connection fails`, limit, async () => {
    const { connected, session } = await connectedSession(version);
    await session.close();
    await connected.close();
    assert.throws(() => session.prompt("x"), { name: "ConnectionError", kind: "closed" });
  });
}

test(
  "v1: a prompt whose message a listener cannot be shown fails, and the next one runs",
  limit,
  async () => {
    const { connected, session } = await connectedSession(1);
    const unfreezable = new Proxy(
      {},
      {
        preventExtensions() {
          throw new TypeError("no");
        },
      },
    );
    const prompt = session.prompt([{ type: "text", text: "x", _meta: { unfreezable } }]);
    await assert.rejects(prompt.result, /no/);
    assert.equal((await session.prompt("next").result).stopReason, "end_turn");
    await connected.close();
  },
);
