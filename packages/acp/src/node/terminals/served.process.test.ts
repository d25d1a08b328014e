// Commands of this machine as a version 1 agent sees them through a client, two sessions of which share one object.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  place,
  quiet,
  rejects,
  type ScriptedPeer,
  withScriptedAgent,
} from "../../../test/support/peer-probe.ts";
import { localTerminals } from "./local-terminals.ts";

const posix = { timeout: 60_000, skip: process.platform === "win32" ? "needs a POSIX shell" : false };

interface Served {
  readonly peer: ScriptedPeer;
  /** Asks the client, as the agent of the first session. */
  ask(method: string, params: object, sessionId?: string): Promise<unknown>;
  sh(line: string, more?: object): Promise<string>;
}

async function served(t: TestContext): Promise<Served> {
  let sessions = 0;
  const terminals = localTerminals({ cwd: "/", killMs: 2_000 });
  const { agent, peer } = await withScriptedAgent(
    1,
    { "session/new": () => ({ sessionId: `s${++sessions}` }) },
    { terminals },
  );
  t.after(async () => {
    await agent.close();
    await terminals.close();
  });
  await agent.newSession(place);
  await agent.newSession(place);
  const ask = (method: string, params: object, sessionId = "s1") =>
    peer.connection.request(`terminal/${method}`, { sessionId, ...params });
  return {
    peer,
    ask,
    async sh(line, more = {}) {
      const created = await ask("create", { command: "/bin/sh", args: ["-c", line], ...more });
      return (created as { terminalId: string }).terminalId;
    },
  };
}

test(
  "a terminal belongs to its session; unknown, foreign and released ones are the same (N186, N187, N188)",
  posix,
  async (t) => {
    const { ask, sh } = await served(t);
    const terminalId = await sh("exec sleep 1000");
    const unknown = { reason: "terminal_not_found" };
    for (const method of ["output", "wait_for_exit", "kill", "release"]) {
      await rejects(ask(method, { terminalId }, "s2"), -32002, unknown);
      await rejects(ask(method, { terminalId: "nobody's" }), -32002, unknown);
    }
    assert.deepEqual(await ask("output", { terminalId }), { output: "", truncated: false });
    assert.deepEqual(await ask("release", { terminalId }), {});
    for (const method of ["output", "wait_for_exit", "kill", "release"])
      await rejects(ask(method, { terminalId }), -32002, unknown);
  },
);

test(
  "waits share one answer, a kill keeps the output, a release answers an open wait (C34, N189, N190, N191)",
  posix,
  async (t) => {
    const { ask, sh } = await served(t);
    const terminalId = await sh("echo out; exec sleep 1000");
    const waits = [ask("wait_for_exit", { terminalId }), ask("wait_for_exit", { terminalId })];
    while (((await ask("output", { terminalId })) as { output: string }).output === "") await quiet();
    assert.deepEqual(await ask("kill", { terminalId }), {});
    const exitStatus = { signal: "SIGTERM" };
    assert.deepEqual(await Promise.all(waits), [exitStatus, exitStatus]);
    assert.deepEqual(await ask("kill", { terminalId }), {});
    assert.deepEqual(await ask("output", { terminalId }), { output: "out\n", truncated: false, exitStatus });
    const other = await sh("exec sleep 1000");
    const wait = ask("wait_for_exit", { terminalId: other });
    await quiet();
    await ask("release", { terminalId: other });
    assert.deepEqual(await wait, exitStatus);
  },
);

test(
  "what cannot be run is refused with the place, and a limit cuts between characters (C31, N181-N184, N192, N193)",
  posix,
  async (t) => {
    const { ask, sh } = await served(t);
    for (const [params, path] of [
      [{ command: "" }, "/command"],
      [{ command: "true", args: ["a\0b"] }, "/args/0"],
      [{ command: "true", outputByteLimit: -1 }, "/outputByteLimit"],
    ] as const)
      await rejects(ask("create", params), -32602, { path });
    await rejects(ask("create", { command: "true", env: [{ name: "A=B", value: "x" }] }), -32602);
    for (const [outputByteLimit, output] of [
      [4, "€"],
      [0, ""],
    ] as const) {
      const terminalId = await sh("printf '€€'", { outputByteLimit });
      await ask("wait_for_exit", { terminalId });
      assert.deepEqual(await ask("output", { terminalId }), {
        output,
        truncated: true,
        exitStatus: { exitCode: 0 },
      });
    }
  },
);

test(
  "12 MB of NUL bytes are answered within one message, as the end of the output (C31)",
  posix,
  async (t) => {
    const { ask, sh } = await served(t);
    const terminalId = await sh("head -c 12000000 /dev/zero; echo end", { outputByteLimit: 16_777_216 });
    await ask("wait_for_exit", { terminalId });
    const { output, truncated } = (await ask("output", { terminalId })) as {
      output: string;
      truncated: boolean;
    };
    assert.equal(truncated, true);
    assert.ok(output.endsWith("\0end\n"));
    const bytes = Buffer.byteLength(JSON.stringify(output));
    assert.ok(bytes > 20_000_000 && bytes < 26_000_000, `${bytes} bytes of JSON`);
    assert.deepEqual(await ask("release", { terminalId }), {});
  },
);
