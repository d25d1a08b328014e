// An address that an agent wants somebody at a terminal to visit, and which nobody ever says is done (C48).

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();
const hasTerminals = process.platform === "linux" && existsSync("/usr/bin/script");
const atTerminal = { ...patience, skip: !hasTerminals };

const address = "https://login.example/start";
const elicit = { mode: "url" as const, elicitationId: "e", url: address, message: "Log in" };
const on = { cancel: [{ say: "given up" }], accept: [{ say: "went on" }] };
const agent = probe.agent([{ elicit, on }]);

/** Each answer is typed when it is asked for once more. */
function typing(...answers: readonly string[]) {
  let typed = 0;
  return probe.atTerminal(200, ["run", "--no-history", "x", "--", ...agent], {
    input: false,
    onOutput(stdout, child) {
      if (stdout.split("c = cancel: ").length - 1 <= typed) return;
      const answer = answers[typed++];
      if (answer !== undefined) child.stdin?.write(answer);
    },
  });
}

test("C48 it is shown again for as long as somebody likes, and can be given up", atTerminal, async () => {
  const { status, stdout } = await typing("r\n", "\n", "c\n");
  assert.equal(status, 0, stdout);
  assert.equal(stdout.split(address).length - 1, 3);
  assert.match(stdout, /given up/);
});

test("C48 it keeps nobody from leaving with Ctrl-C", atTerminal, async () => {
  const { status, stdout } = await typing("\u0003");
  assert.equal(status, 130, stdout);
  assert.doesNotMatch(stdout, /went on/);
});

test("C48 with nobody there it is not offered, and nobody waits for it", patience, async () => {
  const none = { ...on, unavailable: [{ say: "not offered" }] };
  const { status, stdout } = await probe.run([{ elicit, on: none }]);
  assert.deepEqual([status, stdout], [0, "not offered\n"]);
});
