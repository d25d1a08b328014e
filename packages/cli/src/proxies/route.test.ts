// The proxy `route` in one process with a client and two agents.

import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { type TestContext, test } from "node:test";
import { agent, client, type Edition, textOf } from "@parley/acp";
import { conductor } from "@parley/acp/proxy";
import { memoryPair } from "@parley/acp/transport";
import { proxyArguments } from "../proxy/proxy-arguments.ts";
import { route } from "./route.ts";

/** An agent that works until it is told to end or is cancelled, and repeats the messages that it gets meanwhile. */
function working(name: string, heard: string[], edition: Edition) {
  return agent({
    name,
    version: "1",
    editions: [edition],
    concurrentPrompts: "inbox",
    async prompt(turn) {
      heard.push(`${name}: ${turn.text}`);
      await turn.say("working");
      for await (const { prompt } of turn.inbox) {
        const words = prompt.map((block) => textOf(block)).join("");
        heard.push(`${name}: ${words}`);
        if (words === "end") break;
      }
      if (turn.signal.aborted) heard.push(`${name}: cancelled`);
    },
  });
}

async function routed(t: TestContext, edition: Edition) {
  const heard: string[] = [];
  const [main, other] = [working("main", heard, edition), working("other", heard, edition)];
  const host = {
    folder: tmpdir(),
    warn: (text: string) => assert.fail(text),
    reach: async () => {
      const [near, far] = memoryPair();
      other.connect(far);
      return near;
    },
    secrets: () => [],
  };
  const start = route.create(proxyArguments(route, ["--to", "other", "--when", "^o=other"], "--proxy"), host);
  const connection = await client({ name: "c", version: "1", editions: [edition] }).connect(
    conductor([start, main]),
  );
  t.after(() => connection.close());
  const session = await connection.newSession({ cwd: "/" });
  /** Resolves with the prompt when the agent works on it. */
  const begun = async (text: string) => {
    const works = Promise.withResolvers<void>();
    const stop = session.onUpdate(({ sessionUpdate }) => {
      if (sessionUpdate === "agent_message_chunk") works.resolve();
    });
    const prompt = session.prompt(text);
    await works.promise;
    stop();
    return { result: prompt.result };
  };
  return { heard, session, begun };
}

test("a message to a running turn reaches the agent that works on it (v1)", async (t) => {
  const { heard, session, begun } = await routed(t, "v1");
  const { result } = await begun("o");
  await session.steer("more").accepted;
  await session.steer("end").accepted;
  assert.equal((await result).stopReason, "end_turn");
  assert.deepEqual(heard, ["other: o", "other: more", "other: end"]);
});

for (const edition of ["v1", "v2"] as const)
  test(`a cancel reaches the agent that works, even after a message to its turn (${edition})`, async (t) => {
    const { heard, session, begun } = await routed(t, edition);
    for (const [words, name] of [
      ["o", "other"],
      ["m", "main"],
      ["o", "other"],
    ] as const) {
      heard.length = 0;
      const { result } = await begun(words);
      await session.steer(words).accepted;
      session.cancel();
      assert.equal((await result).stopReason, "cancelled");
      assert.deepEqual(heard, [`${name}: ${words}`, `${name}: ${words}`, `${name}: cancelled`]);
    }
  });
