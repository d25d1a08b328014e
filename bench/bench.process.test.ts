// Tests that the benchmarks run and report in the documented shape. Figures are not tested.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inSoak } from "../packages/acp/test/support/soak.ts";

const bench = (...args: string[]) =>
  spawnSync(
    process.execPath,
    ["--conditions=parley-source", fileURLToPath(new URL("run.ts", import.meta.url)), ...args],
    {
      encoding: "utf8",
    },
  );

const patience = { timeout: 300_000 };

/** Every benchmark and its unit. */
const units = {
  "stream.chunks": "k msg/s",
  "stream.mix": "k msg/s",
  "app.chunks": "k msg/s",
  "app.mix": "k msg/s",
  "rpc.sequential": "µs CPU/request",
  "rpc.inflight64": "µs CPU/request",
  "prompt.64mib": "ms",
  "relay.pass": "k msg/s",
  "proxy.process": "k msg/s",
  "proxy.inside": "k msg/s",
  "relay.translate": "k msg/s",
  "proxy.component": "µs CPU/message",
  "v2.tool-update": "k msg/s",
  validate: "ns/message",
  "sessions.10k": "k updates/s",
  view: "k events/s",
  tap: "ms",
  startup: "ms",
  "agent.startup": "ms",
  "agent.cancel": "ms",
  "agent.output": "ms",
  "agent.load": "ms",
  "log.append": "ms",
  "log.end": "ms",
  "run.startup": "ms",
  "run.updates": "ms",
  "run.terminal": "ms",
  "sandbox.command": "ms",
  "mcp.tool": "µs/call",
  "remote.ws": "k msg/s",
  "remote.sse": "k msg/s",
  "remote.ws-rpc": "µs/request",
  "remote.http-rpc": "µs/request",
  "remote.idle": "KiB RSS",
  "remote.fair": "of the median",
  "remote.cycles": "ms",
  "serve.startup": "ms",
  "review.snapshot": "ms",
  "chat.scroll": "ms",
  "chat.startup": "ms",
  "chat.echo": "ms",
  "chat.flood": "ms",
};
const figures = ["ours", "sdk", "floor", "vsSdk", "vsFloor"] as const;

type Printed = Record<string, Record<(typeof figures)[number], number> & { readonly unit: string }>;

/** One of each kind; `npm run test:soak` runs all of them. */
const chosen = inSoak(
  [
    "stream.mix",
    "app.chunks",
    "rpc.inflight64",
    "prompt.64mib",
    "relay.translate",
    "tap",
    "agent.load",
    "run.startup",
    "remote.ws",
  ],
  Object.keys(units),
);

test("benchmarks print their figures and ratios as JSON, and nothing else on stdout", patience, () => {
  const only = chosen.flatMap((name) => ["--only", name]);
  const { status, stdout, stderr } = bench("--json", "--rounds", "1", "--quick", ...only);
  assert.equal(status, 0, stderr);
  const printed: Printed = JSON.parse(stdout);
  assert.deepEqual(Object.keys(printed), chosen);
  for (const [name, result] of Object.entries(printed)) {
    for (const key of figures) {
      assert.ok(Number.isFinite(result[key]) && result[key] > 0, `${name} ${key}: ${result[key]}`);
    }
    assert.equal(result.unit, units[name as keyof typeof units], name);
  }
});

test("one benchmark, by npm run --silent: what arrives on stdout is its JSON", patience, () => {
  // the npm that runs this test passes its own settings on, which would hide those of the repository
  const environment = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const args = ["run", "--silent", "bench", "--", "--json", "--only", "validate", "--rounds", "1", "--quick"];
  const { status, stdout, stderr } = spawnSync("npm", args, {
    cwd: join(import.meta.dirname, ".."),
    env: Object.fromEntries(environment),
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  assert.deepEqual(Object.keys(JSON.parse(stdout)), ["validate"]);
});

test("an unknown benchmark is refused with the names that exist", () => {
  const { status, stdout, stderr } = bench("--only", "stream.chunk");
  assert.equal(status, 2);
  assert.equal(stdout, "");
  assert.match(stderr, /no benchmark "stream\.chunk"; known: .*stream\.chunks/);
});

test("a commit that does not exist is refused before anything runs", () => {
  const { status, stdout, stderr } = bench("--against", "no-such-commit", "--only", "validate");
  assert.equal(status, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /--against: there is no commit "no-such-commit" here/);
});

test("a number of rounds that is none is refused", () => {
  const { status, stderr } = bench("--rounds", "0");
  assert.equal(status, 2);
  assert.match(stderr, /--rounds: wanted a whole number from 1 to 9999, got "0"/);
});

test("an unknown option is refused with the way to the help", () => {
  const { status, stderr } = bench("--fast");
  assert.equal(status, 2);
  assert.match(stderr, /--fast/);
  assert.match(stderr, /--help/);
});

test("the list names every benchmark", () => {
  const { status, stdout } = bench("--list");
  assert.equal(status, 0);
  const listed = stdout.trimEnd().split("\n");
  assert.deepEqual(
    listed.map((line) => line.split(" ")[0]),
    Object.keys(units),
  );
});
