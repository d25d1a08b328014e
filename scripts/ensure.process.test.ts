// The install guard, in a small repository of its own and with a stand-in for npm that counts its runs.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

const fakeNpm = `
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
if (process.env.FAIL) { console.error("npm error network ENOTFOUND"); process.exit(1); }
rmSync("node_modules", { recursive: true, force: true });
// as long as the test wants: until it hangs up
if (process.env.GATE) await new Promise((done) => connect(process.env.GATE, "127.0.0.1").on("close", done).resume());
mkdirSync("node_modules/node-" + process.platform + "-" + process.arch, { recursive: true });
appendFileSync("runs", process.argv.slice(2).join(" ") + "\\n");
`;

function repository(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "parley ensure "));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "scripts"));
  copyFileSync(join(import.meta.dirname, "ensure.mjs"), join(folder, "scripts/ensure.mjs"));
  writeFileSync(join(folder, "npm.mjs"), fakeNpm);
  writeFileSync(join(folder, "package-lock.json"), '{ "packages": {} }');
  return folder;
}

function environment(folder: string, extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const npm = { npm_execpath: join(folder, "npm.mjs"), npm_node_execpath: process.execPath };
  return { ...process.env, ...npm, ...extra };
}

function ensure(folder: string, args: readonly string[] = [], extra: NodeJS.ProcessEnv = {}) {
  const command = [join(folder, "scripts/ensure.mjs"), ...args];
  const env = environment(folder, extra);
  const { status, stderr } = spawnSync(process.execPath, command, { encoding: "utf8", env, cwd: tmpdir() });
  return { status, stderr };
}

function installs(folder: string): number {
  const runs = join(folder, "runs");
  return existsSync(runs) ? readFileSync(runs, "utf8").trim().split("\n").length : 0;
}

test("a failed install shows what npm said, leaves no guard, and is tried again", (t) => {
  const folder = repository(t);
  const { status, stderr } = ensure(folder, [], { FAIL: "1" });
  assert.equal(status, 1);
  assert.match(stderr, /ENOTFOUND/);
  assert.match(stderr, /npm ci failed with exit code 1/);
  assert.equal(ensure(folder).status, 0);
  assert.equal(installs(folder), 1);
});

test("the first run installs, the second one does nothing and says nothing", (t) => {
  const folder = repository(t);
  assert.match(ensure(folder).stderr, /installing dependencies/);
  assert.deepEqual(ensure(folder), { status: 0, stderr: "" });
  assert.equal(installs(folder), 1);
});

test("a changed lockfile installs again", (t) => {
  const folder = repository(t);
  ensure(folder);
  writeFileSync(join(folder, "package-lock.json"), '{ "packages": { "": {} } }');
  ensure(folder);
  assert.equal(installs(folder), 2);
});

test("offline nothing is installed; the user is told what to run", (t) => {
  const folder = repository(t);
  const { status, stderr } = ensure(folder, ["--offline"]);
  assert.equal(status, 1);
  assert.match(stderr, /node_modules is missing/);
  assert.match(stderr, /run: npm ci/);
  assert.equal(installs(folder), 0);
});

test("an install made by hand counts when it matches the lockfile, and not when it does not", (t) => {
  const folder = repository(t);
  const lock = { packages: { "": {}, "node_modules/a": { version: "1.0.0", integrity: "sha512-a" } } };
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
  mkdirSync(join(folder, `node_modules/node-${process.platform}-${process.arch}`), { recursive: true });
  const hidden = join(folder, "node_modules/.package-lock.json");
  const older = { packages: { "node_modules/a": { version: "0.9.0", integrity: "sha512-b" } } };
  writeFileSync(hidden, JSON.stringify(older));
  assert.equal(ensure(folder, ["--offline"]).status, 1);
  writeFileSync(hidden, JSON.stringify(lock));
  assert.equal(ensure(folder, ["--offline"]).status, 0);
  assert.equal(installs(folder), 0);
});

test("two at once install once", { timeout: 60_000 }, async (t) => {
  const folder = repository(t);
  const gate = createServer().listen(0, "127.0.0.1");
  await once(gate, "listening");
  const env = environment(folder, { GATE: String((gate.address() as AddressInfo).port) });
  const start = () => {
    const child = spawn(process.execPath, [join(folder, "scripts/ensure.mjs")], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    return { stderr: child.stderr.setEncoding("utf8"), exited: once(child, "exit") };
  };
  const first = start();
  const [installing] = (await once(gate, "connection")) as [Socket];
  const second = start();
  assert.match(String((await once(second.stderr, "data"))[0]), /another install is running/);
  installing.end();
  gate.close();
  assert.deepEqual(await Promise.all([first.exited, second.exited]), [
    [0, null],
    [0, null],
  ]);
  assert.equal(installs(folder), 1);
});
