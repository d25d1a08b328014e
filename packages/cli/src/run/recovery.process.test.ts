// Tests recovery in `parley run`: it asks at a terminal and reports otherwise.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { suite, test } from "node:test";
import type { AgentScenario } from "@parley/conformance/testing";
import { patience, type Ran, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();
const hasTerminals = process.platform === "linux" && existsSync("/usr/bin/script");
const atTerminal = { ...patience, skip: !hasTerminals };

/** With somebody who types this when there is a question. */
function answered(scenario: Partial<AgentScenario>, answer: string): Promise<Ran> {
  const agent = probe.agent(scenario);
  let isTyped = false;
  return probe.atTerminal(200, ["run", "--no-history", "x", "--", ...agent], {
    input: false,
    onOutput(stdout, child) {
      if (isTyped || !stdout.includes("[y/N] ")) return;
      isTyped = true;
      child.stdin?.write(answer);
    },
  });
}

const down = { fail: { code: -32603, message: "Internal error", data: { details: "the model is down" } } };
const lostAnswer = { error: { code: -32002, message: "Session not found" } };
const lost = { fail: lostAnswer.error };
const failsOnce = { turns: [{ steps: [{ say: "one" }, down] }], otherwise: [{ say: "two" }] };

suite("recovery", () => {
  test("who is at a terminal may send a prompt again that failed", atTerminal, async () => {
    const again = await answered(failsOnce, "y\n");
    assert.equal(again.status, 0, again.stdout);
    assert.match(again.stdout, /one[\s\S]*the model is down[\s\S]*Send the prompt again\?[\s\S]*two/);
    const not = await answered(failsOnce, "\n");
    assert.equal(not.status, 1, not.stdout);
    assert.doesNotMatch(not.stdout, /two/);
  });

  test("without a terminal a prompt is not sent twice, and the reason is told", patience, async () => {
    const ran = await probe.run(failsOnce);
    assert.deepEqual([ran.status, ran.stdout], [1, "one\n"]);
    assert.match(ran.stderr, /^parley: the agent returned an error: Internal error: the model is down/);
  });

  test("a session that was put away is taken up again, and not called a restart", patience, async () => {
    const ran = await probe.run({ turns: [{ steps: [lost] }], otherwise: [{ say: "fine" }] });
    assert.deepEqual([ran.status, ran.stdout], [0, "fine\n"], ran.stderr);
    assert.equal(ran.stderr, "parley: the agent had unloaded the session; it continues the session\n");
  });

  test("for a session that is lost a new one is offered at a terminal", atTerminal, async () => {
    const gone: Partial<AgentScenario> = {
      otherwise: [{ say: "fine" }],
      wire: {
        replies: [
          { method: "session/prompt", nth: 1, ...lostAnswer },
          { method: "session/resume", ...lostAnswer },
        ],
      },
    };
    const { status, stdout } = await answered(gone, "y\n");
    assert.equal(status, 0, stdout);
    assert.match(stdout, /Start a new one\?[\s\S]*started a new session[\s\S]*fine/);
    assert.equal((await answered(gone, "n\n")).status, 1);
    assert.equal((await probe.run(gone)).status, 1);
  });

  test("what was refused in the user's name is told", atTerminal, async () => {
    const elicit = {
      mode: "url" as const,
      elicitationId: "e",
      url: "http://evil.example/login",
      message: "Log in",
    };
    const { stdout } = await answered({ otherwise: [{ elicit }, { say: "fine" }] }, "");
    assert.match(stdout, /parley: the agent asked to visit an address.*declined[\s\S]*fine/);
  });

  test("a mode that the agent has and refuses is its own failure (bug 25)", patience, async () => {
    const modes = [
      { value: "ask", name: "Ask" },
      { value: "plan", name: "Plan" },
    ];
    const option = {
      type: "select" as const,
      configId: "mode",
      category: "mode" as const,
      name: "Mode",
      currentValue: "ask",
      options: modes,
    };
    const scenario: Partial<AgentScenario> = {
      open: { configOptions: [option] },
      otherwise: [{ say: "fine" }],
      wire: {
        replies: [{ method: "session/set_config_option", error: { code: -32603, message: "not now" } }],
      },
    };
    const ran = await probe.run(scenario, ["--mode", "plan"]);
    assert.deepEqual([ran.status, ran.stderr], [1, "parley: mode was not set to plan: not now\n"]);
    assert.equal((await probe.run(scenario, ["--mode", "yolo"])).status, 2);
  });
});
