// A dialect of somebody else's, by the public interface alone: methods have a prefix, and prompts are a text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, client } from "@parley/acp";
import { relay } from "@parley/acp/relay";
import {
  type Dialect,
  type DialectMachine,
  type DialectMessage,
  type DialectStep,
  memoryPair,
} from "@parley/acp/transport";

type Fields = Readonly<Record<string, unknown>>;

/** The same for both roles: what one side says in version 1, the other hears in the dialect. */
function machine(): DialectMachine {
  const asked = new Map<unknown, string>();
  const toPeer = (message: DialectMessage): DialectMessage => {
    const { id, method, params, result } = message;
    if (method === undefined) {
      const isFirst = asked.get(id) === "initialize";
      return isFirst ? { ...message, result: { shouting: true, ...(result as Fields) } } : message;
    }
    const { prompt, ...rest } = { ...(params as Fields) };
    const words = Array.isArray(prompt) ? { words: prompt.map(({ text }: Fields) => text).join(" ") } : {};
    const first = method === "initialize" ? { shouting: true } : {};
    return {
      ...message,
      method: method === "initialize" ? method : `SHOUT/${method}`,
      params: { ...rest, ...words, ...first },
    };
  };
  const toUs = (message: DialectMessage): DialectMessage => {
    const { method, params } = message;
    if (method === undefined) return message;
    const { words, shouting: _, ...rest } = { ...(params as Fields) };
    const prompt = words === undefined ? {} : { prompt: [{ type: "text", text: words }] };
    return { ...message, method: method.replace(/^SHOUT\//, ""), params: { ...rest, ...prompt } };
  };
  const step = (ours: readonly DialectMessage[], theirs: readonly DialectMessage[]): DialectStep => ({
    toUs: ours,
    toPeer: theirs,
  });
  return {
    receive(message) {
      const read = toUs(message);
      if (read.method !== undefined && read.id !== undefined) asked.set(read.id, read.method);
      return step([read], []);
    },
    send: (message) => step([], [toPeer(message)]),
  };
}

let loaded = 0;
const shouting: Dialect = {
  name: "shouting",
  isSpokenByClient: ({ shouting }) => shouting === true,
  isSpokenByAgent: ({ shouting }) => shouting === true,
  async load() {
    loaded += 1;
    return { agentSide: machine, clientSide: machine };
  },
};

function served(editions: readonly ["v1" | Dialect, ...("v1" | Dialect)[]]) {
  const [near, far] = memoryPair();
  const heard: string[] = [];
  const connection = agent({
    name: "a",
    version: "1",
    editions,
    connection: { tap: (_, text) => void heard.push(text) },
    async prompt(turn) {
      await turn.say(turn.text.toUpperCase());
    },
  }).connect(far);
  return { near, heard, connection };
}

const app = (editions: readonly ["v1" | Dialect, ...("v1" | Dialect)[]]) =>
  client({ name: "c", version: "1", editions });

test("an agent and a client speak a dialect that is not ours", async () => {
  const { near, heard, connection } = served([shouting]);
  await using there = await app([shouting]).connect(near);
  assert.deepEqual([connection.edition, there.edition], ["shouting", "shouting"]);
  const session = await there.newSession({ cwd: "/w" });
  let said = "";
  session.onUpdate((update) => {
    if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
      said += update.content.text;
  });
  assert.equal((await session.prompt("hello")).stopReason, "end_turn");
  assert.equal(said, "HELLO");
  assert.ok(
    heard.some((text) => text.includes('"SHOUT/session/prompt"') && text.includes('"words":"hello"')),
  );
});

test("a relay translates it to version 1, and version 1 goes on to be spoken where it is not", async () => {
  const { near } = served(["v1"]);
  const [left, right] = memoryPair();
  await using between = relay(right, near, { as: shouting });
  await using there = await app([shouting]).connect(left);
  assert.deepEqual(await between.editions, { client: "shouting", agent: "v1" });
  const session = await there.newSession({ cwd: "/w" });
  assert.equal((await session.prompt("hello")).stopReason, "end_turn");
  const before = loaded;
  const plain = served([shouting, "v1"]);
  await using other = await app(["v1", shouting]).connect(plain.near);
  assert.equal(other.edition, "v1");
  assert.equal(loaded, before, "only connections that speak it load it");
});
