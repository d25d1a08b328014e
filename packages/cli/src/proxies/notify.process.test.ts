// The proxy `notify` starts a program for what it tells.

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Agent, agent, type Client, client } from "@parley/acp";
import { conductor } from "@parley/acp/proxy";
import { proxyArguments } from "../proxy/proxy-arguments.ts";
import { notify } from "./notify.ts";

/** Starts the proxy in front of an agent. Its notifications are appended to a file. */
async function notifying(t: TestContext, front: Client, behind: Agent) {
  const folder = mkdtempSync(join(tmpdir(), "parley-notify-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [program, told] = [join(folder, "tell.sh"), join(folder, "told")];
  writeFileSync(told, "");
  writeFileSync(program, `#!/bin/sh\necho "$1" >> '${told}'\n`);
  chmodSync(program, 0o700);
  const host = {
    folder,
    warn: (text: string) => assert.fail(text),
    reach: () => Promise.reject(new Error("nothing is reached here")),
    secrets: () => [],
  };
  const start = notify.create(proxyArguments(notify, ["--command", program], "--proxy"), host);
  const connection = await front.connect(conductor([start, behind]));
  t.after(() => connection.close());
  const read = () => readFileSync(told, "utf8");
  /** Resolves when a notification with these words was shown. */
  const shows = (words: RegExp): Promise<void> =>
    new Promise((resolve) => {
      const watcher = watch(told, () => {
        if (words.test(read())) resolve();
      });
      t.after(() => watcher.close());
    });
  return { session: await connection.newSession({ cwd: "/" }), read, shows };
}

test("if many questions come at once, the first and the last one are shown", {
  timeout: 60_000,
}, async (t) => {
  const asking = agent({
    name: "a",
    version: "1",
    async prompt(turn) {
      const asked = Array.from({ length: 50 }, (_, index) => turn.requestPermission(`question ${index}.`));
      await Promise.all(asked);
    },
  });
  const app = client({ name: "c", version: "1", requestPermission: () => undefined });
  const { session, read, shows } = await notifying(t, app, asking);
  const shown = shows(/question 49\./);
  await session.prompt("go");
  await shown;
  assert.deepEqual(read().match(/question \d+\./g), ["question 0.", "question 49."]);
});

for (const edition of ["v1", "v2"] as const)
  test(`a message to a running turn does not restart the time of the turn (${edition})`, {
    timeout: 60_000,
  }, async (t) => {
    const started = Promise.withResolvers<void>();
    const hearing = agent({
      name: "a",
      version: "1",
      editions: [edition],
      concurrentPrompts: "inbox",
      async prompt(turn) {
        started.resolve();
        for await (const _ of turn.inbox) break;
      },
    });
    const { session, shows } = await notifying(t, client({ name: "c", version: "1" }), hearing);
    t.mock.timers.enable({ apis: ["Date"] });
    const shown = shows(/The agent is done/);
    const prompt = session.prompt("go");
    await started.promise;
    t.mock.timers.tick(11_000);
    session.steer("more");
    await prompt;
    await shown;
  });
