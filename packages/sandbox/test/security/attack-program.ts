// Runs all attacks in one sandbox, as the user who starts it, and prints those that were successful as JSON.
// Attacks run in a fresh workplace only, and only if the sandbox holds: one that ran outside would attack this repository.
//
//   node attack-program.ts FOLDER PROFILE

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { placeIn, runIn, takeFresh } from "../support/workplace.ts";
import { attacks, uses } from "./attacks.ts";

const [base = "", profile = "workspace"] = process.argv.slice(2);
if (profile !== "workspace" && profile !== "strict")
  throw new Error(`attacks run in the profiles workspace and strict, got ${profile}`);
takeFresh(base);
const { home, work, outside, open } = placeIn(base);
const mark = randomBytes(6).toString("hex");
const temporary = [`/dev/shm/parley-${mark}`, `/tmp/parley-${mark}`];
for (const path of temporary) writeFileSync(path, "SECRET");
const places = [join(outside, "host.sock"), join(work, "host.sock"), `\0parley-${mark}`];
const onPort = createServer().listen(0, "127.0.0.1");
const servers = [...places.map((path) => createServer().listen(path)), onPort];
await Promise.all(servers.map((server) => once(server, "listening")));
const victim = spawn("sh", ["-c", "read -r _", `victim-${mark}`], {
  stdio: ["pipe", "ignore", "ignore"],
  env: { HOST_CANARY: "SECRET" },
});
const sandbox = await open({
  profile,
  hide: [join(base, "hidden")],
  readOnly: [join(work, "locked")],
  write: [join(work, "locked/open")],
});

/** Nothing is tried outside the workplace, or where the sandbox does not even keep a file from being created outside. */
const holds = `[ "$(pwd -P)" = "$WORK" ] || { echo 'it runs elsewhere'; exit 1; }
(echo x >$OUTSIDE/probe) 2>/dev/null && { echo 'there is no sandbox'; exit 1; }`;
const script = (all: Readonly<Record<string, string>>) =>
  [
    holds,
    ...Object.entries(all).map(
      ([name, line]) => `(cd "$WORK" && ${line}\n) </dev/null >/dev/null 2>&1 && echo '${name}'`,
    ),
  ].join("\n");
const env = {
  PATH: process.env["PATH"],
  TMPDIR: "/tmp/elsewhere",
  SSH_AUTH_SOCK: places[0],
  XDG_RUNTIME_DIR: "/run/user/0",
  PROFILE: profile,
  HOME: home,
  WORK: work,
  OUTSIDE: outside,
  HIDDEN: join(base, "hidden"),
  // as a pattern that does not match itself
  HOST_MARK: `[v]ictim-${mark}`,
  HOST_PID: String(victim.pid),
  SHARED_MEMORY: temporary[0],
  TEMPORARY: temporary[1],
  ABSTRACT: `parley-${mark}`,
  PORT: String((onPort.address() as AddressInfo).port), // it listens on a port
};
const used = await runIn(sandbox, script(uses), { cwd: work, env });
const attacked = await runIn(sandbox, script(attacks), { cwd: work, env });
const isAlive = victim.exitCode === null && victim.signalCode === null;
victim.kill("SIGKILL");
for (const path of temporary) rmSync(path);

const changed = [
  "home/.bashrc",
  "outside/file",
  "work/locked/file",
  "work/.claude/settings.json",
  "work/.git/hooks/pre-push",
].filter((path) => !existsSync(join(base, path)) || readFileSync(join(base, path), "utf8") !== "kept");
const hits = attacked.stdout.split("\n").filter((line) => line !== "");
const done = new Set(used.stdout.split("\n"));
const refused = Object.keys(uses).filter((name) => !done.has(name));
const { movedAside, created } = attacked.findings;
console.log(
  JSON.stringify({
    count: Object.keys(attacks).length,
    hits,
    refused,
    changed,
    isAlive,
    movedAside,
    created,
  }),
);
await sandbox.close();
// the files of the sockets stay, see the test
process.exit(0);
