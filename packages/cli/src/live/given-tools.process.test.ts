// --tools: functions of the user's module as tools of the agent, with a receipt.

import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { agent } from "@parley/acp";
import { remoteServer } from "@parley/acp/server";
import { programCommand } from "../../../acp/test/support/programs.ts";
import { hostRemote } from "../../../acp/test/support/remote-host.ts";
import { inSandbox } from "../../../sandbox/test/support/required-sandbox.ts";
import { workplace } from "../../../sandbox/test/support/workplace.ts";
import { chatHome, chatWith } from "../../test/support/chat-probe.ts";
import { interruptAt, patience, RunProbe } from "../../test/support/run-probe.ts";
import { givenTools, toolsFrom } from "./given-tools.ts";

const probe = new RunProbe();
const taker = (way: "http" | "stdio" | "never") => [
  "--",
  ...programCommand("cli/test/support/tools-agent.ts"),
  way,
];

const temperature = `{
  name: "temperature",
  description: "The temperature in a city.",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  run: ({ city }) => city + ": 4 degrees",
}`;
const call = '@tool parley/temperature {"city":"Oslo"}';

function place(t: TestContext, module = `export default [${temperature}];`) {
  const { home, work } = workplace(t);
  const file = join(work, "my-tools.js");
  writeFileSync(file, module);
  const env = { HOME: home, PARLEY_HOME: join(home, "parley"), XDG_CACHE_HOME: undefined };
  const run = (args: readonly string[], more: object = {}) =>
    probe.parley(["run", "--no-history", "--tools", "my-tools.js", ...args], { cwd: work, env, ...more });
  return { file, run };
}

test("our own agent calls a function of the user's file, when a rule allows it", patience, async (t) => {
  const { run } = place(t);
  const { stdout, stderr, status } = await run(["--json", "--allow", "mcp parley/temperature", call]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /"notice","message":"tools: 1 connected \(parley, \d+ ms\)"/);
  assert.match(stdout, /Oslo: 4 degrees/);
});

test("nobody is there to ask: the tool is refused with the rule that allows it", patience, async (t) => {
  const { run } = place(t);
  const { stdout, stderr, status } = await run([call]);
  assert.equal(status, 3);
  assert.doesNotMatch(stdout, /4 degrees/);
  assert.match(stderr, /^parley: tools: 1 connected \(parley, \d+ ms\)$/m);
  assert.match(stderr, /allow it for this run with --allow "mcp parley\/temperature"/);
});

test("an agent without MCP over ACP connects by HTTP, and to a whole MCP server too", patience, async (t) => {
  const server = `{ name: "search", request: async () => ({ tools: [] }) }`;
  const { run } = place(t, `export default [${temperature}, ${server}];`);
  const { stdout, stderr, status } = await run(["hi", ...taker("http")]);
  assert.deepEqual([status, stdout.trim()], [0, "Hello."], stderr);
  assert.match(stderr, /^parley: tools: 1 connected \(\w+, \d+ ms\)$/m);
  assert.match(stderr, /^parley: tools of search: 0 connected /m);
});

test("a server that the agent does not use is named after 10 s", patience, async (t) => {
  const { run } = place(t);
  const words = "has not used the MCP server parley within 10 s";
  const { stdout, status } = await run(["--json", "wait", ...taker("never")], interruptAt(words));
  assert.equal(status, 130);
  assert.match(
    stdout,
    new RegExp(`"notice","message":"tools: \\w+ ${words}; it may do so later, or have dropped it"`),
  );
});

test("an agent in a sandbox reaches them, and nothing is left", inSandbox, async (t) => {
  const { run } = place(t);
  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith("parley-tools-"));
  const before = folders();
  const { stderr } = await run(["--sandbox", "agent", "hi", ...taker("stdio")]);
  assert.match(stderr, /^parley: tools: 1 connected /m);
  assert.deepEqual(folders(), before);
});

for (const unstable of [[], ["mcp_over_acp"]] as const)
  test(
    `an agent on another machine needs MCP over ACP: it has ${unstable.length === 0 ? "none" : "it"}`,
    patience,
    async (t) => {
      const far = agent({
        name: "far",
        version: "1.0.0",
        unstable,
        async prompt(turn) {
          const [server] = turn.session.mcpServers;
          await using tools = await server?.connect();
          await turn.say(JSON.stringify(await tools?.request("tools/list")));
        },
      });
      const remote = remoteServer({ connect: (transport) => far.connect(transport) });
      const host = await hostRemote(remote);
      t.after(async () => {
        await remote.close();
        await host.stop();
      });
      const { run } = place(t);
      const { status, stdout, stderr } = await run(["--url", host.url, "hi"]);
      if (unstable.length > 0) {
        assert.match(stdout, /"name":"temperature"/, stderr);
        assert.match(stderr, /^parley: tools: 1 connected \(\S+, \d+ ms\)$/m);
      } else {
        assert.equal(status, 2);
        assert.match(stderr, /--tools: the agent is on another machine and has no MCP over ACP/);
      }
    },
  );

test("a conversation shows the receipt", patience, async (t) => {
  const { cwd } = chatHome(t, {});
  const { file } = place(t);
  const tools = await toolsFrom(file);
  const chat = chatWith(t, { cwd, tools: (receiver) => givenTools(tools, receiver) });
  await chat.until(() => /^tools: 1 connected \(parley, \d+ ms\)$/m.test(chat.notices()));
  const notice = chat.events.find(
    (event) => event.kind === "notice" && event.notice.text.startsWith("tools:"),
  );
  assert.equal(notice?.kind === "notice" && notice.notice.level, "info");
});

for (const [module, message] of [
  [undefined, /^--tools: .*there is no such file$/],
  ["export const tools = [];", /expected a default export of tools, got none$/],
  ["export default [];", /the list of tools is empty$/],
  ["export default ['x'];", /expected a default export of tools, got string$/],
  ["export default { name: 'a b' };", /tool: name: expected 1 to 128 letters/],
  ["throw new Error('oops');", /: oops$/],
] as const)
  test(`a file that has no tools is refused before anything starts: ${module}`, patience, async (t) => {
    const { file } = place(t, module ?? "");
    await assert.rejects(toolsFrom(module === undefined ? `${file}.ts` : file), {
      message,
      hint: "docs/tools.md shows such a file",
    });
  });
