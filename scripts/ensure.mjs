// Makes sure that node_modules is what package-lock.json says, in milliseconds when it already is.
// Plain JavaScript for Node 18 and newer, built-in modules only: on a clean clone this runs before
// anything is installed, on whatever Node the machine has.
//
//   node scripts/ensure.mjs            install when needed
//   node scripts/ensure.mjs --offline  never install; say what to run instead

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const guard = join(modules, ".parley-lock");
const minimumNode = [22, 18];

const offline = process.argv.includes("--offline");
const lockText = readLock();
const wanted = createHash("sha256").update(`${process.platform} ${process.arch}\n${lockText}`).digest("hex");

if (!isInstalled()) {
  if (offline) {
    const state = existsSync(modules)
      ? "node_modules does not match package-lock.json"
      : "node_modules is missing";
    stop(`${state}, and this command never installs`, "run: npm ci");
  }
  await withInstallLock(async () => {
    // Somebody else may have installed while this process waited for the lock.
    if (!isInstalled()) await install();
  });
}
requireNode();

function readLock() {
  try {
    return readFileSync(join(root, "package-lock.json"), "utf8");
  } catch (error) {
    return stop(
      `cannot read package-lock.json (${error.code})`,
      "restore it: git checkout package-lock.json",
    );
  }
}

function isInstalled() {
  if (readIfThere(guard) === wanted) return true;
  // An `npm ci` or `npm install` typed by hand leaves no guard; its result counts all the same.
  if (!matchesLock()) return false;
  writeGuard();
  return true;
}

/** Compares the lockfile with the list of what npm installed: every package, by version and integrity. */
function matchesLock() {
  const hidden = readIfThere(join(modules, ".package-lock.json"));
  if (hidden === undefined) return false;
  try {
    const present = JSON.parse(hidden).packages;
    const locked = JSON.parse(lockText).packages;
    const complete = Object.entries(locked).every(([path, entry]) => {
      if (path === "") return true;
      const found = present[path];
      // Packages for other platforms are optional and stay away.
      if (found === undefined) return entry.optional === true && path !== pinnedNodePath();
      return found.version === entry.version && found.integrity === entry.integrity;
    });
    return complete && Object.keys(present).every((path) => path in locked);
  } catch {
    return false; // a damaged list is as good as none: install again
  }
}

function pinnedNodePath() {
  const platform = process.platform === "win32" ? "win" : process.platform;
  return `node_modules/node-${platform}-${process.arch}`;
}

async function install() {
  const started = Date.now();
  process.stderr.write(
    "parley: installing dependencies with npm ci, once per lockfile.\nparley: it takes about half a minute\n",
  );
  const { code, output } = await runNpmCi();
  if (code !== 0) {
    process.stderr.write(`${output.trim().split("\n").slice(-30).join("\n")}\n`);
    stop(
      `npm ci failed with exit code ${code}`,
      "is the npm registry reachable? see what npm says above, then run: npm ci",
    );
  }
  writeGuard();
  process.stderr.write(`parley: installed in ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
}

function runNpmCi() {
  // npm ci deletes node_modules, and with it the pinned Node that may be running this file: prefer
  // the Node that npm itself was started with.
  const npmScript = process.env.npm_execpath;
  const [command, first] = npmScript
    ? [process.env.npm_node_execpath ?? process.execPath, [npmScript]]
    : [process.platform === "win32" ? "npm.cmd" : "npm", []];
  return new Promise((resolve) => {
    const child = spawn(command, [...first, "ci", "--no-audit", "--no-fund", "--no-json"], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      shell: command.endsWith(".cmd"),
    });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("error", (error) => resolve({ code: 1, output: `cannot start ${command}: ${error.message}` }));
    child.on("close", (code, signal) => resolve({ code: code ?? signal, output }));
  });
}

/** Two installs at once would delete each other's files. The lock is outside node_modules, which npm ci removes. */
async function withInstallLock(work) {
  const name = createHash("sha256").update(root).digest("hex").slice(0, 16);
  const lock = join(tmpdir(), `parley-install-${name}`);
  const owner = join(lock, "pid");
  for (let waits = 0; !takeLock(lock, owner); waits++) {
    if (waits === 0)
      process.stderr.write("parley: another install is running in this checkout, waiting for it\n");
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  process.on("exit", () => rmSync(lock, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
  await work();
}

function takeLock(lock, owner) {
  try {
    mkdirSync(lock);
    writeFileSync(owner, String(process.pid));
    return true;
  } catch (error) {
    if (error.code !== "EEXIST")
      stop(`cannot create ${lock} (${error.code})`, "point TMPDIR to a folder that can be written");
  }
  const pid = Number(readIfThere(owner));
  // An owner that was killed leaves its lock behind. No pid yet means that it is just being written.
  if (pid > 0 && !isAlive(pid)) rmSync(lock, { recursive: true, force: true });
  return false;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Where no Node is pinned for the platform (macOS), the scripts run on the machine's own. */
function requireNode() {
  if (existsSync(join(root, pinnedNodePath()))) return;
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > minimumNode[0] || (major === minimumNode[0] && minor >= minimumNode[1])) return;
  stop(
    `no Node is pinned for ${process.platform}-${process.arch}, and the one on PATH is ${process.version}`,
    `install Node ${minimumNode.join(".")} or newer (24 is what the tests run on) and try again`,
  );
}

function writeGuard() {
  try {
    writeFileSync(guard, wanted);
  } catch {
    // A read-only node_modules only costs the comparison on the next run.
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // not there: the callers treat that as an answer
  }
}

function stop(problem, hint) {
  process.stderr.write(`parley: ${problem}\nparley: ${hint}\n`);
  process.exit(1);
}
