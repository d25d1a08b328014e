// The proxy `policy` in one process with a client and an agent.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type AgentDefinition, agent, type ClientDefinition, client, textOf } from "@parley/acp";
import type { McpProvider } from "@parley/acp/model";
import { type AcpProxy, conductor } from "@parley/acp/proxy";
import { doing, kitProbe, server, said as text } from "../../../acp/test/support/mcp-probe.ts";
import { withScriptedAgent } from "../../../acp/test/support/peer-probe.ts";
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

/** The proxy, whose folder cannot be written. */
function made(t: TestContext, args: readonly string[]) {
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
  return { proxy, home, warned };
}

/** A session of an agent behind the proxy. */
async function behindPolicy(t: TestContext, { args, agent: behind, client: editor, tools = [] }: Given) {
  const { proxy, home, warned } = made(t, args);
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

test("what an agent does against a rule is seen while a question of it is open", async (t) => {
  const isAsked = Promise.withResolvers<void>();
  const isOver = Promise.withResolvers<undefined>();
  const { session, said } = await behindPolicy(t, {
    args: ["--deny", "exec rm"],
    client: {
      requestPermission() {
        isAsked.resolve();
        return isOver.promise;
      },
    },
    agent: {
      async prompt(turn) {
        const call = { title: "make", kind: "execute", rawInput: { command: "make" } } as const;
        const asking = turn.tool({ ...call, permission: true }, async () => {});
        await isAsked.promise;
        await turn.tool(
          { title: "rm -r x", kind: "execute", rawInput: { command: "rm -r x" } },
          async () => {},
        );
        await aborted(turn.signal);
        await asking;
      },
    },
  });
  assert.equal((await session.prompt("go")).stopReason, "cancelled");
  isOver.resolve(undefined);
  assert.match(said(), /rm -r x.*done without asking, against a rule \(deny exec rm/);
});

for (const version of [1, 2] as const)
  test(`calls of a tool over connections are told apart by the connection's id (v${version})`, async (t) => {
    const { proxy } = made(t, ["--allow", "mcp first/run", "--deny", "mcp second/run"]);
    const mcp = version === 1 ? { agentCapabilities: { mcpCapabilities: { acp: true } } } : undefined;
    const { agent: connection, peer } = await withScriptedAgent(
      version,
      {
        initialize: () => ({
          ...(mcp === undefined
            ? { protocolVersion: 2, info: { name: "old", version: "1" } }
            : { protocolVersion: 1 }),
          ...(mcp ?? { capabilities: { session: { mcp: { acp: {} } } } }),
        }),
      },
      {
        editions: [`v${version}`],
        unstable: ["mcp_over_acp", "proxies"],
        mcp: kitProbe(),
        // as: it is what proxy() returned
        proxies: [proxy as AcpProxy],
        requestPermission: () => assert.fail("a rule decides about each"),
      },
    );
    t.after(() => connection.close());
    const called: string[] = [];
    const tools = ["first", "second"].map((name) =>
      server(name, {
        run() {
          called.push(name);
          return text(name);
        },
      }),
    );
    await connection.newSession({ cwd: "/project", tools });
    const opening = peer.got.find(({ method }) => method === "session/new")?.params ?? {};
    const given = opening["mcpServers"] as { name: string; serverId: string }[]; // as: the client gives both
    const ask = (method: string, params: object) => peer.connection.request(method, params);
    const ids: string[] = [];
    // the second is opened first: only the id says which is which
    for (const { serverId } of given.toReversed()) {
      const { connectionId } = (await ask("mcp/connect", { serverId })) as { connectionId: string };
      ids.unshift(connectionId);
    }
    const call = (connectionId: string | undefined) =>
      ask("mcp/message", { connectionId, method: "tools/call", params: { name: "run", arguments: {} } });
    assert.deepEqual(await call(ids[0]), text("first"));
    const refused = (await call(ids[1])) as { isError?: boolean };
    assert.equal(refused.isError, true);
    assert.match(JSON.stringify(refused), /deny mcp second\/run/);
    await assert.rejects(call("nobody's"), /it is no call of a tool of an open session/);
    assert.deepEqual(called, ["first"]);
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
