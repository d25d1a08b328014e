import assert from "node:assert/strict";
import { test } from "node:test";
import { foundSessions, type RunningSession } from "./found-sessions.ts";

test("an agent that never lists its sessions does not hide those that are open", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { promise: listing, resolve: listed } = Promise.withResolvers<void>();
  const running = {
    capabilities: { list: true, load: true },
    listSessions: () => {
      listed();
      return new Promise(() => undefined);
    },
  };
  const session = {
    shown: { agent: { name: "far" }, title: "mine", cwd: "/p", phase: "ready", questions: [] },
    host: { agent: { connection: running } },
  } as unknown as RunningSession; // what is read
  const found = foundSessions("", [session], undefined, new AbortController().signal);
  await listing;
  t.mock.timers.tick(10_000);
  assert.deepEqual(
    (await found).map(({ title }) => title),
    ["mine"],
  );
});
