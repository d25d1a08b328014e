import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, client } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { pharo, scoped } from "@parley/dialects";

for (const dialect of [scoped(), pharo()]) {
  test(`${dialect.name}: a connection that speaks a dialect has no snapshot`, {
    timeout: 20_000,
  }, async () => {
    const [near, far] = memoryPair();
    const editions = [dialect] as const;
    agent({ name: "a", version: "1.0.0", prompt: () => undefined, editions }).connect(far);
    await using connection = await client({ name: "c", version: "1.0.0", editions }).connect(near);
    assert.throws(() => connection.snapshot(), {
      name: "TypeError",
      message: `snapshot: this agent speaks ${dialect.name}, and a dialect cannot be put down; only v1 and v2 can`,
    });
  });
}

test("a connection whose client knows dialects, and speaks version 1, is restored", {
  timeout: 20_000,
}, async () => {
  const [near, far] = memoryPair();
  const app = client({ name: "c", version: "1.0.0", editions: [scoped(), "v1"] });
  agent({ name: "a", version: "1.0.0", prompt: () => undefined, editions: ["v1"] }).connect(far);
  const connection = await app.connect(near);
  const snapshot = connection.snapshot();
  const [again, agentSide] = memoryPair();
  agent({ name: "a", version: "1.0.0", prompt: () => undefined, editions: ["v1"] }).connect(agentSide);
  await using restored = await app.restore(again, snapshot);
  assert.equal(restored.edition, "v1");
});
