// Commands that come through the gate run in the sandbox, whatever allowed them, and what leaves it is asked about.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { PermissionRequest } from "@parley/acp";
import type { CreateTerminalOptions } from "@parley/acp/model";
import { directoryIdentity, type GateOptions, permissionGate, type Rule } from "@parley/client/policy";
import { workspaceSettings } from "@parley/client/trust";
import { inSandbox, withHosts } from "../../../sandbox/test/support/required-sandbox.ts";
import { put, workplace } from "../../../sandbox/test/support/workplace.ts";
import type { PermissionQuestion, PermissionReply } from "../../src/policy.ts";
import { rules } from "../support/gate-probe.ts";
import { tally } from "./hostile-probe.ts";

/** A session with a sandbox in a workplace; `answer` is a person who is asked. */
function place(
  t: TestContext,
  options: GateOptions = {},
  answer?: (question: PermissionQuestion) => PermissionReply,
) {
  const folders = workplace(t);
  const asked: string[] = [];
  const told: string[] = [];
  const permission = (question: PermissionQuestion) => {
    asked.push(question.summary);
    return answer?.(question);
  };
  const gate = permissionGate({
    sandbox: { profile: "workspace", tell: (text) => told.push(text) },
    ...(answer === undefined ? {} : { asker: { permission } }),
    ...options,
  });
  const session = { sessionId: "s", cwd: folders.work, roots: [folders.work] };
  const { files, terminals } = gate.services(session);
  const close = async () => {
    await terminals.close();
    await files.close();
  };
  t.after(close);
  return {
    ...folders,
    gate,
    session,
    files,
    terminals,
    asked,
    told,
    close,
    /** What the command printed, or the code of the error. */
    async run(given: CreateTerminalOptions): Promise<string> {
      try {
        const terminal = await terminals.create(given);
        await terminal.waitForExit();
        const { output } = await terminal.output();
        await terminal.release();
        return output;
      } catch (error) {
        return String((error as { code?: unknown }).code);
      }
    },
  };
}

const choice = (id: string) => () => id;

test("whatever allows a command, it runs inside (V1, V2, V5)", inSandbox, async (t) => {
  const victim = spawn("sleep", ["1000"], { stdio: "ignore" });
  t.after(() => victim.kill("SIGKILL"));
  const server = createServer().listen(0, "127.0.0.1");
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  const violations: string[] = [];
  let count = 0;
  for (const texts of [
    [],
    ["allow exec sh attack.sh"],
    ["allow exec sh **"],
    ["allow exec **"],
    ["allow *"],
  ]) {
    const { run, work, outside, asked } = place(t, { rules: rules(...texts) }, choice("allow:session"));
    const attacks = {
      writes: `echo x >${outside}/new`,
      changes: `echo x >${outside}/file`,
      kills: `kill -9 ${victim.pid}`,
      sees: `[ -e /proc/${victim.pid} ]`,
      connects: `curl -s --noproxy '*' --max-time 2 telnet://127.0.0.1:${port} </dev/null`,
      "sets a hook": "echo x >.git/hooks/pre-commit",
      "sets fsmonitor": "git config core.fsmonitor evil",
      "moves .git": "mv .git .git2",
    };
    const lines = Object.entries(attacks).map(([name, line]) => `(${line}) >/dev/null 2>&1 && echo ${name}`);
    put(work, { "attack.sh": `${lines.join("\n")}\necho end\n` });
    for (const given of [
      { command: "sh", args: ["attack.sh"] },
      { command: "sh attack.sh" },
      { command: "sh attack.sh; true" },
    ]) {
      const printed = await run(given);
      count += lines.length;
      if (printed !== "end\n") violations.push(`${texts}: ${JSON.stringify(given)} printed ${printed}`);
    }
    assert.deepEqual(asked, [], "nobody is asked about what stays inside");
    assert.equal(readFileSync(join(outside, "file"), "utf8"), "kept");
    assert.deepEqual([existsSync(join(outside, "new")), victim.exitCode], [false, null]);
  }
  tally(t, "commands through the gate, in the sandbox", count, violations);
});

