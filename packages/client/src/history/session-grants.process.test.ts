// What a user answered for a session is in its log, also when the process was killed.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { HistoryFile } from "./history-file.ts";

test("a grant of a session survives a kill, is not inherited by a fork, and can be revoked", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-grants-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "history.db");
  const agent = { name: "a" };
  const killed = spawnSync(
    process.execPath,
    [
      "--conditions=parley-source",
      "--input-type=module",
      "-e",
      `import { HistoryFile } from ${JSON.stringify(import.meta.resolve("./history-file.ts"))};
      import { SessionRecording } from ${JSON.stringify(import.meta.resolve("./session-recording.ts"))};
      const history = new HistoryFile({ path: ${JSON.stringify(path)} });
      const failed = (error) => { throw error; };
      const recording = new SessionRecording(async () => history, { agent: { name: "a" }, failed });
      recording.begin({ sessionId: "s", cwd: "/project" });
      const exact = { operation: "exec", argv: ["make", "it"], cwd: "/project" };
      const rule = { operation: "exec", exact, effect: "allow", origin: "remembered", scope: "session" };
      recording.granted(rule, { path: "/project", identity: "here" });
      await recording.stored();
      process.kill(process.pid, "SIGKILL");`,
    ],
    { encoding: "utf8" },
  );
  assert.equal(killed.signal, "SIGKILL", killed.stderr);
  await using history = new HistoryFile({ path });
  const { id } = (await history.ofAgent(agent, "s")) ?? assert.fail("it is recorded");
  const [grant, another] = await history.grants(id);
  assert.equal(another, undefined);
  assert.partialDeepStrictEqual(grant, {
    effect: "allow",
    scope: "session",
    exact: { operation: "exec", argv: ["make", "it"], cwd: "/project" },
    workspace: { identity: "here" },
  });
  const writer = await history.begin({ agent, agentSessionId: "copy", cwd: "/project", forks: id }, (error) =>
    assert.fail(String(error)),
  );
  assert.deepEqual(await history.grants(writer.sessionId), []);
  await writer.close();
  await history.revokeGrant(id, grant?.id ?? "");
  assert.deepEqual(await history.grants(id), []);
});
