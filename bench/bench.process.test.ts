// The suite works and answers in the documented shape. What the figures are is no business of a test.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const bench = (...args: string[]) =>
  spawnSync(
    process.execPath,
    ["--conditions=parley-source", fileURLToPath(new URL("run.ts", import.meta.url)), ...args],
    {
      encoding: "utf8",
    },
  );

/** Those that are done in a few seconds each; all of them take more than a minute on a busy machine. */
const quick = {
  "rpc.sequential": "µs CPU/request",
  "v2.tool-update": "k msg/s",
  validate: "ns/message",
  "sessions.10k": "k updates/s",
  view: "k events/s",
};
for (const [name, unit] of Object.entries(quick)) {
  test(`${name} alone prints its ratios as JSON`, () => {
    const { status, stdout, stderr } = bench("--json", "--only", name, "--rounds", "1", "--quick");
    assert.equal(status, 0, stderr);
    const printed = JSON.parse(stdout);
    assert.deepEqual(Object.keys(printed), [name]);
    const result = printed[name];
    for (const key of ["ours", "sdk", "floor", "vsSdk", "vsFloor"]) {
      assert.ok(Number.isFinite(result[key]) && result[key] > 0, `${key}: ${result[key]}`);
    }
    assert.equal(result.unit, unit);
  });
}

test("an unknown benchmark is refused with the names that exist", () => {
  const { status, stdout, stderr } = bench("--only", "stream.chunk");
  assert.equal(status, 2);
  assert.equal(stdout, "");
  assert.match(stderr, /no benchmark "stream\.chunk"; known: .*stream\.chunks/);
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

test("the list names every benchmark that has a target of its own", () => {
  const { status, stdout } = bench("--list");
  assert.equal(status, 0);
  const listed = stdout.split("\n").map((line) => line.split(" ")[0]);
  const promised = [
    "stream.chunks",
    "stream.mix",
    "v2.tool-update",
    "rpc.sequential",
    "rpc.inflight64",
    "prompt.64mib",
    "validate",
    "startup",
  ];
  assert.deepEqual(
    promised.filter((name) => !listed.includes(name)),
    [],
  );
});
