// The MCP servers that the coding agent has of its own: the config, `.mcp.json`, and `parley agent mcp`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { scriptServer } from "../../../agent/test/support/mcp-probe.ts";
import { oauthProbe } from "../../../agent/test/support/oauth-probe.ts";
import { type Home, home, launcher, patience, start } from "../../../agent/test/support/process-probe.ts";

/** A server with one tool that writes a variable and its folder to a file when it starts. */
function program(place: Home): {
  readonly path: string;
  readonly mark: string;
  marked(): string | undefined;
} {
  const mark = join(place.path, "started");
  scriptServer(
    place.path,
    "server",
    `writeFileSync(process.env.MARK, process.env.WHO + " in " + process.cwd());
     const answer = (method) => {
       if (method === "initialize") return hello({ tools: {} });
       if (method === "tools/list") return { tools: [tool("look")] };
     };`,
  );
  const marked = () => {
    if (!existsSync(mark)) return undefined;
    const text = readFileSync(mark, "utf8");
    rmSync(mark);
    return text;
  };
  return { path: join(place.path, "server.mjs"), mark, marked };
}

/** Runs `parley` without blocking this process, which may be the server that it asks. */
async function run(place: Home, args: readonly string[], onStderr?: (text: string) => void) {
  const child = spawn(launcher, args, { cwd: place.cwd, env: { ...process.env, ...place.env } });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk;
    onStderr?.(stderr);
  });
  child.stdin.end();
  const status = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { status, stdout, stderr };
}

const listed = async (place: Home) => JSON.parse((await run(place, ["agent", "mcp", "--json"])).stdout).data;

// not a template: the agent replaces it
const variable = (name: string) => ["$", "{", name, "}"].join("");

test(
  "servers of the config are started with variables of the environment; a missing one is told",
  patience,
  async (t) => {
    const place = home(t);
    const { path, mark, marked } = program(place);
    const entry = (WHO: string) => ({ command: process.execPath, args: [path], env: { MARK: mark, WHO } });
    const secret = { headers: { "x-key": variable("NOT_SET") }, url: "https://127.0.0.1:1/mcp" };
    place.configure({
      agent: {
        mcpServers: {
          mine: { ...entry(variable("WHO_AM_I")), cwd: place.path },
          unset: secret,
          off: { ...entry("nobody"), disabled: true },
        },
      },
    });
    const { agent, output } = await start(t, place, 2, { env: { WHO_AM_I: "somebody" } });
    const session = await agent.newSession({ cwd: place.cwd });
    await session.prompt("list").result;
    assert.equal(marked(), `somebody in ${place.path}`);
    assert.match(
      output(),
      /The MCP server unset is not started: the environment of the agent has no NOT_SET, which agent\.mcpServers\.unset uses; set it where/,
    );
    await agent.close();
    const without = await listed({ ...place, env: { ...place.env, WHO_AM_I: "me" } });
    assert.deepEqual(without.servers, [
      { name: "mine", from: "config", loggedIn: false, state: "ready", tools: ["look"] },
      { name: "off", from: "config", state: "disabled", loggedIn: false, tools: [] },
    ]);
    assert.match(without.problems.join("\n"), /The MCP server unset is not started/);
  },
);

test("an entry of the config that cannot be used is an error of parley config check", patience, (t) => {
  const place = home(t);
  place.configure({ agent: { mcpServers: { a: { args: ["x"] } } } });
  const { status, stderr } = place.run(["config", "check"]);
  assert.equal(status, 2);
  assert.match(stderr, /the MCP server a needs a command or a url/);
  place.configure({ agent: { mcpServers: { a: { command: "x", colour: "red" } } } });
  assert.match(place.run(["config", "check"]).stdout, /agent\.mcpServers\.a\.colour is not known/);
});

/** One prompt in a new process. */
async function prompted(t: TestContext, place: Home, answer: string) {
  const { agent, asks, output } = await start(t, place, 1, {
    requestPermission(ask) {
      asks.push(ask);
      return answer;
    },
  });
  const session = await agent.newSession({ cwd: place.cwd });
  const atOpening = asks.length;
  await session.prompt("list").result;
  await agent.close();
  assert.equal(atOpening, 0);
  return { asks: JSON.stringify(asks), count: asks.length, output: output() };
}

