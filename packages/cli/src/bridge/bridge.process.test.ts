// The bridge as an editor starts it: what it prints, how it ends, what it leaves behind.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type ClientSession, client, type SessionUpdate } from "@parley/acp";
import { type SpawnedTransport, spawnTransport } from "@parley/acp/node";
import { launcher } from "../../../acp/test/support/programs.ts";

const temporary = mkdtempSync(join(tmpdir(), "parley-bridge-cli-"));
after(() => rmSync(temporary, { recursive: true, force: true }));
const deadline = { timeout: 120_000 };
const environment = { PARLEY_HOME: join(temporary, "home") };
/** Where the agents below find the packages. */
const cwd = fileURLToPath(new URL("..", import.meta.url));

/** An agent of one version that does in a turn what its prompt says. */
const program = `
  import { spawn } from "node:child_process";
  import { agent } from "@parley/acp";
  import { gitPatch } from "@parley/acp/view";
  import { serveStdio } from "@parley/acp/node";
  console.error("the agent has started", process.pid);
  await serveStdio(agent({
    name: "scripted", version: "1.0.0", editions: ["v" + process.argv[1]],
    async prompt(turn) {
      const [what, ...args] = turn.text.split(" ");
      if (what === "exit") process.exit(Number(args[0]));
      if (what === "pids") await turn.say(JSON.stringify([process.pid, spawn("sleep", ["1000"]).pid]));
      if (what === "plan") for (const text of ["one", "two"])
        await turn.plan([{ content: text, priority: "high", status: "cancelled" }]);
      if (what === "patch") {
        const [path, oldText, newText] = JSON.parse(args.join(" "));
        const patch = { format: "git_patch", text: gitPatch(path, oldText, newText) };
        const diff = { type: "diff", changes: [{ operation: "modify", path }], patch };
        await turn.update({ sessionUpdate: "tool_call_update", toolCallId: "1", title: "Edit", content: [diff] });
      }
    },
  }));
`;

function agentCommand(version: 1 | 2): string[] {
  const flags = ["--conditions=parley-source", "--input-type=module", "-e", program];
  return [process.execPath, ...flags, String(version)];
}

function bridge(...args: string[]) {
  const env = { ...process.env, ...environment };
  return spawnSync(launcher, ["bridge", ...args], { encoding: "utf8", cwd, env, input: "" });
}

interface Bridged {
  readonly session: ClientSession;
  readonly process: SpawnedTransport;
  close(): Promise<void>;
}

async function bridged(t: TestContext, flags: readonly string[] = [], place = temporary): Promise<Bridged> {
  const args = ["bridge", "--as", "v1", ...flags, "--", ...agentCommand(2)];
  const process = spawnTransport(launcher, args, { cwd, env: environment });
  const agent = await client({ name: "editor", version: "1.0.0", editions: ["v1"] }).connect(process);
  t.after(() => agent.close());
  return { session: await agent.newSession({ cwd: place }), process, close: () => agent.close() };
}

async function turn(session: ClientSession, prompt: string): Promise<SessionUpdate[]> {
  const updates: SessionUpdate[] = [];
  for await (const update of session.prompt(prompt)) updates.push(update);
  return updates;
}

const occurrences = (text: string, part: string): number => text.split(part).length - 1;

test("what is missing is said, with exit code 2 and nothing on stdout", deadline, () => {
  for (const [args, complaint] of [
    [
      ["--", "agent"],
      /--as: expected the edition that the editor speaks: v1, v2, pharo, scoped; got nothing/,
    ],
    [["--as", "v1"], /expected an agent: parley bridge --as v1 -- COMMAND/],
    [["--as", "v1", "--log", "/nowhere/at/all", "--", "agent"], /--log: cannot write there: ENOENT/],
    [
      ["--as", "v1", "--loud", "--", "agent"],
      /unknown option '--loud'; options: --as, --edition, --strict, --log/,
    ],
  ] as const) {
    const { status, stdout, stderr } = bridge(...args);
    assert.deepEqual([status, stdout], [2, ""]);
    assert.match(stderr, complaint);
    assert.match(stderr, /see parley help bridge/);
  }
  for (const name of ["as", "edition"]) {
    const { status, stdout, stderr } = bridge("--as", "v1", `--${name}`, "v3", "--", "agent");
    assert.deepEqual([status, stdout], [2, ""]);
    assert.equal(
      stderr,
      `parley: --${name}: expected v1, v2, pharo, scoped, got v3\nparley: docs/editions.md says which edition is spoken when\n`,
    );
  }
});

