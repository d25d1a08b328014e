// A session is taken over from another process: two agents on one store, where only the epoch says who has it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type AgentDefinition, agent, client, type Edition, textOf } from "../../index.ts";
import { memoryStore } from "../../store.ts";

const place = { cwd: "/project" } as const;
const taken = { name: "ConnectionError", kind: "session_taken" } as const;

/** Two agents, as two processes have them, with a client each. */
async function twoProcesses(edition: Edition, prompt: AgentDefinition["prompt"]) {
  const store = memoryStore();
  const process = () => agent({ name: "a", version: "1", session: { store }, prompt });
  const connect = (to: ReturnType<typeof process>) =>
    client({ name: "c", version: "1", editions: [edition] }).connect(to);
  return { store, old: await connect(process()), next: await connect(process()) };
}

for (const edition of ["v1", "v2"] as const) {
  test(`a takeover by another process fences the old one, whose turn and session end (${edition})`, async () => {
    const begun = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const { store, old, next } = await twoProcesses(edition, async (turn) => {
      if (turn.text !== "first") return turn.say("from the new one");
      await turn.say("begun");
      begun.resolve();
      await go.promise;
      turn.signal.addEventListener("abort", () => aborted.resolve());
      await turn.say("never stored");
      await aborted.promise;
      return undefined;
    });
    const session = await old.newSession(place);
    const { sessionId } = session;
    const failed = assert.rejects(session.prompt("first").result, taken);
    await begun.promise;
    await assert.rejects(next.loadSession(sessionId, place), { kind: "conflict" });
    const epoch = (await store.get(sessionId))?.head.epoch ?? 0;
    const other = await next.loadSession(sessionId, { ...place, takeover: true });
    assert.ok(((await store.get(sessionId))?.head.epoch ?? 0) > epoch);
    go.resolve();
    await failed;
    assert.equal((await session.closed).reason, "taken");
    await aborted.promise;
    assert.equal(await other.prompt("second").text(), "from the new one");
    const said: string[] = [];
    for await (const page of store.read(sessionId)) for (const { text } of page) said.push(text);
    assert.ok(said.some((text) => text.includes("from the new one")));
    assert.ok(!said.some((text) => text.includes("never stored")), said.join("\n"));
    await Promise.all([old.close(), next.close()]);
  });

  test(`an old process that is idle learns it from its next prompt, which is not done (${edition})`, async () => {
    const prompts: string[] = [];
    const { old, next } = await twoProcesses(edition, (turn) => {
      prompts.push(textOf(turn.prompt));
      return turn.say("done");
    });
    const session = await old.newSession(place);
    await session.prompt("one").result;
    const other = await next.loadSession(session.sessionId, { ...place, takeover: true });
    await assert.rejects(session.prompt("two").result, taken);
    assert.equal((await session.closed).reason, "taken");
    await other.prompt("three").result;
    assert.deepEqual(prompts, ["one", "three"]);
    // and back again
    const again = await old.loadSession(session.sessionId, { ...place, takeover: true });
    await again.prompt("four").result;
    await assert.rejects(other.prompt("five").result, taken);
    assert.deepEqual(prompts, ["one", "three", "four"]);
    await Promise.all([old.close(), next.close()]);
  });
}
