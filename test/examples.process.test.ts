// Every example runs as printed and prints what it says that it prints.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import test from "node:test";
import { promisify } from "node:util";

const folder = new URL("../examples/", import.meta.url);
const run = promisify(execFile);

const promised = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .sort()
  .map((name) => {
    const source = readFileSync(new URL(name, folder), "utf8");
    const [, block] = source.split("\n// prints:\n");
    const prints = block
      ?.split("\n")
      .map((line) => line.replace(/^\/\/ /, ""))
      .join("\n");
    return { name, prints };
  });

test("every example but the agents that others start says what it prints", () => {
  const silent = promised.filter(({ prints }) => prints === undefined).map(({ name }) => name);
  assert.deepEqual(silent, ["agent.ts", "raw-agent.ts", "with-the-sdk/agent.ts"]);
});

test("ten examples with the official SDK have the names of those that they mirror", () => {
  const names = promised.map(({ name }) => name);
  const mirrors = names.filter((name) => dirname(name) === "with-the-sdk").map((name) => basename(name));
  assert.equal(mirrors.length, 10);
  const alone = mirrors.filter((name) => !names.includes(name));
  assert.deepEqual(alone, []);
});

for (const { name, prints } of promised) {
  if (prints === undefined) continue;
  test(`examples/${name} prints what it promises`, async () => {
    const args = ["--conditions=parley-source", `examples/${name}`];
    const { stdout, stderr } = await run(process.execPath, args, {
      cwd: new URL("../", import.meta.url),
      timeout: 60_000,
    });
    assert.equal(stderr, "");
    assert.equal(stdout, prints);
  });
}
