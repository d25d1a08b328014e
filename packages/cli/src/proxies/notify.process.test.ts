// The proxy `notify` starts a program for what it tells.

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { agent, client } from "@parley/acp";
import { conductor } from "@parley/acp/proxy";
import { proxyArguments } from "../proxy/proxy-arguments.ts";
import { notify } from "./notify.ts";

test("of many questions at once the first and the last one are shown", { timeout: 60_000 }, async (t) => {
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
  const asking = agent({
    name: "a",
    version: "1",
    async prompt(turn) {
      const asked = Array.from({ length: 50 }, (_, index) => turn.requestPermission(`question ${index}.`));
      await Promise.all(asked);
    },
  });
  const app = client({ name: "c", version: "1", requestPermission: () => undefined });
  const start = notify.create(proxyArguments(notify, ["--command", program], "--proxy"), host);
  const connection = await app.connect(conductor([start, asking]));
  const shown = Promise.withResolvers<void>();
  const watcher = watch(told, () => {
    if (/question 49\./.test(readFileSync(told, "utf8"))) shown.resolve();
  });
  t.after(() => watcher.close());
  await (await connection.newSession({ cwd: "/" })).prompt("go");
  await shown.promise;
  const questions = readFileSync(told, "utf8").match(/question \d+\./g);
  assert.deepEqual(questions, ["question 0.", "question 49."]);
  await connection.close();
});
