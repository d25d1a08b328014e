// The proxy `policy` between a plain client and scripted agents, as an editor starts it.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { client, type PermissionRequest, textOf } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";
import type { AgentScenario } from "@parley/conformance/testing";
import { inSandbox } from "../../../sandbox/test/support/required-sandbox.ts";
import { launcher, patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();

interface Editor {
  readonly said: () => string;
  readonly asked: PermissionRequest[];
  readonly written: [string, string][];
  prompt(text: string): Promise<string>;
}

/** An editor with files, whose user answers with these options. `agent` is a scenario, or the words of a command. */
async function editor(
  t: TestContext,
  proxies: readonly string[],
  agent: Partial<AgentScenario> | readonly string[],
  { answers = [], env = {} }: { answers?: string[]; env?: Record<string, string> } = {},
): Promise<Editor> {
  const words = Array.isArray(agent) ? agent : probe.agent(agent as Partial<AgentScenario>); // as: no list
  const transport = spawnTransport(launcher, ["proxy", ...proxies, "--", ...words], {
    cwd: probe.cwd,
    env: {
      ...process.env,
      PARLEY_HOME: probe.home,
      PARLEY_MODEL: "offline",
      PARLEY_TEST_MARK: probe.mark,
      ...env,
    },
  });
  const asked: PermissionRequest[] = [];
  const written: [string, string][] = [];
  let said = "";
  const connection = await client({
    name: "editor",
    version: "1.0.0",
    requestPermission(request) {
      asked.push(request);
      const wanted = answers.shift();
      return request.options.find(({ optionId, kind }) => optionId === wanted || kind === wanted)?.optionId;
    },
    files: {
      readText: async (path) => `the text of ${path}`,
      writeText: async (path, content) => void written.push([path, content]),
    },
    terminals: { create: () => Promise.reject(new Error("no terminal is created")) },
  }).connect(transport);
  t.after(() => connection.close());
  const session = await connection.newSession({
    cwd: probe.cwd,
    onUpdate(update) {
      if (update.sessionUpdate === "agent_message_chunk") said += textOf(update.content);
    },
  });
  return {
    said: () => said,
    asked,
    written,
    async prompt(text) {
      const { stopReason } = await session.prompt(text);
      return stopReason;
    },
  };
}

const ask = (command: string): AgentScenario["otherwise"] => [
  {
    tool: { title: command, kind: "execute", rawInput: { command } },
    steps: [{ ask: true, on: { allow_once: [{ say: "yes " }], reject_once: [{ say: "no " }] } }],
  },
];

for (const edition of ["v1", "v2"] as const)
  test(
    `rules answer an agent that asks, and the editor is asked about the rest (${edition})`,
    patience,
    async (t) => {
      const scenario: Partial<AgentScenario> = {
        editions: [edition],
        turns: [
          { when: "one", steps: ask("npm test") ?? [] },
          { when: "two", steps: ask("rm -r src") ?? [] },
          { when: "three", steps: ask("make it") ?? [] },
        ],
      };
      const rules = "policy --allow 'exec npm test' --deny 'exec rm'";
      const { prompt, asked, said } = await editor(t, [rules], scenario, { answers: ["allow_once"] });
      for (const word of ["one", "two"]) await prompt(word);
      assert.equal(asked.length, 0);
      await prompt("three");
      assert.deepEqual(
        asked.map(({ options }) => options.map(({ optionId }) => optionId)),
        [["allow_once", "allow_always", "reject_once"]],
      );
      assert.match(
        said(),
        /^\[policy\] Parley does not know .+: it counts as an agent that asks\.\s+yes no yes $/,
      );
    },
  );

test("files that an agent asks the editor for pass the gate", patience, async (t) => {
  const path = join(probe.cwd, "a.txt");
  const scenario: Partial<AgentScenario> = {
    editions: ["v1"],
    turns: [
      { when: "write", steps: [{ write: path, content: "new" }, { say: "written " }] },
      { when: "secret", steps: [{ read: join(probe.cwd, "secret"), as: "text" }, { say: "{{text}}" }] },
      { when: "run", steps: [{ run: { command: "rm", args: ["-r", "."] } }] },
    ],
  };
  const { prompt, asked, written, said } = await editor(
    t,
    ["policy --deny 'read secret' --deny 'exec rm'"],
    scenario,
    {
      answers: ["reject_once", "allow:session"],
    },
  );
  await prompt("write");
  assert.deepEqual(written, []);
  for (const _ of [1, 2]) await prompt("write");
  assert.deepEqual(written, [
    [path, "new"],
    [path, "new"],
  ]);
  assert.deepEqual(
    asked.map(({ title }) => title),
    [1, 2].map(() => `write ${path}`),
    "the second answer is for the session",
  );
  await prompt("secret");
  assert.doesNotMatch(said(), /the text of/);
  const log = await probe.parley(["permissions", "log", "--json"]);
  assert.match(log.stdout, /"operation":"write".*a\.txt.*"effect":"allow","by":"user"/s);
  assert.match(log.stdout, /secret.*"effect":"deny","by":"rule"/s);
});

const unasked = (command: string): Partial<AgentScenario> => ({
  turns: [{ when: "hello", steps: [{ say: "hello" }] }],
  otherwise: [
    { tool: { title: command, kind: "execute", rawInput: { command } }, steps: [{ say: "done " }] },
    { wait: "cancelled" },
  ],
});

test(
  "an agent that does what a rule forbids without asking is stopped, and counts as one that never asks from then on",
  patience,
  async (t) => {
    const words = probe.agent(unasked("rm -r src"));
    const rules = ["policy --deny 'exec rm'"];
    const first = await editor(t, rules, words);
    assert.equal(await first.prompt("go"), "cancelled");
    assert.match(
      first.said(),
      /\[policy\] .*rm -r src.*: done without asking, against a rule \(deny exec rm \(--deny\)\)\. The turn is stopped\./,
    );
    assert.equal(await first.prompt("again"), "refusal");
    assert.match(first.said(), /never asks, so this rule cannot be kept: deny exec rm \(--deny\)/);
    await assert.rejects(
      editor(t, rules, words),
      /never asks, so this rule cannot be kept: deny exec rm \(--deny\)/,
    );
    const without = await editor(t, ["policy"], words);
    assert.equal(await without.prompt("hello"), "end_turn");
    assert.match(
      without.said(),
      /has done something without asking \(deny exec rm \(--deny\)\): rules cannot stop it, `--sandbox` can\./,
    );
    const reset = await probe.started(["proxy", "--reset", "policy"]);
    assert.equal(reset.stdout, "Forgot which agents did something without asking.\n");
    await editor(t, rules, words);
  },
);

/** The environment in which a scripted agent stands in place of the program of pi, which does this first. */
function withPi(first = "true"): { readonly PATH: string } {
  const words = probe.agent({ otherwise: [{ say: "hello" }] }).map((word) => `'${word}'`);
  writeFileSync(join(probe.folder, "pi-acp"), `#!/bin/sh\n${first}\nexec ${words.join(" ")}\n`, {
    mode: 0o755,
  });
  return { PATH: `${probe.folder}:${process.env["PATH"]}` };
}

test(
  "the sandbox of an agent that never asks keeps the rules of the proxy on paths",
  inSandbox,
  async (t) => {
    const env = withPi("(echo no > b.txt) 2>&-; echo yes > a.txt");
    writeFileSync(join(probe.cwd, "b.txt"), "old");
    const { said, prompt } = await editor(t, ["--sandbox", "policy --deny 'write b.txt'"], ["pi"], { env });
    await prompt("hi");
    assert.match(said(), /^\[policy\] pi never asks: rules cannot stop it, only its sandbox can\./);
    const text = (name: string) => readFileSync(join(probe.cwd, name), "utf8");
    assert.equal(text("b.txt"), "old");
    assert.equal(text("a.txt"), "yes\n");
  },
);

test("the sandbox of an agent of a run keeps them, too", inSandbox, async () => {
  const env = withPi("(echo no > c.txt) 2>&-; echo yes > d.txt");
  writeFileSync(join(probe.cwd, "c.txt"), "old");
  const args = ["--no-history", "hi", "--agent", "pi", "--sandbox", "agent"];
  const ran = await probe.parley(["run", ...args, "--proxy", "policy --deny 'write c.txt'"], { env });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /pi never asks: rules cannot stop it, only its sandbox can\./);
  const text = (name: string) => readFileSync(join(probe.cwd, name), "utf8");
  assert.deepEqual([text("c.txt"), text("d.txt")], ["old", "yes\n"]);
});

