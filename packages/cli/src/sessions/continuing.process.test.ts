// Sessions that are gone on with: after a kill, with their proxies, and where there is none.

import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { AgentScenario } from "@parley/conformance/testing";
import { patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();

test("chat --continue in a folder without a session says so, and begins a new one", patience, async () => {
  const cwd = join(probe.folder, "empty");
  mkdirSync(cwd);
  const input = "list .\n";
  const { status, stdout, stderr } = await probe.started(["chat", "--plain", "-c"], { cwd, input });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /List the working directory/);
  assert.ok(`${stdout}${stderr}`.includes(`no session to continue in ${cwd}: starting a new one`), stderr);
  // a script gets no other session than it has asked for
  const ran = await probe.parley(["run", "-c", "hello"], { cwd: probe.folder });
  assert.deepEqual([ran.status, /no session to continue in/.test(ran.stderr)], [2, true]);
});

const command = "rm -r src";
const asking: Partial<AgentScenario> = {
  turns: [
    { when: "wait", steps: [{ say: "working" }, { wait: "cancelled" }] },
    {
      when: "remove",
      steps: [{ tool: { title: command, kind: "execute", rawInput: { command } }, steps: [{ ask: true }] }],
    },
  ],
};

test(
  "a session that is continued after a kill has its proxies again, until others are chosen",
  patience,
  async () => {
    const agent = probe.agent(asking);
    const proxies = ["--proxy", "policy --deny 'exec rm'"];
    const killed = await probe.started(["run", "wait", ...proxies, "--", ...agent], {
      onOutput: (stdout, child) => {
        if (stdout.includes("working")) child.kill("SIGKILL");
      },
    });
    assert.equal(killed.signal, "SIGKILL");
    const again = await probe.parley(["run", "-c", "remove"]);
    assert.equal(again.status, 3, again.stderr);
    assert.match(again.stderr, /with the proxies of this session: --proxy "?policy --deny/);
    assert.match(again.stderr, /--allow cannot override this: deny exec rm/);
    const without = await probe.parley(["run", "-c", "--proxy", "none", "--allow", "exec **", "remove"]);
    assert.equal(without.status, 0, without.stderr);
    assert.doesNotMatch(without.stderr, /proxies of this session/);
    const after = await probe.parley(["run", "-c", "--allow", "exec **", "remove"]);
    assert.equal(after.status, 0, after.stderr);
  },
);

test("secrets in the options of a session's proxies are neither listed nor exported", patience, async () => {
  const secret = "hunter2-hunter2";
  const agent = probe.agent([{ say: "done" }]);
  const kept = await probe.parley([
    "run",
    "-s",
    "kept",
    "go",
    "--proxy",
    `redact --secret ${secret}`,
    "--",
    ...agent,
  ]);
  assert.equal(kept.status, 0, kept.stderr);
  const listed = await probe.parley(["sessions", "--json"]);
  assert.match(listed.stdout, /"proxies":\["--proxy","redact --secret/);
  const shown = await probe.parley(["sessions", "show", "kept", "--json"]);
  const exported = await probe.started(["sessions", "export", "kept", "--format", "json"]);
  for (const { stdout } of [listed, shown, exported]) assert.ok(!stdout.includes(secret), stdout);
});

test(
  "a session of Parley's own agent is taken over from another process, which is told",
  patience,
  async () => {
    const held = Promise.withResolvers<ChildProcess>();
    const first = probe.started(["chat", "--plain", "-s", "shared"], {
      input: false,
      onOutput: (stdout, child) => {
        if (stdout.includes("List the working directory")) held.resolve(child);
      },
      onStart: (child) => child.stdin?.write("list .\n"),
    });
    const child = await held.promise;
    const busy = await probe.parley(["run", "-s", "shared", "list ."]);
    assert.deepEqual(
      [busy.status, /--takeover takes one of Parley's own agent/.test(busy.stderr)],
      [5, true],
    );
    const ran = await probe.parley(["run", "-s", "shared", "--takeover", "list ."]);
    assert.equal(ran.status, 0, ran.stderr);
    child.stdin?.end("list .\n");
    const { stdout, stderr } = await first;
    assert.match(`${stdout}${stderr}`, /another client has taken the session/);
    assert.doesNotMatch(stderr, /cannot store/);
    const shown = await probe.parley(["sessions", "show", "shared"]);
    assert.equal(shown.stdout.match(/^> list \.$/gm)?.length, 2, shown.stdout);
    const agent = probe.agent([{ say: "done" }]);
    const other = await probe.parley(["run", "-s", "other", "--takeover", "go", "--", ...agent]);
    assert.equal(other.status, 2);
    assert.match(other.stderr, /cannot take a session from another process/);
  },
);

test("an answer for the session holds when it is continued, until it is revoked", patience, async () => {
  const steps: AgentScenario["otherwise"] = [
    {
      tool: { title: "make", kind: "execute", rawInput: { command: "make it" } },
      steps: [{ ask: true, on: { allow_once: [{ say: "allowed" }], reject_once: [{ say: "refused" }] } }],
    },
  ];
  const agent = probe.agent({ otherwise: steps });
  const args = ["run", "-s", "granted", "go", "--", ...agent];
  let isAnswered = false;
  const asked = await probe.atTerminal(100, args, {
    input: false,
    onOutput: (stdout, child) => {
      if (isAnswered || !stdout.includes("Answer (")) return;
      isAnswered = true;
      child.stdin?.write("s\n");
    },
  });
  assert.match(asked.stdout, /allowed/);
  const again = () => probe.parley(args);
  const first = await again();
  assert.deepEqual([first.status, /allowed/.test(first.stdout)], [0, true], first.stderr);
  const listed = await probe.parley(["permissions", "--session", "granted", "--json"]);
  const { rules } = JSON.parse(listed.stdout).data;
  assert.partialDeepStrictEqual(rules, [{ effect: "allow", scope: "session" }]);
  assert.match(rules[0].rule, /make it/);
  const revoked = await probe.parley(["permissions", "revoke", rules[0].id, "--session", "granted"]);
  assert.equal(revoked.stdout, `Revoked: ${rules[0].id}\n`, revoked.stderr);
  const last = await again();
  assert.deepEqual([last.status, /allowed/.test(last.stdout)], [3, false], last.stdout);
});
