// Tests what Parley and its agent store of a session.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eventsOf, patience, type Ran, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();
const hasAnywhere = (words: string): string[] =>
  existsSync(probe.home)
    ? readdirSync(probe.home, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
        .filter((path) => readFileSync(path).includes(words))
    : [];

test("a session that is not to be kept leaves nothing, with our own agent too", patience, async () => {
  writeFileSync(join(probe.cwd, "a.txt"), "zebra-text");
  const { status, stdout } = await probe.parley(["run", "--no-history", "read a.txt\n@say zebra-prompt"]);
  assert.equal(status, 0);
  assert.match(stdout, /zebra-text|zebra-prompt/);
  assert.deepEqual([...hasAnywhere("zebra-prompt"), ...hasAnywhere("zebra-text")], []);
});

test("a deleted session is gone at our own agent too, and that is said", patience, async () => {
  writeFileSync(join(probe.cwd, "a.txt"), "zebra-text");
  assert.equal((await probe.parley(["run", "-s", "gone", "read a.txt"])).status, 0);
  assert.notDeepEqual(hasAnywhere("zebra-text"), []);
  const { status, stdout, stderr } = await probe.started(["sessions", "delete", "gone", "gone"]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^Deleted \S+ from the history\. parley deleted its own copy\.\n$/);
  assert.deepEqual(hasAnywhere("zebra-text"), []);
  // it knows nothing of it any more
  assert.equal((await probe.parley(["run", "-s", "gone", "read a.txt"])).status, 0);
  const kept = await probe.parley(["sessions", "delete", "gone", "--history-only", "--json"]);
  assert.deepEqual(JSON.parse(kept.stdout).data.agents, []);
  assert.notDeepEqual(hasAnywhere("zebra-text"), []);
});

test(
  "a session that its agent does not have any more is deleted, in whatever words it says so",
  patience,
  async () => {
    for (const [message, code, expected] of [
      ["Session not found", -32602, 0],
      ["Disk on fire", -32603, 1],
    ] as const) {
      const wire = { replies: [{ method: "session/delete", error: { code, message } }] };
      const command = probe.agent({ editions: ["v1"], otherwise: [{ say: "done" }], wire });
      const name = `answers${code}`;
      assert.equal((await probe.parley(["agents", "add", name, "--", ...command])).status, 0);
      const ran = await probe.parley(["run", "-s", "old", "--agent", name, "go"]);
      assert.equal(ran.status, 0, ran.stderr);
      const { status, stdout } = await probe.parley(["sessions", "delete", "old"]);
      assert.equal(status, expected, stdout);
    }
  },
);

test("an agent that was started by a command is not run again to delete a session", patience, async () => {
  const command = probe.agent([{ say: "done" }]);
  assert.equal((await probe.parley(["run", "-s", "typed", "go", "--", ...command])).status, 0);
  const { status, stdout } = await probe.parley(["sessions", "delete", "typed"]);
  assert.equal(status, 0);
  assert.match(
    stdout,
    /may still have its own copy: it was started with a command, which is not run again\.\n$/,
  );
});

test("a session that another run is in is not gone on with by a second one", patience, async () => {
  const waits = probe.agent([{ say: "begun" }, { wait: "cancelled" }]);
  const run = (...words: string[]) => ["run", "-s", "same", ...words, "--", ...waits];
  const second = Promise.withResolvers<readonly Ran[]>();
  let isAsked = false;
  const first = probe.parley(run("one"), {
    onOutput(stdout, child) {
      if (isAsked || !stdout.includes("begun")) return;
      isAsked = true;
      const both = Promise.all([probe.parley(run("two")), probe.parley(run("three", "--json"))]);
      second.resolve(both.finally(() => child.kill("SIGINT")));
    },
  });
  const [text, json] = await second.promise;
  assert.equal(text?.status, 5, text?.stdout);
  assert.match(
    text?.stderr ?? "",
    /^parley: the session same is in use by process \d+\nparley: try again when it is done/,
  );
  assert.doesNotMatch(text?.stdout ?? "", /begun/);
  const end = eventsOf(json as Ran).at(-1) as unknown as { error: { code: string } };
  assert.equal(end.error.code, "session_busy");
  assert.equal((await first).status, 130);
});
