// Agents that start, do not start, and never answer; and the environment that they get.

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as turnOfTheLoop } from "node:timers/promises";
import type { Transport } from "@parley/acp/transport";
import { type CommandEntry, commandEntry, launchAgent, readyAgents } from "@parley/client/launch";
import { patience, runs, scripted } from "../../test/support/managed-probe.ts";
import type { LaunchEvent } from "../index.ts";

const definition = { name: "test", version: "1.0.0" };
const patient = (handshakeTimeoutMs: number) => ({ ...definition, connection: { handshakeTimeoutMs } });

async function launched(t: TestContext, entry: CommandEntry, more: object = {}) {
  const events: LaunchEvent[] = [];
  const agent = await launchAgent(entry, {
    definition,
    onEvent: (event) => void events.push(event),
    ...more,
  });
  t.after(() => agent.close());
  return { agent, events };
}

test("an agent that starts says who it is and how long it took", patience, async (t) => {
  const { entry } = scripted(t, { play: { name: "who", title: "Who" } });
  const { agent, events } = await launched(t, entry);
  assert.equal(agent.agent.info?.name, "who");
  assert.ok(agent.pid !== undefined && agent.handshakeMs > 0);
  assert.deepEqual(
    // on a busy machine it is also waited for
    events.map(({ kind }) => kind).filter((kind) => kind !== "waiting"),
    ["starting", "ready"],
  );
});

test("a program that is not on PATH is told with how to install it", patience, async () => {
  const claude = readyAgents().find(({ name }) => name === "claude") ?? assert.fail();
  await assert.rejects(
    launchAgent(claude, { definition, inherited: { PATH: "/nowhere", HOME: "/nowhere" } }),
    {
      name: "LaunchError",
      kind: "not_found",
      message: "claude-agent-acp, the program of claude, was not found: it is not on PATH",
      hint: "install it: npm install --global @agentclientprotocol/claude-agent-acp",
    },
  );
});

test("a shell line is not a command, and the reason says so", patience, async () => {
  await assert.rejects(launchAgent(commandEntry(["my-agent --acp"]), { definition }), {
    kind: "not_found",
    hint: /a command is a program and its arguments, not a shell line/,
  });
});

test("a file that cannot be executed, a folder and a missing file are told apart", patience, async (t) => {
  const { folder } = scripted(t);
  const file = join(folder, "agent");
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, 0o644);
  await assert.rejects(launchAgent(commandEntry([file]), { definition }), {
    kind: "not_executable",
    hint: /chmod/,
  });
  await assert.rejects(launchAgent(commandEntry([folder]), { definition }), { kind: "not_executable" });
  await assert.rejects(launchAgent(commandEntry([join(folder, "no")]), { definition }), {
    kind: "not_found",
    hint: "check the path, or install it",
  });
});

test(
  "a program where installers put it is found without PATH, and so is its interpreter beside it",
  patience,
  async (t) => {
    const { entry, folder, starts } = scripted(t, { play: {} });
    const bin = join(folder, ".local/bin");
    mkdirSync(bin, { recursive: true });
    const line = [process.execPath, ...entry.args].map((word) => `'${word}'`).join(" ");
    writeFileSync(join(bin, "my-shell"), `#!/bin/sh\nexec /bin/sh "$@"\n`, { mode: 0o755 });
    writeFileSync(join(bin, "my-agent"), `#!/usr/bin/env my-shell\nexec ${line}\n`, { mode: 0o755 });
    const inherited = { HOME: folder, PATH: "/usr/bin:/bin" };
    await launched(t, commandEntry(["my-agent"]), { inherited });
    assert.equal(starts()[0]?.env["PATH"], `/usr/bin:/bin:${bin}`);
  },
);

test(
  "an agent that ends before the handshake is told with its exit code and what it wrote to stderr (F2)",
  patience,
  async (t) => {
    const { entry } = scripted(t, { stderr: "no such model\n", exit: 4 });
    await assert.rejects(launchAgent(entry, { definition }), {
      kind: "exited",
      exitCode: 4,
      stderr: /no such model/,
      message: /ended before it could be used/,
    });
  },
);

/** Says something on stderr and nothing else, for ever. */
function silent(t: TestContext) {
  const { folder } = scripted(t);
  const script = 'echo $$ > "$0/pid"; echo loading... >&2; exec sleep 100000';
  const entry = { ...commandEntry(["/bin/sh", "-c", script, folder]), traits: { graceMs: 1 } };
  return { entry, pid: () => Number(readFileSync(join(folder, "pid"), "utf8")) };
}