test("a rule that no sandbox keeps is refused for an agent that never asks", inSandbox, async (t) => {
  const env = withPi();
  await assert.rejects(
    editor(t, ["--sandbox", "policy --deny 'exec git push'"], ["pi"], { env }),
    /pi never asks, so this rule cannot be kept: deny exec git push \(--deny\)\. Its sandbox does not keep it either/,
  );
});

test(
  "of an agent that is known never to ask it is said at the start, and a deny rule is refused",
  patience,
  async (t) => {
    const env = withPi();
    const { said, prompt } = await editor(t, ["policy"], ["pi"], { env });
    await prompt("hi");
    assert.equal(said(), "[policy] pi never asks: rules cannot stop it, `--sandbox` can.\n\nhello");
    await assert.rejects(
      editor(t, ["policy --deny 'write .env'"], ["pi"], { env }),
      /pi never asks, so this rule cannot be kept: deny write \.env \(--deny\)\. Run the agent in a sandbox \(--sandbox\), or remove the rule/,
    );
  },
);

test("our own agent announces what it would do without asking, and a rule stops it", patience, async (t) => {
  writeFileSync(join(probe.cwd, "a.txt"), "old");
  const { prompt, said } = await editor(t, ["policy --deny 'read a.txt'"], ["parley"]);
  await prompt("read a.txt");
  assert.doesNotMatch(said(), /old/);
  assert.equal(readFileSync(join(probe.cwd, "a.txt"), "utf8"), "old");
});

test(
  "a run exits with 3 after a refusal by the proxy, and after what was done against its rules",
  patience,
  async () => {
    const rules = ["--proxy", "policy --deny 'exec rm'"];
    const refused = await probe.run({ otherwise: ask("rm -r src") ?? [] }, rules);
    assert.equal(refused.status, 3, refused.stderr);
    assert.match(refused.stderr, /refused by policy: run rm -r src/);
    assert.match(refused.stderr, /--allow cannot override this: deny exec rm/);
    const agent = probe.agent(unasked("rm -r src"));
    const broken = await probe.parley(["run", "--no-history", "go", ...rules, "--", ...agent]);
    assert.equal(broken.status, 3, broken.stderr);
    assert.match(broken.stderr, /the agent acted against a rule, without asking: run rm -r src/);
  },
);

test("run and chat take it too, and a wrong rule is reported before anything starts", patience, async () => {
  const ran = await probe.run({ otherwise: [{ say: "hello" }] }, ["--proxy", "policy --deny 'exec rm'"]);
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /hello/);
  const wrong = await probe.started(["proxy", "policy --deny 'fly away'", "--", "x"]);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /--deny: .*fly/);
  const open = await probe.started(["proxy", "--on-exit", "bypass", "policy", "--", "x"]);
  assert.notEqual(open.status, 0);
  assert.match(open.stderr, /decides what is allowed, so it cannot be bypassed|cannot be bypassed/);
});
