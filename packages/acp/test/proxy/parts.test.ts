// What a chain can be made of, and what a proxy hears of a turn.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, client, type PromptResult, RequestError } from "../../src/index.ts";
import { conductor, proxy } from "../../src/proxy.ts";
import { memoryPair } from "../../src/transport/memory.ts";
import { rawLinePeer } from "../support/raw-line-peer.ts";
import { chained, empty, hello, introductions } from "./chained.ts";

const adding = (word: string) =>
  proxy({
    name: word,
    version: "1",
    prompt: ({ content }) => ({ content: [...content, { type: "text", text: word }] }),
  });

function echo(got: string[]) {
  return agent({
    name: "echo",
    version: "1",
    prompt(turn) {
      got.push(turn.text);
    },
  });
}

test("a chain of proxies can stand in the middle of a chain, and among the proxies of a client (P24)", async () => {
  const got: string[] = [];
  const inner = conductor([adding("b"), adding("c")]);
  const chain = conductor([adding("a"), inner, adding("d"), echo(got)]);
  const app = client({ name: "c", version: "1", unstable: ["proxies"], proxies: [inner] });
  const connection = await app.connect(chain);
  const session = await connection.newSession({ cwd: "/" });
  await session.prompt("-");
  assert.deepEqual(got, ["-bcabcd"]);
  await connection.close();
});

for (const edition of ["v1", "v2"] as const) {
  test(`a proxy hears of the end of a turn that fails (${edition})`, async () => {
    const ended: PromptResult[] = [];
    const listening = proxy({ name: "p", version: "1", turnEnd: (result) => void ended.push(result) });
    const failing = agent({
      name: "a",
      version: "1",
      prompt() {
        throw new RequestError("rate_limited", "too much");
      },
    });
    const connection = await client({ name: "c", version: "1", editions: [edition] }).connect(
      conductor([listening, failing]),
    );
    const session = await connection.newSession({ cwd: "/" });
    await session.prompt("x").catch(() => undefined);
    assert.deepEqual(
      ended.map(({ stopReason, error }) => [stopReason, error?.kind]),
      [["error", "rate_limited"]],
    );
    await connection.close();
  });
}

test("an update hook that is async is an error of the proxy, and the update passes", async () => {
  const errors: unknown[] = [];
  const wrong = proxy({
    name: "p",
    version: "1",
    // @ts-expect-error: only callers without types can write this
    update: async () => {
      throw new Error("nobody hears this");
    },
    log: (_, __, { error }) => void errors.push(error),
  });
  const talking = agent({ name: "a", version: "1", prompt: (turn) => turn.say("hello") });
  const connection = await client({ name: "c", version: "1" }).connect(conductor([wrong, talking]));
  const session = await connection.newSession({ cwd: "/" });
  assert.equal(await session.prompt("x").text(), "hello");
  assert.match(String(errors[0]), /update must not be async/);
  await connection.close();
});

for (const kind of ["silent", "an echo"] as const) {
  test(`a component that is ${kind} gives the client an error, and nothing of its own`, async () => {
    const start = () => {
      const [near, far] = memoryPair();
      rawLinePeer(far, (message, peer) => {
        if (kind === "an echo") peer.send({ jsonrpc: "2.0", ...message });
      });
      return near;
    };
    const [near, far] = memoryPair();
    const chain = conductor([{ name: "stuck", start, stallMs: 40 }, echo([])]);
    chain.connect(far);
    const editor = rawLinePeer(near);
    editor.request(1, "initialize", { protocolVersion: 1 });
    const { error } = await editor.answered(1);
    assert.match(
      error?.message ?? "",
      kind === "silent"
        ? /stuck has gone: .*not answered initialize for 40 ms/
        : /not for the client's side of a chain/,
    );
    assert.deepEqual(
      editor.got.map(({ id, method }) => [id, method]),
      [[1, undefined]],
    );
    await chain.close();
    await editor.ended;
  });
}

test("editions of a chain mean what they mean for an agent: no other version is spoken", async () => {
  const older = chained([], { options: { editions: ["v1"] } });
  older.client.request(1, "initialize", { ...hello[2], ...hello[1], protocolVersion: 2 });
  const agent = await older.agent;
  const asked = await agent.asked("initialize");
  assert.equal(asked.params?.["protocolVersion"], 1);
  agent.answer(asked, introductions[1]);
  assert.equal((await older.client.answered(1)).result?.["protocolVersion"], 1);
  await older.chain.close();

  const newer = chained(empty(1), { options: { editions: ["v2"] } });
  newer.client.request(1, "initialize", hello[1]);
  const refused = (await newer.client.answered(1)).error;
  assert.deepEqual(refused?.data, { requested: 1, supported: [2] });
  newer.client.request(2, "initialize", hello[2]);
  const old = await newer.agent;
  old.answer(await old.asked("initialize"), introductions[1]);
  assert.match((await newer.client.answered(2)).error?.message ?? "", /version 1 is not among the editions/);
  await newer.chain.close();
});