test("an agent that never answers is ended at the deadline, and its stderr is shown", patience, async (t) => {
  const { entry, pid } = silent(t);
  await assert.rejects(launchAgent(entry, { definition: patient(3_000) }), {
    kind: "handshake_timeout",
    message: "sh did not answer within 3 s",
    stderr: "loading...",
  });
  // the test's deadline is the limit
  while (runs(pid())) await turnOfTheLoop(10);
});

test("an agent whose messages take several lines is told with its first line", patience, async () => {
  const script = `process.stdin.once("data", () => console.log(JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} }, null, 2)))`;
  const entry = commandEntry([process.execPath, "-e", script]);
  await assert.rejects(launchAgent(entry, { definition: patient(3_000) }), {
    kind: "handshake_timeout",
    message: 'node did not answer within 3 s; its stdout has a line that is not a message: "{"',
    hint: /each message must be JSON on one line/,
  });
  // also where somebody else ends the wait; a pipe takes less than this, so the first line has been read
  const greeting = "echo Welcome; head -c 300000 /dev/zero | tr '\\0' ' '; echo >&2; exec cat >/dev/null";
  const stop = new AbortController();
  const heads: string[] = [];
  const starting = launchAgent(commandEntry(["/bin/sh", "-c", greeting]), {
    definition,
    signal: stop.signal,
    onEvent(event) {
      if (event.kind === "stderr") stop.abort();
      if (event.kind === "unread") heads.push(event.head);
    },
  });
  await assert.rejects(starting, { kind: "aborted" });
  assert.deepEqual(heads, ["Welcome"]);
});

test("an agent that is killed is not given any time, whatever it is doing", patience, async (t) => {
  const { folder } = scripted(t);
  const deaf = 'trap "" TERM; echo $$ > "$0/pid"; echo deaf >&2; while :; do sleep 1; done';
  const entry = { ...commandEntry(["/bin/sh", "-c", deaf, folder]), traits: { graceMs: 1_000_000 } };
  const stop = new AbortController();
  const kill = new AbortController();
  const starting = launchAgent(entry, {
    definition,
    signal: stop.signal,
    kill: kill.signal,
    onEvent({ kind }) {
      if (kind !== "stderr") return;
      stop.abort();
      setImmediate(() => kill.abort());
    },
  });
  await assert.rejects(starting, { kind: "aborted" });
  assert.equal(runs(Number(readFileSync(join(folder, "pid"), "utf8"))), false);
});

test("a start that is given up leaves nothing behind", patience, async (t) => {
  const { entry, pid } = silent(t);
  const stop = new AbortController();
  await assert.rejects(
    launchAgent(entry, {
      definition,
      signal: stop.signal,
      onEvent: ({ kind }) => kind === "stderr" && stop.abort(),
    }),
    { kind: "aborted" },
  );
  while (runs(pid())) await turnOfTheLoop(10);
  await assert.rejects(launchAgent(entry, { definition, signal: stop.signal }), { kind: "aborted" });
});

test("what is no agent at all is told", patience, async () => {
  await assert.rejects(
    launchAgent(commandEntry([process.execPath, "-e", "console.log('hello')"]), { definition }),
    {
      kind: "exited",
      hint: "it wrote nothing to stderr; check that this command serves ACP",
    },
  );
  // its echo shows what it is, long before the deadline
  await assert.rejects(launchAgent(commandEntry(["cat"]), { definition: patient(100_000) }), {
    kind: "protocol",
    message: "cat: initialize: no answer, it only echoes its input and is not an agent",
    hint: /check that this command serves ACP/,
  });
});

/** One secret for each kind of thing that an environment holds. */
const canaries = {
  ANTHROPIC_API_KEY: "canary-1",
  OPENAI_API_KEY: "canary-2",
  GITHUB_TOKEN: "canary-3",
  AWS_SECRET_ACCESS_KEY: "canary-4",
  DATABASE_URL: "canary-5",
  NPM_TOKEN: "canary-6",
  PARLEY_BRIDGE_TOKEN: "canary-7",
  PARLEY_GATEWAY_TOKEN: "canary-8",
  CLAUDECODE: "canary-9",
  CODEX_SANDBOX: "canary-10",
  GEMINI_CLI: "canary-11",
  TMUX_PANE: "canary-12",
  NODE_OPTIONS: "",
};

/** What an agent with these variables to pass is given. */
async function given(t: TestContext, passes?: readonly string[]) {
  const { entry, starts } = scripted(t, { play: {} });
  const { agent, events } = await launched(
    t,
    { ...entry, ...(passes === undefined ? {} : { pass: passes }) },
    { inherited: { ...process.env, ...canaries } },
  );
  await agent.close();
  const env = starts()[0]?.env ?? {};
  const kept = Object.keys(canaries).filter((name) => env[name]?.startsWith("canary"));
  return { kept, env, keys: events.flatMap((event) => (event.kind === "starting" ? event.keys : [])) };
}

