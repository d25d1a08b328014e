// Bugs that clients of agents really had, each as a test of the real command, under the number that it has in the list of
// interoperability bugs. Number 19 is about Windows and cannot be tested here.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { editionNamed } from "@parley/dialects";
import { eventsOf, interruptAt, launcher, patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();
const v1 = { editions: ["v1"] } as const;
const asks = (toolCallId: string) => ({
  method: "session/request_permission",
  params: {
    sessionId: "{{session}}",
    toolCall: { toolCallId, title: `Call ${toolCallId}` },
    options: [
      { optionId: "yes", name: "Yes", kind: "allow_once" },
      { optionId: "no", name: "No", kind: "reject_once" },
    ],
  },
});

/** Waits for what has no event: the end of processes that nobody here is the parent of. */
async function noneLeft(): Promise<void> {
  const latest = performance.now() + 20_000;
  while (probe.leftovers().length > 0 && performance.now() < latest) await delay(50);
  assert.deepEqual(probe.leftovers(), []);
}

suite("interoperability bugs", () => {
  test("bug 1: what is no JSON on an agent's stdout is skipped", patience, async () => {
    const { status, stdout, stderr } = await probe.run({
      ...v1,
      wire: { greeting: ["\u001b[32mmigrating the database\u001b[0m", '"a string"', "[1,2]", "42"] },
      otherwise: [{ raw: "Performing a one-time migration..." }, { say: "fine" }],
    });
    assert.deepEqual([status, stdout], [0, "fine\n"]);
    assert.match(
      stderr,
      /wrote 5 lines to stdout that are not messages, skipped; the first begins: migrating/,
    );
  });

  test("bug 3: an agent that ignores a cancel is ended, and so is what it started", patience, async () => {
    const program = join(probe.folder, "wrapped-agent");
    const file = join(probe.folder, "started.pid");
    const [node = "", ...args] = probe.agent([{ say: "working" }, { hang: "turn" }]);
    const words = args.map((each) => `"${each}"`).join(" ");
    writeFileSync(program, `#!/bin/sh\nsleep 600 &\necho $! > "${file}"\n"${node}" ${words}\n`);
    chmodSync(program, 0o755);
    const { status, stderr } = await probe.parley(
      ["run", "--no-history", "go", "--", program],
      interruptAt("working"),
    );
    assert.equal(status, 130, stderr);
    assert.ok(!probe.leftovers().includes(readFileSync(file, "utf8").trim()));
  });

  test("bug 3: a command that an agent waits for is ended with its turn", patience, async () => {
    const file = join(probe.folder, "waited.pid");
    writeFileSync(join(probe.cwd, "waits.sh"), `echo $$ > "${file}"\nexec sleep 600\n`);
    const run = { command: "sh", args: ["waits.sh"] };
    const started = performance.now();
    let look: NodeJS.Timeout | undefined;
    const steps = [{ say: "working" }, { run, ops: ["wait" as const] }];
    // in a sandbox it could not tell its pid
    const args = ["--sandbox", "off", "--allow", "exec sh waits.sh"];
    const { status, stderr } = await probe.run({ ...v1, otherwise: steps }, args, {
      onOutput(_, child) {
        look ??= setInterval(() => {
          if (!existsSync(file)) return;
          clearInterval(look);
          child.kill("SIGINT");
        }, 20);
      },
    });
    clearInterval(look);
    assert.deepEqual([status, stderr], [130, "parley: cancelled\n"]);
    // 2 s is the promise; the machine may be busy
    assert.ok(performance.now() - started < 40_000);
    assert.ok(!probe.leftovers().includes(readFileSync(file, "utf8").trim()));
  });

  test("bug 4: a second Ctrl-C ends an agent that neither stops nor leaves", patience, async () => {
    // the second one must not come before the first has been seen: an open call is then shown as cancelled
    const signs = ["working", '"status":"cancelled"'];
    const work = [{ say: "working" }, { hang: "agent" }] as const;
    const words = probe.agent([{ tool: { title: "Work" }, steps: work }]).map((word) => `"${word}"`);
    const folder = join(probe.folder, "codex");
    mkdirSync(folder);
    // this one is given five seconds to leave when there is no hurry
    writeFileSync(join(folder, "codex-acp"), `#!/bin/sh\nexec ${words.join(" ")}\n`, { mode: 0o755 });
    let second = 0;
    const args = ["run", "--no-history", "--json", "--agent", "codex", "x"];
    const { status } = await probe.parley(args, {
      env: { PATH: `${folder}:${process.env["PATH"]}` },
      onOutput(stdout, child) {
        if (signs[0] === undefined || !stdout.includes(signs[0])) return;
        signs.shift();
        second = performance.now();
        child.kill("SIGINT");
      },
    });
    const took = performance.now() - second;
    assert.deepEqual([signs, status], [[], 130]);
    assert.ok(took < 4_500, `${took} ms`);
  });

  test(
    "bug 5: a permission that nobody can answer is refused at once and never left open",
    patience,
    async () => {
      const { status, stdout } = await probe.run([
        { tool: { title: "Delete it", kind: "delete" }, steps: [{ ask: true }] },
        { say: "fine" },
      ]);
      assert.equal(status, 3);
      assert.match(stdout, /refused \(nobody is there to ask/);
    },
  );

  test("bug 6: two questions at once are both answered", patience, async () => {
    const ran = await probe.run(
      {
        ...v1,
        otherwise: [
          { raw: { jsonrpc: "2.0", id: "first", ...asks("a") } },
          { call: { ...asks("b"), id: "second" } },
          { say: "fine" },
        ],
      },
      ["--format", "json"],
    );
    const decisions = eventsOf(ran).filter(({ type }) => type === "decision");
    assert.equal(decisions.length, 2);
    assert.equal(eventsOf(ran).at(-1)?.["text"], "fine");
  });

  test("bug 7: a tool call that never ended is shown when the turn has", patience, async () => {
    const { status, stdout } = await probe.run({
      ...v1,
      otherwise: [
        { rawUpdate: { sessionUpdate: "tool_call", toolCallId: "t", title: "Build", status: "in_progress" } },
        { say: "fine" },
      ],
    });
    assert.deepEqual([status, stdout], [0, "fine\n\n… Build (not finished)\n"]);
  });

  test("bug 8: what an agent says before its session is answered for is printed", patience, async () => {
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "early " } };
    const early = { jsonrpc: "2.0", method: "session/update", params: { sessionId: "early-bird", update } };
    const replies = [{ method: "session/new", before: [early], result: { sessionId: "early-bird" } }];
    const prompted = { method: "session/prompt", result: { stopReason: "end_turn" } };
    const ran = await probe.run({ ...v1, wire: { replies: [...replies, prompted] } });
    assert.deepEqual([ran.status, ran.stdout.trim()], [0, "early"], ran.stderr);
  });

  test("bug 12: a request that nobody knows is refused, and no agent waits for it", patience, async () => {
    // a call waits for its answer, whatever that is
    const ran = await probe.run([{ call: { method: "vendor/ask" } }, { say: "answered" }]);
    assert.deepEqual([ran.status, ran.stdout], [0, "answered\n"], ran.stderr);
  });

  test("bug 9: a last chunk in the same write as the answer is printed", patience, async () => {
    const { stdout } = await probe.run({
      ...v1,
      otherwise: [{ say: "be" }, { say: "gin" }, { say: ", end" }],
    });
    assert.equal(stdout, "begin, end\n");
  });

  test("bug 10: ten thousand chunks are printed in their order", patience, async () => {
    const steps = Array.from({ length: 10_000 }, (_, at) => ({ say: `${at} ` }));
    const { stdout } = await probe.run(steps);
    assert.equal(stdout, `${steps.map(({ say }) => say).join("")}\n`);
  });

  test("bug 10: a thought, a message and a call are told apart", patience, async () => {
    const { stdout } = await probe.run([
      { think: "hm" },
      { say: "one" },
      { tool: { title: "Look" } },
      { say: "two" },
    ]);
    assert.equal(stdout, "| hm\n\none\n\n✓ Look\n\ntwo\n");
  });

  test(
    "bug 11: an agent that dies ends the run with its exit code and its last words",
    patience,
    async () => {
      const script = `process.stderr.write("out of luck\\n"); process.exit(9)`;
      const { status, stderr } = await probe.parley([
        "run",
        "--no-history",
        "x",
        "--",
        process.execPath,
        "-e",
        script,
      ]);
      assert.equal(status, 5);
      assert.match(stderr, /exited with code 9\n {2}out of luck\n/);
    },
  );

  for (const [method, status] of [
    ["session/new", 1],
    ["session/prompt", 1],
  ] as const) {
    test(`bug 11: an agent that dies of ${method} ends the run in the same way`, patience, async () => {
      const script = `
        require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
          const { id, method } = JSON.parse(line);
          if (method === "${method}") return process.stderr.write("out of luck\\n", () => process.exit(9));
          const result = method === "initialize" ? { protocolVersion: 1 } : { sessionId: "s" };
          process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
        });`;
      const command = [process.execPath, "-e", script];
      const ran = await probe.parley(["run", "--no-history", "x", "--", ...command]);
      assert.equal(ran.status, status, ran.stderr);
      assert.match(ran.stderr, /exited with code 9\n(?: {2})?out of luck\n/);
    });
  }

  test("bug 13: what was replayed by a load is not printed or kept again", patience, async () => {
    // our own agent, which keeps its sessions
    const run = (prompt: string) => probe.parley(["run", "--session", "again", prompt]);
    writeFileSync(join(probe.cwd, "replayed.txt"), "words of the first turn\n");
    assert.match((await run("read replayed.txt")).stdout, /words of the first turn/);
    const second = await run("list");
    assert.equal(second.status, 0, second.stderr);
    assert.doesNotMatch(second.stdout, /words of the first turn/);
    const { stdout } = await probe.parley(["sessions", "show", "again", "--json"]);
    const { entries } = JSON.parse(stdout).data;
    assert.equal(entries.filter(({ kind }: { kind: string }) => kind === "prompt").length, 2);
    assert.deepEqual(
      entries.map(({ seq }: { seq: number }) => seq),
      entries.map((_: unknown, at: number) => at + 1),
    );
  });

  test(
    "bug 14: a session that the agent does not have any more is told in its own words",
    patience,
    async () => {
      // each process of it begins with none
      const run = () => probe.parley(["run", "--session", "lost", "x", "--", ...command]);
      const command = probe.agent([{ say: "fine" }]);
      assert.deepEqual([(await run()).stdout, (await run()).stderr.split(":")[0]], ["fine\n", "parley"]);
      const { status, stdout, stderr } = await run();
      assert.deepEqual([status, stdout], [0, "fine\n"]);
      assert.match(stderr, /cannot open the session \(there is no session .*\): starting a new one/);
    },
  );

  test("bug 15: a line that is too long is left out, and the session goes on", patience, async () => {
    const ran = await probe.run([{ say: "x", size: 40_000_000 }, { say: "fine" }]);
    assert.deepEqual([ran.status, ran.stdout], [0, "fine\n"], ran.stderr);
    assert.match(ran.stderr, /too/);
  });

  test("bug 15: a line of 8 MB is printed", patience, async () => {
    const { status, stdout } = await probe.run([{ say: "x", size: 8_000_000 }]);
    assert.equal(status, 0);
    assert.equal(stdout.length, 8_000_001);
  });

  test("bug 16: separators that are no line feeds do not break a line", patience, async () => {
    const text = "a\u2028b\u2029c\u0085d";
    const ran = await probe.run([{ say: text }], ["--format", "quiet"]);
    assert.equal(ran.stdout, `${text}\n`);
  });

  test("bug 17: of 35,000 lines of output the end is printed", patience, async () => {
    const output = Array.from({ length: 35_000 }, (_, at) => `line ${at}`).join("\n");
    const { status, stdout } = await probe.run([
      { tool: { title: "build", kind: "execute" }, steps: [{ display: { command: "build" }, output }] },
    ]);
    assert.equal(status, 0);
    assert.match(stdout, /^✓ build\n {4}… [\d,]+ lines before\n {4}line 34988\n/);
    assert.match(stdout, / {4}line 34999\n$/);
  });

  test(
    "bug 18: a whole shell line as a command is refused by name where no person allows it",
    patience,
    async () => {
      const run = { command: "printf a && printf b | cat", args: [] };
      const { status, stderr } = await probe.run({ ...v1, otherwise: [{ run }, { say: "fine" }] }, [
        "--sandbox",
        "off",
        "--allow",
        "exec printf **",
      ]);
      assert.equal(status, 3, stderr);
      assert.match(stderr, /printf a && printf b/);
    },
  );

  test("bug 18: a missing program fails its command and not the session", patience, async () => {
    const run = { command: "no-such-program", args: ["-x"] };
    const { status, stdout, stderr } = await probe.run({ ...v1, otherwise: [{ run }, { say: "fine" }] }, [
      "--allow",
      "exec",
    ]);
    assert.deepEqual([status, stdout], [0, "fine\n"], stderr);
  });

  test(
    "bug 20, 21: an agent that is not installed is said to be so, and how to get it",
    patience,
    async () => {
      const { status, stderr } = await probe.parley(["run", "--no-history", "--agent", "claude", "x"], {
        env: { PATH: "/usr/bin:/bin" },
      });
      assert.equal(status, 5);
      assert.match(stderr, /claude-agent-acp.*was not found/);
      assert.match(stderr, /npm install --global @agentclientprotocol\/claude-agent-acp/);
    },
  );

  test("bug 20: an agent that a version manager has installed is found off PATH", patience, async () => {
    const home = join(probe.folder, "nvm-home");
    const folder = join(home, ".nvm/versions/node/v22.1.0/bin");
    mkdirSync(folder, { recursive: true });
    const words = probe.agent([{ say: "found" }]).map((word) => `"${word}"`);
    writeFileSync(join(folder, "claude-agent-acp"), `#!/bin/sh\nexec ${words.join(" ")}\n`, { mode: 0o755 });
    const { status, stdout, stderr } = await probe.parley(["run", "--no-history", "--agent", "claude", "x"], {
      env: { PATH: "/usr/bin:/bin", HOME: home },
    });
    assert.deepEqual([status, stdout], [0, "found\n"], stderr);
  });

  for (const edition of ["v1", "scoped"] as const) {
    test(
      `bug 22: an agent of ${edition} that wants a login is not asked again and again`,
      patience,
      async () => {
        const authMethods = [{ type: "agent" as const, methodId: "browser", name: "In the browser" }];
        const named = edition === "v1" ? [] : ["--edition", edition];
        const scenario = { loginRequired: true, authMethods, editions: [editionNamed(edition)] } as const;
        const { status, stderr } = await probe.run(scenario, named);
        assert.equal(status, 6);
        assert.match(stderr, /wants a login.*\n.*\n.*browser \(In the browser\)/);
        // the proposed line works as it is printed
        const [, line = ""] = /^parley: log in with: parley (agents login .*)$/m.exec(stderr) ?? [];
        assert.match((await probe.typed(line)).stdout, /^The login succeeded/);
      },
    );
  }

  test(
    "bug 23: an agent does not take itself for a child of another one, nor find our secrets",
    patience,
    async () => {
      const file = join(probe.folder, "environment");
      const { status } = await probe.parley(
        ["run", "--no-history", "x", "--", "sh", "-c", `env > "${file}"; exit 1`],
        {
          env: { CLAUDECODE: "1", CLAUDE_CODE_ENTRYPOINT: "cli", MY_OWN: "kept" },
        },
      );
      assert.equal(status, 5);
      const environment = readFileSync(file, "utf8");
      assert.match(environment, /^MY_OWN=kept$/m);
      assert.doesNotMatch(environment, /^CLAUDECODE=|^CLAUDE_CODE_ENTRYPOINT=|^PARLEY_WIRE_FD=\d+$/m);
    },
  );

  test(
    "bug 24: new files get their directories, and old ones keep their BOM and line ends",
    patience,
    async () => {
      mkdirSync(join(probe.cwd, "golden"), { recursive: true });
      writeFileSync(join(probe.cwd, "golden/dos.txt"), "\ufeffone\r\ntwo\r\n");
      const { status, stderr } = await probe.run(
        {
          ...v1,
          otherwise: [
            { write: "{{cwd}}/golden/deep/er/new.txt", content: "new\n" },
            { read: "{{cwd}}/golden/dos.txt", as: "old" },
            { write: "{{cwd}}/golden/dos.txt", content: "one\nthree\n" },
            { say: "fine" },
          ],
        },
        ["--allow", "write golden/**"],
      );
      assert.equal(status, 0, stderr);
      assert.equal(readFileSync(join(probe.cwd, "golden/deep/er/new.txt"), "utf8"), "new\n");
      assert.equal(readFileSync(join(probe.cwd, "golden/dos.txt"), "utf8"), "\ufeffone\r\nthree\r\n");
    },
  );

  test("bug 25: of an update that cannot be read as a whole, the rest is shown", patience, async () => {
    const content = [
      { type: "terminal", terminalId: "nobody-created-it" },
      { type: "hologram", of: "a file" },
      { type: "content", content: { type: "text", text: "what can be read" } },
    ];
    const call = {
      sessionUpdate: "tool_call",
      toolCallId: "t",
      title: "Build",
      status: "completed",
      content,
    };
    const odd = { kind: "teleport", locations: null, rawInput: null, rawOutput: null };
    const otherwise = [{ rawUpdate: { ...call, ...odd } }, { say: "fine" }];
    const ran = await probe.run({ ...v1, otherwise }, ["--format", "json"]);
    assert.equal(ran.status, 0, ran.stderr);
    const updates = eventsOf(ran).flatMap(({ update }) => (update === undefined ? [] : [update]));
    const shown = updates.find((update) => JSON.stringify(update).includes("Build"));
    assert.partialDeepStrictEqual(shown, { title: "Build", status: "completed" });
    assert.match(JSON.stringify(shown), /nobody-created-it.*what can be read/);
    assert.equal(eventsOf(ran).at(-1)?.["text"], "fine");
  });

  test("bug 25: a mode that an agent does not have is told with what there is", patience, async () => {
    const { status, stderr } = await probe.run([{ say: "fine" }], ["--mode", "yolo"]);
    assert.equal(status, 2);
    assert.match(stderr, /mode cannot be set: this agent has no such option/);
  });
});

