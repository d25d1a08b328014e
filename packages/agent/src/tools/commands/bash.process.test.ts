import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import type { Terminals } from "@parley/acp";
import { localTerminals } from "@parley/acp/node";
import {
  calls,
  says,
  scriptedModel,
  talk,
  temporaryFolder,
  toolStories,
} from "../../../test/support/agent-probe.ts";
import { isGone, numberIn } from "../../../test/support/polling.ts";
import { type Probe, type ProbeOptions, probe, refusal } from "../../../test/support/tool-probe.ts";
import { readTool } from "../files/read.ts";
import { bashTool } from "./bash.ts";

test("B8 a command does not see the keys of model providers", { timeout: 60_000 }, async (t) => {
  const names = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY"];
  const before = names.map((name) => [name, process.env[name]] as const);
  t.after(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  for (const name of names) process.env[name] = "sk-of-the-user";
  const { call } = await probe(t, { version: 2 });
  const { told } = await call(bashTool, { command: "env; echo end" });
  assert.match(told, /\nend\n/);
  assert.doesNotMatch(told, /sk-of-the-user/);
});

test("B10 a command that fails or takes too long is shown as failed", { timeout: 60_000 }, async (t) => {
  const commands = [{ command: "exit 3" }, { command: "sleep 1000", timeout: 1 }, { command: "true" }];
  const model = scriptedModel([calls(...commands.map((input) => ["bash", input] as const)), says("done")]);
  const cwd = temporaryFolder(t, {});
  const { session, updates, end } = await talk({
    version: 2,
    cwd,
    models: [model],
    answers: commands.map(() => "allow_once"),
  });
  await session.prompt("go").result;
  await end();
  const ends = toolStories(updates).map((story) => story.replace(/^.*?: .*> /, ""));
  assert.deepEqual(ends, ["failed", "failed", "completed"]);
  const told = model.requests[1]?.messages.at(-1);
  assert.ok(told?.role === "tool");
  assert.deepEqual(
    told.outcomes.map(({ isError }) => isError),
    [false, false, false],
    "the calls worked, the commands did not",
  );
  assert.match(JSON.stringify(told.outcomes[0]), /exit code 3/);
});

const patient = { timeout: 60_000 };

/** On this machine and in the terminals of a client. */
const places: readonly (readonly [string, (cwd: () => string) => ProbeOptions])[] = [
  ["here (v2)", () => ({ version: 2 })],
  ["here (v1)", () => ({ version: 1 })],
  ["at the client", () => ({ version: 1, client: { terminals: ({ cwd }) => localTerminals({ cwd }) } })],
];

for (const [place, options] of places) {
  const started = (t: Parameters<typeof probe>[0]): Promise<Probe> =>
    probe(
      t,
      options(() => ""),
    );

  test(`A17 a command gives its output and its exit code, ${place}`, patient, async (t) => {
    const { call, cwd } = await started(t);
    const { told, prepared, result } = await call(bashTool, {
      command: "echo out; echo err >&2; pwd; exit 3",
    });
    assert.equal(told, `out\nerr\n${cwd}\n\n[exit code 3]`);
    assert.deepEqual(prepared.presentation, {
      title: "echo out; echo err >&2; pwd; exit 3",
      kind: "execute",
    });
    assert.deepEqual(prepared.access, { type: "run", command: "echo out; echo err >&2; pwd; exit 3", cwd });
    const { exitCode, signal, timedOut } = result.rawOutput as Record<string, unknown>;
    assert.deepEqual([exitCode, signal, timedOut], [3, null, false]);
  });

  test(`a command runs without pager and prompts, ${place}`, patient, async (t) => {
    const { call } = await started(t);
    const { told } = await call(bashTool, { command: 'echo "$CI $PAGER"; cat; echo end' });
    assert.equal(told, "1 cat\nend\n\n[exit code 0]");
  });

  test(`a command that takes too long is ended with all that it started, ${place}`, patient, async (t) => {
    const { call, at } = await started(t);
    const command = "sleep 1000 & echo $! > pid; echo begun; wait";
    const { told, result } = await call(bashTool, { command, timeout: 1 });
    assert.equal(told, "begun\n\n[it ran for more than 1 s and was stopped; set timeout to allow more]");
    assert.equal((result.rawOutput as { timedOut: boolean }).timedOut, true);
    assert.ok(await isGone(Number(readFileSync(at("pid"), "utf8"))));
  });

  test(`a cancelled command is ended at once, ${place}`, patient, async (t) => {
    const { call, at } = await started(t);
    const stop = new AbortController();
    const running = call(bashTool, { command: "sleep 1000 & echo $! > pid; wait" }, stop.signal);
    const failed = assert.rejects(running, { name: "AbortError" });
    const pid = await numberIn(at("pid"));
    stop.abort();
    await failed;
    assert.ok(await isGone(pid));
  });

  test(`the model gets the end of a long output and a file with all of it, ${place}`, patient, async (t) => {
    const { call } = await started(t);
    const { told, result } = await call(bashTool, { command: "seq 1 9120" });
    const { file } = result.rawOutput as { file: string };
    assert.ok(told.startsWith("7121\n7122\n"));
    assert.ok(
      told.endsWith(`\n9120\n\n[the last 2000 of 9120 lines; all of it is in ${file}]\n[exit code 0]`),
    );
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const part = await call(readTool, { path: file, offset: 5_000, limit: 1 });
    assert.equal(part.told, "5000\n\n[lines 5000-5000 of 9120; continue with offset=5001]");
  });
}

test(
  "a flood of output: the model gets its end, a file gets all, the user sees parts",
  patient,
  async (t) => {
    const { call, wire } = await probe(t);
    const { told, result } = await call(bashTool, {
      command: "yes 0123456789abcdef | head -c 20000000; echo; echo last",
    });
    const { file, bytes } = result.rawOutput as { file: string; bytes: number };
    assert.equal(bytes, 20_000_006);
    assert.equal(statSync(file).size, 20_000_006);
    assert.match(told, /\nlast\n\n\[the last \d+ of 20000006 bytes; all of it is in /);
    const sent = wire.reduce((sum, line) => sum + line.length, 0);
    assert.ok(sent < 2_000_000, `${sent} bytes on the wire`);
  },
);

for (const version of [1, 2] as const) {
  test(
    `output is shown while the command runs, at most three times its bytes on the wire (v${version})`,
    patient,
    async (t) => {
      const { call, wire, updates } = await probe(t, { version });
      const command = "for i in $(seq 1 20); do seq 1 500; sleep 0.06; done";
      const { result } = await call(bashTool, { command });
      const { bytes } = result.rawOutput as { bytes: number };
      const sent = wire.reduce((sum, line) => sum + line.length, 0);
      assert.ok(sent <= 3 * bytes, `${sent} bytes for ${bytes}`);
      const chunks = updates.filter(({ sessionUpdate }) => sessionUpdate === "terminal_output_chunk");
      assert.ok(chunks.length > 3);
    },
  );
}

test("output that a shell leaves in the background ends with the call", patient, async (t) => {
  const { call, at } = await probe(t);
  const { told } = await call(bashTool, { command: "sleep 1000 & echo $! > pid; echo done" });
  assert.equal(told, "done\n\n[exit code 0]");
  assert.ok(await isGone(Number(readFileSync(at("pid"), "utf8"))));
});

test("a command runs only below the roots", patient, async (t) => {
  const { call, put } = await probe(t);
  put("file", "");
  assert.match(await refusal(call(bashTool, { command: "pwd", cwd: ".." })), /outside the workspace/);
  assert.equal(
    await refusal(call(bashTool, { command: "pwd", cwd: "file" })),
    "cwd must be a directory, but file is not one",
  );
});

test("a client that never reports the end of a killed command is not waited for", patient, async (t) => {
  const asked: string[] = [];
  const terminals: Terminals = {
    create: async () => ({
      terminalId: "mute",
      output: async () => ({ output: "begun\n", truncated: false }),
      waitForExit: () => new Promise(() => undefined),
      kill: async () => void asked.push("kill"),
      release: async () => void asked.push("release"),
    }),
  };
  const { call } = await probe(t, { version: 1, client: { terminals: () => terminals } });
  const { told } = await call(bashTool, { command: "make", timeout: 1 });
  assert.equal(told, "begun\n\n[it ran for more than 1 s and was stopped; set timeout to allow more]");
  assert.deepEqual(asked, ["kill", "release"]);
});