test(
  "an editor of version 1 works with an agent of a dialect, and the log says what is spoken and lost",
  deadline,
  async (t) => {
    for (const edition of ["pharo", "scoped"] as const) {
      const log = join(temporary, `${edition}.log`);
      const args = ["--as", "v1", "--edition", edition, "--log", log, "--", launcher, "agent"];
      const process = spawnTransport(launcher, ["bridge", ...args, "--edition", edition], {
        cwd,
        env: { ...environment, PARLEY_MODEL: "offline" },
      });
      const agent = await client({ name: "editor", version: "1.0.0", editions: ["v1"] }).connect(process);
      t.after(() => agent.close());
      const session = await agent.newSession({ cwd: temporary });
      const updates = await turn(session, "list");
      assert.ok(updates.some(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk"));
      await agent.close();
      await process.exited;
      const logged = readFileSync(log, "utf8");
      assert.match(logged, new RegExp(`info the editor speaks v1, the agent ${edition}`));
      if (edition === "pharo") assert.match(logged, /warn lost in translation: capabilities of the client: /);
    }
  },
);

test(
  "an agent of a dialect that was not named is refused with the option to type, on stderr too",
  deadline,
  async (t) => {
    const answer = { protocolVersion: 1, agentCapabilities: {}, authenticationMethods: [] };
    const script = `process.stdin.once("data", (line) => console.log(JSON.stringify({
    jsonrpc: "2.0", id: JSON.parse(line).id, result: ${JSON.stringify(answer)} })))`;
    for (const edition of ["v1", "v2"] as const) {
      const args = ["bridge", "--as", edition, "--", process.execPath, "-e", script];
      const child = spawnTransport(launcher, args, { cwd, env: environment });
      const editor = client({ name: "editor", version: "1.0.0", editions: [edition] });
      await assert.rejects(editor.connect(child), /--edition pharo/);
      t.after(() => child.close());
      await child.exited;
      assert.match(child.stderrTail(), /^parley: the answer to initialize: .*--edition pharo/m);
    }
  },
);

test("the agent's arguments are its own, --help among them", deadline, () => {
  const script = "console.error(JSON.stringify(process.argv.slice(1)))";
  const odd = ["--help", "-h", "a b", "$HOME", "--as", "--"];
  const { stdout, stderr } = bridge("--as", "v1", "--", process.execPath, "-e", script, "--", ...odd);
  assert.equal(stdout, "");
  assert.ok(stderr.includes(JSON.stringify(odd)), stderr);
});

test("an editor that leaves ends the bridge with 0, and the agent with it", deadline, async (t) => {
  const { session, process: bridge, close } = await bridged(t);
  const said = await turn(session, "pids");
  await close();
  assert.deepEqual(await bridge.exited, { exitCode: 0 });
  assert.match(bridge.stderrTail(), /the agent has started \d+/);
  assert.deepEqual(pidsIn(said).filter(runs), []);
});

test("an agent that leaves ends the bridge with its own exit code", deadline, async (t) => {
  const { session, process: bridge } = await bridged(t);
  const outcome = await session.prompt("exit 7").result.catch((error: unknown) => error);
  assert.match(
    JSON.stringify(outcome instanceof Error ? outcome.message : outcome),
    /agent has disconnected/,
  );
  assert.deepEqual(await bridge.exited, { exitCode: 7 });
});

test("a bridge that is told to stop takes the agent along", deadline, async (t) => {
  const { session, process: bridge } = await bridged(t);
  const pids = pidsIn(await turn(session, "pids"));
  assert.equal(pids.filter(runs).length, 2);
  process.kill(bridge.pid ?? assert.fail(), "SIGTERM");
  assert.deepEqual(await bridge.exited, { exitCode: 128 + 15 });
  assert.deepEqual(pids.filter(runs), []);
});

test("an agent that cannot be started is an answer to the editor, and exit code 127", deadline, async () => {
  const args = ["bridge", "--as", "v1", "--", "/nowhere/agent"];
  const bridge = spawnTransport(launcher, args, { cwd, env: environment });
  await assert.rejects(
    client({ name: "editor", version: "1.0.0", editions: ["v1"] }).connect(bridge),
    /the agent cannot be reached: .*\/nowhere\/agent/,
  );
  assert.deepEqual(await bridge.exited, { exitCode: 127 });
  assert.match(bridge.stderrTail(), /^parley: .*\/nowhere\/agent/m);
});

test(
  "a bridge does not wait for an editor's first word to say that there is no agent",
  deadline,
  async () => {
    for (const [command, code] of [
      [["/nowhere/agent"], 127],
      [[process.execPath, "-e", "process.exit(9)"], 9],
    ] as const) {
      const child = spawn(launcher, ["bridge", "--as", "v1", "--", ...command], { cwd, env: process.env });
      const complaints = text(child.stderr);
      // its input stays open
      const [status] = await once(child, "exit");
      assert.equal(status, code);
      assert.match(await complaints, code === 127 ? /^parley: .*\/nowhere\/agent/m : /^$/);
      child.stdin.destroy();
    }
  },
);

test("a command that is not there is 127 without an editor, too", deadline, () => {
  const { status, stderr } = bridge("--as", "v1", "--", "/nowhere/agent");
  assert.equal(status, 127);
  assert.match(stderr, /^parley: cannot start "\/nowhere\/agent"/);
});

test("each loss is told once on stderr, and every time in _meta", deadline, async (t) => {
  const { session, process: bridge, close } = await bridged(t);
  const plans = (await turn(session, "plan")).filter((update) => update.sessionUpdate === "plan_update");
  assert.equal(plans.length, 2);
  const loss = "a cancelled plan entry is shown as completed";
  for (const plan of plans) assert.deepEqual(plan._meta, { "_parley.dev/lost": [loss] });
  await close();
  await bridge.exited;
  assert.equal(occurrences(bridge.stderrTail(), `parley: lost in translation: ${loss}\n`), 1);
});

test(
  "--strict leaves out what cannot be said, --log tells it all to a file of one's own",
  deadline,
  async (t) => {
    const file = join(temporary, "bridge.log");
    const { session, process: bridge, close } = await bridged(t, ["--strict", "--log", file]);
    const updates = await turn(session, "plan");
    assert.deepEqual(
      updates.filter((update) => update.sessionUpdate === "plan_update"),
      [],
    );
    await close();
    await bridge.exited;
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    for (const line of lines) assert.match(line, /^\d{4}-\d\d-\d\dT[\d:.]+Z (?:debug|info|warn|error) /);
    assert.match(lines.join("\n"), /info versions negotiated \(client 1, agent 2\)/);
    assert.equal(
      occurrences(
        lines.join("\n"),
        "dropped an update that the client's version cannot express: a cancelled plan entry",
      ),
      1,
    );
    assert.match(
      lines.join("\n"),
      /lost in translation, in all \(.*"a cancelled plan entry is shown as completed":2/,
    );
    assert.doesNotMatch(bridge.stderrTail(), /left out/);
  },
);

test(
  "a patch is shown as two whole texts where the file is below the session's roots",
  deadline,
  async (t) => {
    const before = Array.from({ length: 40 }, (_, line) => `line ${line}\n`).join("");
    const after = before.replace("line 20\n", "line twenty\n");
    const place = mkdtempSync(join(temporary, "roots-"));
    const [inside, outside] = [join(place, "in.txt"), join(temporary, "out.txt")];
    for (const path of [inside, outside]) writeFileSync(path, before);
    const { session } = await bridged(t, [], place);
    const shown = async (path: string) => {
      const updates = await turn(session, `patch ${JSON.stringify([path, before, after])}`);
      const tool = updates.find((update) => update.sessionUpdate === "tool_call_update");
      const diff = tool?.sessionUpdate === "tool_call_update" ? tool.content?.[0] : undefined;
      return diff?.type === "diff" ? { oldText: diff.oldText, newText: diff.newText } : assert.fail();
    };
    assert.deepEqual(await shown(inside), { oldText: before, newText: after });
    // only what the patch itself says
    const { oldText, newText } = await shown(outside);
    assert.ok(newText?.includes("line twenty\n") && !newText.includes("line 1\n"), newText);
    assert.ok(oldText?.includes("line 20\n"));
    assert.equal(existsSync(outside), true);
  },
);

function pidsIn(updates: readonly SessionUpdate[]): number[] {
  const said = updates.find((update) => update.sessionUpdate === "agent_message_chunk");
  if (said?.sessionUpdate !== "agent_message_chunk" || said.content.type !== "text") assert.fail();
  return JSON.parse(said.content.text);
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // a process that has ended and waits for its parent does not run
    return !/\) [ZX] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}