// Alone, since they look for what others leave behind.
test("bug 2: nothing of an agent behind wrappers is left after a run", patience, async () => {
  const program = join(probe.folder, "wrapper");
  const [node = "", ...args] = probe.agent([{ say: "fine" }]);
  const command = [node, ...args].map((each) => `"${each}"`).join(" ");
  writeFileSync(program, `#!/bin/sh\nsleep 600 &\nsetsid sleep 600 &\nsh -c '${command}'\n`);
  chmodSync(program, 0o755);
  const { status, stdout, stderr } = await probe.parley(["run", "--no-history", "x", "--", program]);
  assert.deepEqual([status, stdout], [0, "fine\n"], stderr);
  await noneLeft();
});

test("bug 2: nothing of an agent is left when the client is killed", patience, async () => {
  const command = probe.agent([{ say: "working" }, { hang: "agent" }]);
  const child = spawn(launcher, ["run", "--no-history", "x", "--", ...command], {
    cwd: probe.cwd,
    env: { ...process.env, PARLEY_HOME: probe.home, PARLEY_TEST_MARK: probe.mark },
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const chunk of child.stdout) if (String(chunk).includes("working")) break;
  child.kill("SIGKILL");
  await noneLeft();
  assert.equal(existsSync(probe.folder), true);
});