test(
  "rules that deny become mounts, also for commands that do not name the path (V4)",
  inSandbox,
  async (t) => {
    const { run, work, told } = place(t, {
      rules: rules("deny read private/**", "deny write locked", "deny read ./token", "allow *"),
    });
    put(work, {
      "private/key": "HUSH",
      token: "HUSH",
      "attack.sh":
        "cat p*/k* t?ken; echo x >l*/file; echo x >locked/new; mv locked l2; mv private p2; ln -s private q; cat q/key",
    });
    const printed = await run({ command: "sh", args: ["attack.sh"] });
    assert.doesNotMatch(printed, /HUSH/);
    assert.equal(readFileSync(join(work, "locked/file"), "utf8"), "kept");
    assert.ok(existsSync(join(work, "private/key")) && !existsSync(join(work, "locked/new")), told.join());
    tally(t, "deny rules as mounts", 7, []);
  },
);

test("a rule of another workspace, or one that is over, opens nothing", inSandbox, async (t) => {
  const { outside, work } = workplace(t);
  const elsewhere = { path: outside, identity: directoryIdentity(outside) };
  const kept = (texts: readonly string[], more: Partial<Rule>): Rule[] =>
    rules(...texts).map((rule) => ({ ...rule, origin: "remembered", ...more }));
  const opening = [`allow write ${outside}`, "allow net localhost"];
  const given = [
    ...kept(opening, { scope: "workspace", workspace: elsewhere }),
    ...kept(opening, { scope: "always", expires: 1 }),
  ];
  const gate = permissionGate({ rules: given, sandbox: { profile: "workspace" } });
  const { terminals } = gate.services({ sessionId: "s", cwd: work, roots: [work] });
  t.after(() => terminals.close());
  const line = `echo x >${outside}/file; grep -c : /proc/net/dev`;
  const terminal = await terminals.create({ command: line });
  await terminal.waitForExit();
  assert.match((await terminal.output()).output, /\n1\n$/, "it has its own network");
  assert.equal(readFileSync(join(outside, "file"), "utf8"), "kept");
});

test("a rule that forbids a host keeps the network of the machine closed", inSandbox, async (t) => {
  for (const texts of [["deny net evil.example"], ["ask net"], ["deny *"]]) {
    const gate = permissionGate({
      rules: rules("allow net localhost", ...texts, "allow exec **"),
      sandbox: { profile: "workspace" },
    });
    const { work } = workplace(t);
    const { terminals } = gate.services({ sessionId: "s", cwd: work, roots: [work] });
    t.after(() => terminals.close());
    const printed = await terminals
      .create({ command: "grep -c : /proc/net/dev; true" })
      .then(async (terminal) => {
        await terminal.waitForExit();
        return (await terminal.output()).output;
      })
      .catch(() => "refused");
    assert.match(printed, /^(?:1\n|refused)$/, texts.join());
  }
});