test(
  "a ready agent gets its own variables and what every program needs, and no other (TH7)",
  patience,
  async (t) => {
    const claude = readyAgents().find(({ name }) => name === "claude")?.pass ?? [];
    const { kept, env, keys } = await given(t, claude);
    assert.deepEqual(kept, ["ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY"]);
    assert.equal(env["PATH"], process.env["PATH"]);
    assert.deepEqual(keys, ["ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY"]);
    const codex = readyAgents().find(({ name }) => name === "codex")?.pass ?? [];
    assert.deepEqual((await given(t, codex)).kept, ["OPENAI_API_KEY"]);
  },
);

test(
  "a command that was typed gets everything but our own secrets and the marks of other agents",
  patience,
  async (t) => {
    const { kept } = await given(t);
    assert.deepEqual(kept, [
      "ANTHROPIC_API_KEY",
      "OPENAI_API_KEY",
      "GITHUB_TOKEN",
      "AWS_SECRET_ACCESS_KEY",
      "DATABASE_URL",
      "NPM_TOKEN",
      "TMUX_PANE",
    ]);
  },
);

test("no ready agent is given another one's marks, whatever it may be given", () => {
  for (const { name, pass: passes, command, args } of readyAgents({ command: "/opt/parley" })) {
    assert.ok(passes !== undefined, name);
    assert.doesNotMatch(command, /\s/, name);
    assert.ok(Array.isArray(args), name);
    for (const mark of ["CLAUDECODE", "CODEX_SANDBOX"]) assert.ok(!passes.includes(mark), name);
  }
});

for (const [how, name, traits, isPolicy] of [
  ["by its entry", "scripted", { ownFiles: true }, false],
  ["by what it calls itself, whatever its command is", "gemini-cli", {}, false],
  ["by its entry, where a policy has them", "scripted", { ownFiles: true }, true],
  ["by what it calls itself, where a policy has them", "gemini-cli", {}, true],
] as const) {
  test(
    `an agent for which files of ours are known to do harm, ${how}, is offered none`,
    patience,
    async (t) => {
      const { entry } = scripted(t, {
        // the next version has no files at all
        play: { name, editions: ["v1"], otherwise: [{ read: "/etc/hostname" }, { say: "no files" }] },
      });
      let reads = 0;
      const files = {
        canRead: true,
        canWrite: true,
        readText: () => {
          reads += 1;
          return Promise.reject(new Error("read"));
        },
        writeText: () => Promise.reject(new Error("written")),
      };
      const terminals = { create: () => Promise.reject(new Error("none")) };
      const policy = { decide: () => "deny" as const, services: () => ({ files, terminals }) };
      const given = { ...definition, ...(isPolicy ? { policy } : { files }) };
      const { agent, events } = await launched(t, { ...entry, traits }, { definition: given });
      assert.equal(agent.agent.edition, "v1");
      const session = await agent.agent.newSession({ cwd: dirname(process.execPath) });
      assert.equal((await session.prompt("go").result).stopReason, "end_turn");
      assert.deepEqual([reads, events.filter(({ kind }) => kind === "ready").length], [0, 1]);
    },
  );
}

test("what an agent prints of its keys when it fails is not in the error (F2)", patience, async (t) => {
  const { entry } = scripted(t, { stderr: "401: canary-key is wrong; so is canary-pass\n", exit: 1 });
  const inherited = { ...process.env, THEIR_API_KEY: "canary-key" };
  const failure = await launchAgent(entry, {
    definition,
    inherited,
    env: { DB_LOGIN: "canary-pass" },
  }).catch((error: unknown) => error);
  assert.partialDeepStrictEqual({ ...(failure as object) }, { kind: "exited", exitCode: 1 });
  assert.equal((failure as { stderr?: string }).stderr, "401: [THEIR_API_KEY] is wrong; so is [DB_LOGIN]");
});

test(
  "an agent that names a component in its refusal is not mistaken for one of our chains",
  patience,
  async () => {
    const error = { code: -32600, message: "no licence", data: { component: "licences" } };
    const answering = `process.stdin.on("data", (line) => {
    const { id } = JSON.parse(line);
    console.log(JSON.stringify({ jsonrpc: "2.0", id, error: ${JSON.stringify(error)} }));
  });`;
    const entry = { ...commandEntry([process.execPath, "-e", answering]), name: "mine" };
    for (const front of [undefined, (transport: Transport) => transport])
      await assert.rejects(launchAgent(entry, { definition, ...(front && { front }) }), {
        kind: "protocol",
        message: "mine refused initialize: no licence (-32600)",
      });
  },
);
