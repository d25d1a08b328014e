// The client kit with agents of the official SDK: terminal login, system prompt, cancelling one tool call, legacy models.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ClientSession, SessionUpdate } from "@parley/acp";
import { connectAgent, type LoginCommand } from "@parley/client";
import { programCommand, type TestProgram } from "../../../acp/test/support/programs.ts";

const deadline = { timeout: 120_000 };
const systemPrompt = { mode: "append" as const, content: [{ type: "text" as const, text: "be brief" }] };

function commandOf(program: TestProgram, ...args: string[]): [string, string[]] {
  const [command, ...own] = programCommand(program);
  return [command, [...own, ...args]];
}

const sdkAgent = (version: string) => commandOf("acp/test/interop/sdk-terminal-agent.ts", version);

async function scratch(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-login-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return join(folder, "token");
}

/** A client in a "terminal" whose user types one line when asked. */
async function typed(
  t: TestContext,
  version: string,
  line: string,
): Promise<{ shown: string; result: unknown }> {
  const [node, agent] = sdkAgent(version);
  const [command, args] = commandOf("client/test/interop/terminal-login-client.ts", node, ...agent);
  const child = spawn(command, args, {
    env: { ...process.env, TOKEN_FILE: await scratch(t) },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let shown = "";
  let hasTyped = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (hasTyped || !shown.includes("token for ")) return;
    hasTyped = true;
    child.stdin.write(`${line}\n`);
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  assert.equal(code, 0, shown);
  return { shown, result: JSON.parse(shown.slice(shown.indexOf("{"))) };
}

for (const version of ["v1", "v2"]) {
  test(
    `C11 C12 a login in the terminal runs the SDK's agent itself, which is then started anew (${version})`,
    deadline,
    async (t) => {
      const { shown, result } = await typed(t, version, "open sesame");
      assert.match(shown, /token for home: /, "with the environment of the method");
      assert.deepEqual(result, { sessionId: "terminal-session", starts: 2 });
    },
  );

  test(`C12 a login that exits with another code than 0 is none (${version})`, deadline, async (t) => {
    const { result } = await typed(t, version, "hello");
    assert.partialDeepStrictEqual(result, { name: "LaunchError", kind: "login_needed", starts: 1 });
    assert.match((result as { message: string }).message, /the terminal login exited with code 7/);
  });

  test(`the SDK's agent is told the system prompt (${version})`, deadline, async (t) => {
    const { session } = await loggedIn(t, version);
    const saw = (session._meta as { saw: { systemPrompt: unknown } }).saw;
    assert.deepEqual(saw.systemPrompt, systemPrompt);
  });
}

test(
  "C12 the login is the agent's own command with the method's arguments and environment",
  deadline,
  async (t) => {
    const { logins } = await loggedIn(t, "v1", { env: { REALM: "ours", KEPT: "yes" }, cwd: "/" });
    const [login] = logins;
    const [command, args] = sdkAgent("v1");
    assert.deepEqual([login?.command, login?.args, login?.cwd], [command, [...args, "login"], "/"]);
    assert.equal(login?.env["REALM"], "home", "the method's variables win");
    assert.equal(login?.env["KEPT"], "yes");
    assert.equal(logins.length, 1);
  },
);

test("C58 a tool call and a terminal of the SDK's agent are cancelled by themselves", deadline, async (t) => {
  const { session } = await loggedIn(t, "v2");
  const updates: SessionUpdate[] = [];
  const said = (text: string) =>
    new Promise<void>((resolve) => {
      const stop = session.onUpdate((update) => {
        updates.push(update);
        if (JSON.stringify(update).includes(text)) resolve(stop());
      });
    });
  const announced = said("terminal_update");
  await session.prompt("work").accepted;
  await announced;
  const [toolOver, terminalOver] = [said("tool call cancelled"), said("terminal cancelled")];
  await session.cancelToolCall("t");
  await toolOver;
  await session.cancelTerminal("u");
  await terminalOver;
  assert.ok(
    updates.some((update) => update.sessionUpdate === "tool_call_update" && update.status === "cancelled"),
  );
  assert.ok(
    updates.some(
      (update) => update.sessionUpdate === "terminal_update" && update.exitStatus?.signal === "SIGTERM",
    ),
  );
  await assert.rejects(session.cancelToolCall("t"), /does not offer/);
  await assert.rejects(session.cancelTerminal("u"), /does not offer/);
});

test(
  "the legacy models of the SDK's v1 agent are an option, and choosing one is session/set_model",
  deadline,
  async (t) => {
    const { session } = await loggedIn(t, "v1");
    const model = () => session.configOptions.find(({ category }) => category === "model");
    const option = model();
    assert.ok(option?.type === "select");
    assert.equal(option.currentValue, "small");
    const heard = new Promise<void>((resolve) => {
      session.onUpdate((update) => {
        if (JSON.stringify(update).includes("model large")) resolve();
      });
    });
    await session.setConfigOption(option.configId, "large");
    await heard;
    const now = model();
    assert.equal(now?.type === "select" && now.currentValue, "large");
  },
);

/** Logged in without a terminal: the program is run by the client's own hand. */
async function loggedIn(
  t: TestContext,
  version: string,
  options: { env?: Record<string, string>; cwd?: string } = {},
): Promise<{ session: ClientSession; logins: LoginCommand[] }> {
  const logins: LoginCommand[] = [];
  const [command, args] = sdkAgent(version);
  const agent = await connectAgent([command, ...args], {
    name: "interop",
    version: "1",
    unstable: ["system_prompt"],
    ...options,
    env: { ...options.env, TOKEN_FILE: await scratch(t) },
    asker: {
      chooseLogin: async (methods) => methods[0]?.id,
      terminalLogin(login) {
        logins.push(login);
        const { cwd, env } = login;
        const child = spawn(login.command, login.args, { cwd, env, stdio: ["pipe", "ignore", "inherit"] });
        child.stdin?.end("open sesame\n");
        return new Promise<number>((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
      },
    },
  });
  t.after(() => agent.close());
  return { logins, session: await agent.newSession({ cwd: "/", systemPrompt }) };
}
