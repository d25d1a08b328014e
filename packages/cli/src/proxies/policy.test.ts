// The proxy `policy` in one process with a client and an agent.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type AgentDefinition, agent, type ClientDefinition, client, textOf } from "@parley/acp";
import type { McpProvider } from "@parley/acp/model";
import { conductor } from "@parley/acp/proxy";
import { doing, kitProbe, server, said as text } from "../../../acp/test/support/mcp-probe.ts";
import { proxyArguments } from "../proxy/proxy-arguments.ts";
import { policy } from "./policy.ts";

interface Given {
  readonly args: readonly string[];
  readonly agent: Partial<AgentDefinition> & Pick<AgentDefinition, "prompt">;
  readonly client?: Partial<ClientDefinition>;
  readonly tools?: readonly McpProvider[];
}

const aborted = (signal: AbortSignal) =>
  signal.aborted || new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));

/** A session of an agent behind the proxy, whose folder cannot be written. */
async function behindPolicy(t: TestContext, { args, agent: behind, client: editor, tools = [] }: Given) {
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
    ...editor,
  }).connect(conductor([proxy, agent({ name: "a", version: "1", ...behind })]));
  t.after(() => connection.close());
  let said = "";
  const session = await connection.newSession({
    cwd: home,
    tools,
    onUpdate(update) {
      if (update.sessionUpdate === "agent_message_chunk") said += textOf(update.content);
    },
  });
  return { session, home, warned, said: () => said };
}

test("a turn that goes against a rule is stopped, even if it cannot be written down", async (t) => {
  const { session, warned, said } = await behindPolicy(t, {
    args: ["--deny", "exec rm"],
    agent: {
      async prompt(turn) {
        await turn.tool(
          { title: "rm -r x", kind: "execute", rawInput: { command: "rm -r x" } },
          async () => {},
        );
        await aborted(turn.signal);
      },
    },
  });
  assert.equal((await session.prompt("go")).stopReason, "cancelled");
  assert.match(said(), /rm -r x.*done without asking, against a rule \(deny exec rm/);
  assert.match(warned.join(), /counts as an agent that never asks until this process ends.*ENOTDIR/);
  assert.equal((await session.prompt("again")).stopReason, "refusal");
});

for (const edition of ["v1", "v2"] as const)
  test(`a call of a tool of the client over ACP is decided by the rules, and by the user (${edition})`, async (t) => {
    const called: string[] = [];
    const tool = (name: string) => () => {
      called.push(name);
      return text(name);
    };
    const asked: string[] = [];
    const answers = ["allow_once", "reject_once"];
    const unstable = ["mcp_over_acp"] as const;
    const names = ["free", "forbidden", "asked", "asked"];
    const { session } = await behindPolicy(t, {
      args: ["--allow", "mcp sums/free", "--deny", "mcp sums/forbidden"],
      client: {
        editions: [edition],
        unstable,
        mcp: kitProbe(),
        requestPermission({ title, options }) {
          asked.push(title);
          const kind = answers.shift();
          return options.find((each) => each.kind === kind)?.optionId;
        },
      },
      tools: [server("sums", { free: tool("free"), forbidden: tool("forbidden"), asked: tool("asked") })],
      agent: {
        editions: [edition],
        unstable,
        mcp: kitProbe(),
        ...doing(async (_, [channel]) => {
          const results: unknown[] = [];
          for (const name of names)
            results.push(
              await channel?.request("tools/call", { name }).catch((error: unknown) => String(error)),
            );
          return results;
        }),
      },
    });
    const results: unknown = JSON.parse(await session.prompt("go").text());
    assert.deepEqual(called, ["free", "asked"]);
    assert.equal(asked.length, 2);
    assert.partialDeepStrictEqual(results, [
      text("free"),
      { isError: true },
      text("asked"),
      { isError: true },
    ]);
    assert.match(JSON.stringify(results), /deny mcp sums\/forbidden/);
  });
