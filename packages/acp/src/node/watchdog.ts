// Ends our process groups when this process is killed, by a /bin/sh that waits for the end of a pipe.

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { Socket } from "node:net";
import type { Writable } from "node:stream";

let mark: string | undefined;
let marks = 0;

/** The prefix of the variables that mark the processes of our groups, to find daemons that have left them. */
function ownerMark(): string {
  // made on use, because node:crypto takes 4 ms to load
  mark ??= `PARLEY_GROUP_${randomBytes(6).toString("hex")}_`;
  return mark;
}

/** The name of a new variable; its value does not matter. A name per group, so that nested groups have both. */
export function groupMark(): string {
  marks += 1;
  return `${ownerMark()}${marks}`;
}

// The shell has its own session, so that Ctrl-C does not reach it. After our death it gives the groups time to see the
// end of their stdin, then sends SIGTERM and SIGKILL; on Linux it then kills marked processes outside their group, more
// than once, because one may start another before it is seen. It
// takes 3 ms to start and 1.7 MB, mostly shared. There is none on Windows.
//
// The arguments are the initial groups; a line "+ 123" adds one and "- 123" removes it; "~ 50" gives all groups
// 5 s instead of 2 s after our death, if that is more. A group that has exited is removed at once, because its number
// may be reused. `sleep 0.1` is not POSIX, but widely supported.
const script = (): string => `
trap '' HUP INT QUIT TERM PIPE
groups=$*
tenths=20
without() { kept=; for g in $groups; do [ "$g" = "$1" ] || kept="$kept $g"; done; groups=$kept; }
living() { for g in $groups; do kill -s 0 -- "-$g" || without "$g"; done; [ -n "$groups" ]; }
wait_for_exit() { n=0; while living && [ "$n" -lt "$tenths" ]; do sleep 0.1 || sleep 1; n=$((n + 1)); done; }
while read -r what group; do
  case $what in
    +) groups="$groups $group" ;;
    -) without "$group" ;;
    '~') [ "$group" -gt "$tenths" ] && tenths=$group ;;
  esac
done
for signal in TERM KILL; do
  wait_for_exit
  tenths=20
  for g in $groups; do kill -s "$signal" -- "-$g"; done
done
for round in 1 2 3; do
  for file in $(grep -ls "${ownerMark()}" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -s KILL "\${pid%/environ}"
  done
  sleep 0.1 || sleep 1
done
`;

const groups = new Set<number>();
let watchdog: ChildProcess | undefined;
let restarts = 0;

/** Ends the process group if this process dies first. The returned function stops that. */
export function watchGroup(pgid: number): () => void {
  if (process.platform === "win32") return () => {};
  groups.add(pgid);
  if (watchdog === undefined) start();
  else send(`+ ${pgid}\n`);
  return () => {
    if (groups.delete(pgid)) send(`- ${pgid}\n`);
  };
}

/** Lets the groups live for so long after the exit of this process. False if nobody would end them. */
export function watchAfterExit(ms: number): boolean {
  if (watchdog?.pid === undefined) return false;
  send(`~ ${Math.ceil(ms / 100)}\n`);
  return true;
}

function start(): void {
  const started = spawn("/bin/sh", ["-c", script(), "parley-watchdog", ...[...groups].map(String)], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const lost = (): void => {
    if (watchdog !== started) return;
    watchdog = undefined;
    // it was killed, or there is no /bin/sh: restart a few times, then with the next child
    restarts += 1;
    if (groups.size > 0 && restarts <= 3) start();
  };
  started.on("error", lost).on("exit", lost);
  // undefined, despite its type, when out of descriptors; 'error' follows
  const pipe: Writable | undefined = started.stdin;
  pipe?.on("error", lost);
  // neither must keep this process running
  started.unref();
  // a child's pipe is a net.Socket, which the types hide
  if (pipe instanceof Socket) pipe.unref();
  watchdog = started;
}

function send(lines: string): void {
  // written synchronously, so that a kill right after this finds the group registered
  watchdog?.stdin?.write(lines);
}
