// Lists, search and export show the history, and the log of Parley's own agent where the history has no such session.

import assert from "node:assert/strict";
import { test } from "node:test";
import { client } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";
import { launcher, patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();

/** Sends a prompt to Parley's own agent as an editor does. Returns the agent's id of the session. */
async function editorPrompt(text: string): Promise<string> {
  const env = {
    ...process.env,
    PARLEY_HOME: probe.home,
    PARLEY_MODEL: "offline",
    PARLEY_TEST_MARK: probe.mark,
  };
  const transport = spawnTransport(launcher, ["agent"], { cwd: probe.cwd, env });
  const connection = await client({ name: "editor", version: "1.0.0" }).connect(transport);
  try {
    const session = await connection.newSession({ cwd: probe.cwd });
    await session.prompt(text).result;
    return session.sessionId;
  } finally {
    await connection.close();
  }
}

test(
  "a session that no host has is shown from the agent's log, once, and marked as that",
  patience,
  async () => {
    const id = await editorPrompt("@say zebra");
    const ran = await probe.parley(["run", "-s", "mine", "@say zebra"]);
    assert.equal(ran.status, 0, ran.stderr);
    const data = async (...args: string[]) =>
      JSON.parse((await probe.parley([...args, "--json"])).stdout).data;
    const { sessions, total } = await data("sessions", "list");
    const logs = sessions.map(({ log, name }: { log: string; name?: string }) => [log, name]);
    assert.deepEqual(
      [logs, total],
      [
        [
          ["host", "mine"],
          ["agent", undefined],
        ],
        2,
      ],
    );
    const listed = await probe.parley(["sessions", "list"]);
    assert.match(listed.stdout, new RegExp(`^${id} +\\S+ +parley \\(its log\\) `, "m"));
    assert.equal(listed.stdout.match(/its log/g)?.length, 1);
    const { hits } = await data("sessions", "search", "zebra");
    const found = new Set(hits.map(({ session }: { session: { log: string } }) => session.log));
    assert.deepEqual(found, new Set(["host", "agent"]));
    const shown = await probe.parley(["sessions", "show", id.slice(0, 8)]);
    assert.match(shown.stdout, /\n> @say zebra\n/, shown.stderr);
    const exported = await probe.started(["sessions", "export", id]);
    assert.match(exported.stdout, /## User\n\n> @say zebra\n/);
    const elsewhere = await data("sessions", "list", "-C", probe.folder);
    assert.deepEqual(elsewhere.sessions, []);
    const deleted = await probe.started(["sessions", "delete", id]);
    assert.equal(deleted.stdout, "parley deleted its own copy.\n", deleted.stderr);
    assert.equal((await data("sessions", "list")).total, 1);
  },
);