test(
  "TH16 an answer about a server of .mcp.json holds for the next process, until its entry changes",
  patience,
  async (t) => {
    const place = home(t);
    const { path, mark, marked } = program(place);
    const write = (WHO: string) => {
      const server = { command: process.execPath, args: [path], env: { MARK: mark, WHO } };
      writeFileSync(join(place.cwd, ".mcp.json"), JSON.stringify({ mcpServers: { db: server } }));
    };
    write("first");
    const no = await prompted(t, place, "reject_once");
    assert.equal(no.count, 1);
    assert.ok(no.asks.includes(`${process.execPath} ${path}`), no.asks);
    assert.match(no.asks, /with WHO=first/);
    assert.match(no.output, /is not started: you did not allow it\. To allow it, run parley trust in/);
    assert.equal(marked(), undefined);
    assert.equal((await prompted(t, place, "allow_always")).count, 1);
    assert.equal(marked(), `first in ${place.cwd}`);
    assert.equal((await prompted(t, place, "reject_once")).count, 0);
    assert.equal(marked(), `first in ${place.cwd}`);
    assert.equal((await listed(place)).servers[0].state, "ready");
    assert.equal(marked(), `first in ${place.cwd}`);
    write("second");
    assert.equal((await prompted(t, place, "reject_always")).count, 1);
    assert.equal((await prompted(t, place, "allow_once")).count, 0);
    assert.equal((await listed(place)).servers[0].state, "never");
    assert.equal(marked(), undefined);
    // the trust in the whole folder is the same store
    assert.equal(place.run(["trust", "--revoke", place.cwd]).status, 0);
    assert.equal((await listed(place)).servers[0].state, "not_decided");
    assert.equal(place.run(["trust", "--yes", place.cwd]).status, 0);
    assert.equal((await prompted(t, place, "reject_once")).count, 0);
    assert.equal(marked(), `second in ${place.cwd}`);
  },
);

test(
  "TH16 a .mcp.json that is a link, huge or broken is told, and the session stays usable",
  patience,
  async (t) => {
    const place = home(t);
    const file = join(place.cwd, ".mcp.json");
    const real = join(place.path, "elsewhere.json");
    writeFileSync(real, "{}");
    for (const [make, told] of [
      [
        () => symlinkSync(real, file),
        /\.mcp\.json is a symbolic link; the MCP servers of this workspace are ignored/,
      ],
      [() => writeFileSync(file, " ".repeat(300_000)), /\.mcp\.json is larger than 256 KiB/],
      [() => writeFileSync(file, '{"mcpServers": {'), /\.mcp\.json: it is not valid JSON/],
    ] as const) {
      make();
      const { count, output } = await prompted(t, place, "allow_once");
      rmSync(file);
      assert.equal(count, 0);
      assert.match(output, told);
    }
  },
);

test(
  "parley agent mcp logs in to a server, lists its tools and logs out; no token is printed",
  patience,
  async (t) => {
    const place = home(t);
    const probe = await oauthProbe(t);
    place.configure({
      agent: { mcpServers: { tracker: { url: probe.url } }, privateHosts: [probe.authHost] },
    });
    const before = await run(place, ["agent", "mcp"]);
    assert.match(before.stdout, /^tracker {2}\(config\) {2}needs a login: parley agent mcp login tracker$/m);
    let visit: Promise<Response> | undefined;
    const login = await run(place, ["agent", "mcp", "login", "tracker"], (stderr) => {
      const [page] = /http\S+authorize\S+(?=\n)/.exec(stderr) ?? [];
      if (page !== undefined) visit ??= probe.visit(page);
    });
    assert.equal(login.status, 0, login.stderr);
    assert.match(login.stdout, /^Logged in to tracker \(2 tools\)\.$/m);
    assert.match(await (await visit!).text(), /close this page/);
    const folder = join(place.path, "data/mcp-logins");
    const files = readdirSync(folder);
    assert.equal(files.length, 1);
    assert.equal(statSync(join(folder, files[0] ?? "")).mode & 0o777, 0o600);
    // two processes renew the login at the same time
    probe.expire();
    const lists = await Promise.all([listed(place), listed(place)]);
    for (const { servers } of lists)
      assert.deepEqual(servers, [
        { name: "tracker", from: "config", loggedIn: true, state: "ready", tools: ["whoami", "other"] },
      ]);
    assert.deepEqual(probe.grants, ["authorization_code", "refresh_token"]);
    const nobody = await run(place, ["agent", "mcp", "login", "nobody"]);
    assert.match(nobody.stderr, /there is no MCP server nobody/);
    const logout = await run(place, ["agent", "mcp", "logout", "tracker"]);
    assert.match(logout.stdout, /^Deleted the login to tracker\.$/m);
    assert.deepEqual(readdirSync(folder), []);
    assert.match(
      (await run(place, ["agent", "mcp", "logout", "tracker"])).stdout,
      /^No login to tracker was stored/,
    );
    const all = JSON.stringify([before, login, lists, logout]);
    for (const token of probe.tokens) assert.equal(all.includes(token), false);
  },
);
