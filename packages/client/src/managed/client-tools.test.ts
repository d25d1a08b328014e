// Tools that a client gives to a managed agent: the rules decide about each call, and hosted servers are asked as before.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type AgentDefinition, agent } from "@parley/acp";
import { remoteServer } from "@parley/acp/server";
import { doing, said, server } from "../../../acp/test/support/mcp-probe.ts";
import { hostRemote } from "../../../acp/test/support/remote-host.ts";
import { folder } from "../../test/support/gate-probe.ts";
import { type ConnectAgentOptions, connectAgent } from "../index.ts";
import { permissionPolicy } from "../policy.ts";

const unstable = ["mcp_over_acp"] as const;
const patience = { timeout: 60_000 };

/** An agent at an address, and a client of it. */
async function reached(
  t: { after(work: () => Promise<void>): void },
  definition: Partial<AgentDefinition>,
  options: Partial<ConnectAgentOptions>,
) {
  const app = agent({ name: "a", version: "1", prompt: () => undefined, unstable, ...definition });
  const remote = remoteServer({ connect: (transport) => app.connect(transport) });
  const host = await hostRemote(remote);
  const connected = await connectAgent({ url: host.url }, { name: "c", version: "1", unstable, ...options });
  t.after(async () => {
    await connected.close();
    await remote.close();
    await host.stop();
  });
  return connected;
}

const tools = [
  server("sums", {
    add: ({ a, b }) => said(String(Number(a) + Number(b))),
    wipe: () => assert.fail("it is not allowed"),
  }),
];
const both = doing(async (_, [channel]) => [
  await channel?.request("tools/call", { name: "add", arguments: { a: 1, b: 2 } }),
  await channel?.request("tools/call", { name: "wipe" }),
]);

test("the rules decide about each call of a tool, and the agent reads why not (M22)", patience, async (t) => {
  const policy = permissionPolicy({ rules: ["allow mcp sums/add", "deny mcp sums/wipe"] });
  const connected = await reached(t, both, { policy });
  const session = await connected.newSession({ cwd: folder(t), tools });
  const [added, wiped] = JSON.parse(await session.prompt("go").text()) as { content: { text: string }[] }[];
  assert.deepEqual(added, said("3"));
  assert.partialDeepStrictEqual(wiped, { isError: true });
  assert.match(wiped?.content[0]?.text ?? "", /sums.*wipe.*was not permitted: .*deny mcp sums\/wipe/);
});

test("a call that no rule is about is asked about, and the answer counts (M22)", patience, async (t) => {
  const summaries: string[] = [];
  const policy = permissionPolicy({
    ask({ summary, choices }) {
      summaries.push(summary);
      const wanted = summary.includes("add") ? "allow" : "deny";
      return choices.find(({ effect, scope }) => effect === wanted && scope === "once")?.id;
    },
  });
  const connected = await reached(t, both, { policy });
  const session = await connected.newSession({ cwd: folder(t), tools });
  const [added, wiped] = JSON.parse(await session.prompt("go").text()) as object[];
  assert.deepEqual(added, said("3"));
  assert.partialDeepStrictEqual(wiped, { isError: true });
  assert.equal(summaries.length, 2);
  for (const [at, tool] of ["add", "wipe"].entries())
    assert.match(summaries[at] ?? "", new RegExp(`sums.*${tool}`));
});

test("an app that decides itself does so with its own session (M22)", patience, async (t) => {
  const seen: unknown[] = [];
  const connected = await reached(t, both, {
    policy: {
      decide(request, { session }) {
        assert.ok(request.type === "mcp");
        seen.push([request.tool, session === open]);
        if (request.tool === "wipe") throw new Error("never");
        return "allow";
      },
    },
  });
  const open = await connected.newSession({ cwd: folder(t), tools });
  await open
    .prompt("go")
    .text()
    .catch(() => "");
  assert.deepEqual(seen, [
    ["add", true],
    ["wipe", true],
  ]);
});

test("the servers that a managed agent hosts are asked by name", patience, async (t) => {
  const connected = await reached(
    t,
    { mcpServers: { search: server("s", { find: () => said("found") }) } },
    {},
  );
  assert.deepEqual(connected.mcpServers, ["search"]);
  assert.deepEqual(await connected.mcp("search").request("tools/call", { name: "find" }), said("found"));
});
