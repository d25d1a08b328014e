// Tests `parley run` with agents of the official SDK.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { programCommand } from "../../../acp/test/support/programs.ts";
import { eventsOf, interruptAt, patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();
const agent = (version: number, ...args: string[]) => [
  ...["--", ...programCommand("acp/test/interop/app-sdk-agent.ts"), `v${version}`, ...args],
];
const run = (version: number, prompt: string, ...flags: string[]) =>
  probe.parley(["run", "--no-history", ...flags, prompt, ...agent(version, "logged-in")]);

suite("agents on the official SDK", () => {
  for (const version of [1, 2]) {
    test(`every update of version ${version} arrives, and is printed in every format`, patience, async () => {
      const ran = await run(version, "every update", "--format", "json");
      assert.equal(ran.status, 0, ran.stderr);
      const events = eventsOf(ran);
      assert.equal(events[0]?.["protocol"], version);
      const kinds = new Set(
        events.flatMap((event) =>
          event.type === "update" ? [(event["update"] as { sessionUpdate: string }).sessionUpdate] : [],
        ),
      );
      for (const kind of ["agent_message_chunk", "agent_thought_chunk", "tool_call_update", "plan_update"]) {
        assert.ok(kinds.has(kind), `${kind} is among ${[...kinds].join(", ")}`);
      }
      const text = await run(version, "every update");
      assert.equal(text.status, 0, text.stderr);
      assert.notEqual(text.stdout, "");
    });

    test(`what an agent of version ${version} asks is refused where nobody is there`, patience, async () => {
      const ran = await run(version, "ask twice", "--format", "json");
      assert.equal(ran.status, 3, ran.stderr);
      const decisions = eventsOf(ran).filter(({ type }) => type === "decision");
      assert.ok(decisions.length > 0 && decisions.every(({ effect }) => effect !== "allow"));
    });

    test(`a turn of version ${version} is cancelled by Ctrl-C`, patience, async () => {
      const args = ["run", "--no-history", "--json", "until cancelled", ...agent(version, "logged-in")];
      const ran = await probe.parley(args, interruptAt('"state":"running"'));
      assert.equal(ran.status, 130, ran.stderr);
      assert.equal(eventsOf(ran).at(-1)?.["stopReason"], "cancelled");
    });

    test(`an agent of version ${version} that wants a login says so`, patience, async () => {
      const { status, stderr } = await probe.parley(["run", "--no-history", "x", ...agent(version)]);
      assert.equal(status, 6, stderr);
      assert.match(stderr, /wants a login/);
    });
  }

  test(
    "an agent of version 1 uses our files and terminals, as far as the rules allow",
    patience,
    async () => {
      const flags = ["--allow", "write deep/**", "--allow", "exec", "--format", "quiet"];
      const { status, stdout, stderr } = await run(1, "machine", ...flags);
      assert.equal(status, 0, stderr);
      const learnt = JSON.parse(stdout.slice("learnt: ".length));
      assert.equal(learnt.read.content, "two\n");
      assert.equal(learnt.output.output.trim(), "agent");
      assert.equal(readFileSync(join(probe.cwd, "deep/b.txt"), "utf8"), "one\ntwo\nthree\n");
      const refused = await run(1, "machine", "--format", "quiet");
      assert.notEqual(refused.status, 0, "without rules nothing of it is done");
    },
  );
});
