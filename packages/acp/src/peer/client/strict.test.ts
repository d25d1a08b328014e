import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, client, type SessionUpdate } from "../../index.ts";
import { memoryPair } from "../../transport.ts";

for (const version of [1, 2] as const) {
  test(`strict: true freezes updates, so that no listener can change what the next one sees (v${version})`, async () => {
    const served = agent({
      name: "agent",
      version: "1.0.0",
      editions: [`v${version}`],
      async prompt(turn) {
        await turn.tool({ title: "Look", kind: "read" }, (tool) => tool.add("found"));
        await turn.say("done");
      },
    });
    for (const strict of [true, false]) {
      const [near, far] = memoryPair();
      served.connect(far);
      const connected = await client({ name: "client", version: "1.0.0", strict }).connect(near);
      const session = await connected.newSession({ cwd: "/project" });
      const updates: SessionUpdate[] = [];
      session.onUpdate((update) => void updates.push(update));
      await session.prompt("go").result;
      const deep = updates.flatMap((update) => ("content" in update ? [update, update.content] : [update]));
      const isFrozen = deep.map((value) => Object.isFrozen(value));
      if (strict) assert.ok(isFrozen.every(Boolean));
      else assert.ok(!isFrozen.every(Boolean));
      await connected.close();
    }
  });
}
