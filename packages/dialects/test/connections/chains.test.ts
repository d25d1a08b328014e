// One proxy for every edition: between clients and agents that speak dialects, or version 1.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, client, type Editions } from "@parley/acp";
import { answer, conductor, proxy } from "@parley/acp/proxy";
import { memoryPair, type Transport } from "@parley/acp/transport";
import { pharo, scoped } from "@parley/dialects";

type Part = Parameters<typeof conductor>[0][number];

const spoken = { scoped: [scoped()], pharo: [pharo()], v1: ["v1"] } as const satisfies Record<
  string,
  Editions
>;
type Name = keyof typeof spoken;

const starting = (name: Name) => (): Transport => {
  const [near, far] = memoryPair();
  agent({
    name: "loud",
    version: "1",
    editions: spoken[name],
    async prompt(turn) {
      const allowed = await turn.requestPermission({ title: "Shout" });
      await turn.say(`${turn.text.toUpperCase()} ${String(allowed)}`);
    },
  }).connect(far);
  return near;
};

const polite = (editions: Editions) =>
  proxy({
    name: "polite",
    version: "1",
    editions,
    prompt: ({ content }) => ({ content: [...content, { type: "text", text: ", please" }] }),
    permission: ({ options }) => {
      const yes = options.find(({ kind }) => kind === "allow_once");
      return yes && answer({ outcome: "selected", optionId: yes.optionId });
    },
    update(update) {
      if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return undefined;
      return { ...update, content: { ...update.content, text: `${update.content.text}!` } };
    },
  });

/** The same as a component with a connection of its own. */
const asProgram = (editions: Editions) => (): Transport => {
  const [near, far] = memoryPair();
  polite(editions).connect(far);
  return near;
};

async function talk(name: Name, connect: (far: Transport) => void): Promise<void> {
  const [near, far] = memoryPair();
  connect(far);
  let asked = 0;
  const connection = await client({
    name: "c",
    version: "1",
    editions: spoken[name],
    requestPermission: () => {
      asked += 1;
      return { outcome: "cancelled" };
    },
  }).connect(near);
  const session = await connection.newSession({ cwd: "/" });
  let heard = "";
  session.onUpdate((update) => {
    if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
      heard += update.content.text;
  });
  const { stopReason } = await session.prompt("hello");
  assert.equal(stopReason, "end_turn");
  assert.match(heard, /^HELLO, PLEASE .*!$/);
  assert.equal(asked, 0);
  await connection.close();
}

// an agent that speaks nothing but a dialect must be asked in it alone
const cases: readonly (readonly [Name, Name, Editions])[] = [
  ["scoped", "v1", [scoped(), "v1"]],
  ["pharo", "v1", [scoped(), pharo(), "v1"]],
  ["v1", "v1", [scoped(), pharo(), "v1"]],
  ["scoped", "scoped", [scoped()]],
  ["pharo", "pharo", [pharo()]],
];

for (const [ofClient, ofAgent, editions] of cases) {
  test(`a chain between a client of ${ofClient} and an agent of ${ofAgent}: the hooks of a proxy work`, async () => {
    for (const part of [polite(editions), asProgram(editions)]) {
      const parts: Part[] = [part, starting(ofAgent)];
      await talk(ofClient, (far) => conductor(parts, { editions }).connect(far));
    }
  });

  test(`a proxy alone between a client of ${ofClient} and an agent of ${ofAgent}`, async () => {
    const alone = proxy({ ...polite(editions).definition, agent: starting(ofAgent) });
    await talk(ofClient, (far) => alone.connect(far));
  });
}
