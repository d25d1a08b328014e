// The proxy `policy` in one process with a client and an agent.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type AgentDefinition, agent, client, textOf } from "@parley/acp";
import { conductor } from "@parley/acp/proxy";
import { proxyArguments } from "../proxy/proxy-arguments.ts";
import { policy } from "./policy.ts";

interface Given {
  readonly args: readonly string[];
  readonly prompt: AgentDefinition["prompt"];
}

const aborted = (signal: AbortSignal) =>
  signal.aborted || new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));

/** A session of an agent behind the proxy, whose folder cannot be written. */
async function behindPolicy(t: TestContext, { args, prompt }: Given) {
  const home = mkdtempSync(join(tmpdir(), "parley-policy-"));
  const before = process.env["PARLEY_HOME"];
  process.env["PARLEY_HOME"] = home;
  t.after(() => {
    if (before === undefined) delete process.env["PARLEY_HOME"];
    else process.env["PARLEY_HOME"] = before;
    rmSync(home, { recursive: true, force: true });
  });
  const warned: string[] = [];
  writeFileSync(join(home, "file"), "");
  const proxy = policy.create(proxyArguments(policy, args, "--proxy"), {
    folder: join(home, "file", "policy"),
    warn: (text) => void warned.push(text),
    reach: () => Promise.reject(new Error("nothing is reached here")),
    secrets: () => [],
  });
  const connection = await client({
    name: "c",
    version: "1",
  }).connect(conductor([proxy, agent({ name: "a", version: "1", prompt })]));
  t.after(() => connection.close());
  let said = "";
  const session = await connection.newSession({
    cwd: home,
    onUpdate(update) {
      if (update.sessionUpdate === "agent_message_chunk") said += textOf(update.content);
    },
  });
  return { session, home, warned, said: () => said };
}

test("a turn that goes against a rule is stopped, even if it cannot be written down", async (t) => {
  const { session, warned, said } = await behindPolicy(t, {
    args: ["--deny", "exec rm"],
    async prompt(turn) {
      await turn.tool(
        { title: "rm -r x", kind: "execute", rawInput: { command: "rm -r x" } },
        async () => {},
      );
      await aborted(turn.signal);
    },
  });
  assert.equal((await session.prompt("go")).stopReason, "cancelled");
  assert.match(said(), /rm -r x.*done without asking, against a rule \(deny exec rm/);
  assert.match(warned.join(), /counts as an agent that never asks until this process ends.*ENOTDIR/);
  assert.equal((await session.prompt("again")).stopReason, "refusal");
});
