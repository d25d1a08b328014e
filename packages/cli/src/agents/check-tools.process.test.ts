// `parley agents check` and `parley doctor` give the agent a tool, and say whether it connects to it.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { programCommand } from "../../../acp/test/support/programs.ts";
import { withHosts } from "../../../sandbox/test/support/required-sandbox.ts";
import { agentHome, patience } from "../../test/support/agents-probe.ts";
import { RunProbe } from "../../test/support/run-probe.ts";
import type { Finding } from "../doctor/examine.ts";

const taker = (way: "http" | "stdio" | "never" | "picky") => [
  ...programCommand("cli/test/support/tools-agent.ts"),
  way,
];

for (const [way, words] of [
  ["http", "by HTTP"],
  ["stdio", "by a command"],
] as const)
  test(`an agent that connects ${words} is said to, with the time`, patience, async (t) => {
    const { parley } = agentHome(t);
    const { status, stdout, stderr } = await parley(["agents", "check", "--", ...taker(way)]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, new RegExp(`^tools: +connected \\(parley, \\d+ ms, ${words}\\)$`, "m"));
  });

test("our own agent connects over ACP", patience, async (t) => {
  const { data } = JSON.parse((await agentHome(t).parley(["agents", "check", "--json"])).stdout);
  const { afterMs, ...tools } = data.tools;
  assert.deepEqual(tools, { state: "connected", server: "parley", way: "acp", tools: 1 });
  assert.equal(typeof afterMs, "number");
});

test("an agent in a sandbox with a network of its own connects by a command", withHosts, async (t) => {
  const { parley, keep } = agentHome(t);
  const [command, ...args] = taker("http");
  // a checkout in /tmp is not there inside the sandbox, unless it is named
  const state = [join(import.meta.dirname, "../../../..")];
  keep({ agents: { inside: { command, args, sandbox: true, state, hosts: ["example.com"] } } });
  const { stdout, stderr } = await parley(["agents", "check", "inside"]);
  assert.match(stdout, /^tools: +connected \(parley, \d+ ms, by a command\)$/m, stderr);
});

test("at a terminal doctor and agents check say whom they wait for, for what and how long at most", {
  ...patience,
  skip: existsSync("/usr/bin/script") ? false : "needs script",
}, async () => {
  const probe = new RunProbe();
  mkdirSync(join(probe.home, "config"), { recursive: true });
  const [command, ...args] = taker("never");
  writeFileSync(
    join(probe.home, "config/config.json"),
    JSON.stringify({ agents: { idle: { command, args } } }),
  );
  for (const words of [
    ["doctor", "--agent", "idle", "--timeout", "5"],
    ["agents", "check", "idle", "--timeout", "5"],
  ]) {
    const { stdout } = await probe.atTerminal(120, words);
    const waits = stdout.split("\u001b").flatMap((part) => /… (idle: waiting for .*)/.exec(part)?.[1] ?? []);
    assert.deepEqual(waits, [
      "idle: waiting for its answer to initialize, at most 5 s",
      "idle: waiting for a session, at most 5 s",
      "idle: waiting for its first use of the tool that it was given, at most 5 s",
    ]);
    assert.doesNotMatch((await probe.atTerminal(120, [...words, "--json"])).stdout, /waiting for/);
  }
});

test("an agent that never connects is a warning of doctor, which says what to do", patience, async (t) => {
  const { parley, keep } = agentHome(t);
  const [command, ...args] = taker("never");
  keep({ agents: { idle: { command, args } } });
  const { status, stdout } = await parley(["doctor", "--agent", "idle", "--json"]);
  assert.equal(status, 0);
  const { findings } = JSON.parse(stdout).data as { findings: readonly Finding[] };
  const found = findings.find(({ what }) => what === "agent idle");
  assert.equal(found?.state, "warning");
  assert.match(
    found?.detail ?? "",
    /opens sessions; tools: not connected: the agent did not use the MCP server parley within 10 s \(by a command\)$/,
  );
  assert.match(found?.todo ?? "", /^it may connect with its first prompt; /);
});

test(
  "an agent that opens no session with a server is said to, and everything else of it is shown",
  patience,
  async (t) => {
    const { status, stdout } = await agentHome(t).parley(["agents", "check", "--", ...taker("picky")]);
    assert.equal(status, 0);
    assert.match(
      stdout,
      /^session: +ok\ntools: +refused: it opens no session with an MCP server \(.*no servers.*\)$/m,
    );
  },
);

test("without the check nothing is given and nothing is said", patience, async (t) => {
  const { stdout } = await agentHome(t).parley(["agents", "check", "--no-tools", "--", ...taker("picky")]);
  assert.match(stdout, /^session: +ok\noptions: /m);
});