test(
  "a command that shall leave the sandbox is asked about every time, whoever allowed what before",
  inSandbox,
  async (t) => {
    const questions: PermissionQuestion[] = [];
    const reviewed: string[] = [];
    const off = { command: "touch", args: ["left"], _meta: { "_parley.dev/sandbox": "off" } };
    const { run, asked, work, session } = place(
      t,
      {
        rules: rules("allow exec touch left", "allow exec **", "allow *"),
        reviewer: async ({ summary }) => {
          reviewed.push(summary);
          return "allow:once";
        },
      },
      (question) => {
        questions.push(question);
        return questions.length === 1 ? "allow:once" : "deny:once";
      },
    );
    await run(off);
    assert.ok(existsSync(join(work, "left")));
    assert.equal(await run(off), "-32060");
    assert.equal(await run(off), "-32060");
    assert.equal(asked.length, 3);
    assert.deepEqual(reviewed, []);
    for (const { isAlwaysAsked: always, reason, choices } of questions) {
      assert.ok(always);
      assert.match(reason, /this command leaves the sandbox and runs with all your rights/);
      assert.deepEqual([...new Set(choices.map(({ scope }) => scope))], ["once"]);
    }
    // a yes to what an agent says that it runs is none to running it outside
    const context = {
      session,
      signal: new AbortController().signal,
    };
    const subject = {
      type: "tool_call",
      toolCall: { toolCallId: "t", kind: "execute", rawInput: { command: "touch left" } },
    };
    const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }];
    const ask = { title: "t", options, subject } as unknown as PermissionRequest; // as the wire has it
    const strict = permissionGate({
      sandbox: { profile: "workspace" },
      asker: { permission: ({ subjects }) => (subjects[0]?.origin === "claim" ? "allow:once" : undefined) },
    });
    const _meta = { "_parley.dev/scope": "once" };
    assert.deepEqual(await strict.decide({ type: "permission", request: ask }, context), {
      outcome: "selected",
      optionId: "y",
      _meta,
    });
    const { terminals } = strict.services(session);
    t.after(() => terminals.close());
    await assert.rejects(terminals.create(off), /nobody answered/);
    for (const value of ["OFF", "none", true, null]) {
      const printed = await run({
        command: "sh",
        args: ["-c", "ls /proc | grep -c '^[0-9]'"],
        _meta: { "_parley.dev/sandbox": value },
      });
      assert.ok(Number(printed) < 10, `${JSON.stringify(value)} is no way out`);
    }
  },
);

/** Connects to each of the hosts, by the proxy that the sandbox names. Nothing listens there. */
const connect = (...hosts: string[]) =>
  hosts
    .map((host) => `curl -s -o /dev/null --max-time 5 http://${host}/`)
    .join("; ")
    .concat("; true");

test("a host is asked about exactly, and remembered exactly", withHosts, async (t) => {
  const answers: Record<string, string> = { "connect to a.invalid:80": "allow:session" };
  const { run, asked } = place(t, {}, ({ summary }) => answers[summary] ?? "deny:once");
  await run({ command: connect("a.invalid", "a.invalid", "a.invalid:81", "b.a.invalid", "A.INVALID.") });
  const first = ["connect to a.invalid:80", "connect to a.invalid:81", "connect to b.a.invalid:80"];
  assert.deepEqual([...new Set(asked)].sort(), first);
  assert.equal(asked.length, 3, "once for each while the command runs");
  asked.length = 0;
  await run({ command: connect("a.invalid", "a.invalid:81", "b.a.invalid") });
  assert.deepEqual(
    asked,
    first.slice(1),
    "what was allowed for the session is not asked again, and nothing else is",
  );
});

test("a yes to this machine is the rule net localhost, for the commands after it", withHosts, async (t) => {
  const server = createHttpServer((_, response) => response.end("HERE")).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  const questions: PermissionQuestion[] = [];
  const { run, told } = place(t, {}, (question) => {
    questions.push(question);
    return "allow:session";
  });
  const command = `curl -s --noproxy '' --max-time 5 http://localhost:${port}/; true`;
  assert.doesNotMatch(await run({ command }), /HERE/, "this machine is not reached through the sandbox");
  assert.equal(await run({ command: command.replace("''", "'*'") }), "HERE");
  assert.match(questions[0]?.reason ?? "", /the whole network of this machine$/);
  assert.deepEqual(
    questions.flatMap(({ choices }) => choices.map(({ id }) => id)),
    ["allow:session", "deny:once", "deny:session"],
  );
  assert.deepEqual(told, ["commands that start from now on have the network of this machine"]);
});

test("a yes to a host does not outlive the commands that ran then", withHosts, async (t) => {
  const { run, asked } = place(t, {}, choice("allow:once"));
  for (let round = 0; round < 3; round++) await run({ command: connect("a.invalid", "a.invalid") });
  assert.equal(asked.length, 3);
});

test("the rules hold for hosts: one that is denied is not asked about", withHosts, async (t) => {
  const { run, asked, gate } = place(t, { rules: rules("deny net evil.invalid") }, choice("allow:once"));
  await run({ command: connect("evil.invalid", "EVIL.invalid:81") });
  assert.deepEqual(asked, []);
  assert.equal(gate.refused, 2);
});

test(
  "with the session end its processes, its way to hosts and its temporary folders",
  withHosts,
  async (t) => {
    const { terminals, close, work, base } = place(t, {}, choice("allow:once"));
    const temporary = join(base, "tmp");
    mkdirSync(temporary);
    const { TMPDIR } = process.env;
    process.env["TMPDIR"] = temporary;
    t.after(() => {
      if (TMPDIR === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = TMPDIR;
    });
    const mark = `parley-left-${process.pid}`;
    const left = `sh -c 'sleep 1000; :' ${mark}`;
    await terminals.create({ command: `setsid ${left} & (setsid nohup ${left} &); echo up >up; wait` });
    const running = () =>
      execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
        .split("\n")
        .filter((line) => line.includes(mark));
    while (!existsSync(join(work, "up"))) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(readdirSync(temporary).length, 2);
    assert.notEqual(running().length, 0);
    await close();
    assert.deepEqual([readdirSync(temporary), running()], [[], []]);
  },
);

test(
  "a protected file that a person allows while a command runs stays, and not what the command makes of it",
  inSandbox,
  async (t) => {
    // yes to the file that is written for the agent, no to those that the command made
    const { files, terminals, work, told, asked, close } = place(t, {}, ({ summary }) =>
      /^write [^;]*settings\.json$/.test(summary) ? "allow:once" : "deny:once",
    );
    const script =
      "echo up >up; until [ -e go ]; do sleep 0.05; done; echo evil >.vscode/tasks.json; [ -e evil ] && echo evil >.vscode/settings.json; true";
    const settings = join(work, ".vscode/settings.json");
    for (const isEvil of [false, true]) {
      const terminal = await terminals.create({ command: script });
      while (!existsSync(join(work, "up"))) await new Promise((resolve) => setImmediate(resolve));
      await files.writeText(settings, "{}\n");
      if (isEvil) writeFileSync(join(work, "evil"), "");
      writeFileSync(join(work, "go"), "");
      await terminal.waitForExit();
      assert.equal(readFileSync(settings, "utf8"), "{}\n");
      assert.equal(existsSync(join(work, ".vscode/tasks.json")), false);
      execFileSync("rm", ["-rf", ".vscode", "go", "up"], { cwd: work });
    }
    assert.equal(asked.length, 4, asked.join("\n"));
    assert.equal(told.filter((line) => line.includes("settings.json")).length, 1, told.join("\n"));
    await close();
  },
);

test(
  "TH16 a command cannot rewrite the script of an MCP server of a trusted folder",
  inSandbox,
  async (t) => {
    let root = "";
    const { work, run } = place(t, { workspaceRules: () => workspaceSettings(root).parsedRules });
    root = work;
    const servers = { mcpServers: { db: { command: "./scripts/db-server" } } };
    put(work, { "scripts/db-server": "#!/bin/sh\n", ".mcp.json": JSON.stringify(servers) });
    const attempts = [
      "echo evil > scripts/db-server",
      "mv scripts scripts.old; mkdir scripts; echo evil > scripts/db-server",
      "rm -f scripts/db-server; echo evil > scripts/db-server",
      "ln -sf /bin/true scripts/db-server",
      "echo evil > x; mv -f x scripts/db-server",
    ];
    for (const line of attempts) {
      await run({ command: "/bin/sh", args: ["-c", line] });
      assert.equal(readFileSync(join(work, "scripts/db-server"), "utf8"), "#!/bin/sh\n", line);
    }
    assert.equal(await run({ command: "/bin/sh", args: ["-c", "echo ok > other && cat other"] }), "ok\n");
  },
);
