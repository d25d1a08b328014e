// For the case that this process is killed and cannot end its children itself: one /bin/sh per
// process, started with the first child, that waits for the end of a pipe whose other end only we
// hold. When that comes, it gives the registered process groups time to notice the end of their
// stdin, then sends SIGTERM, then SIGKILL; on Linux then also to whoever of ours has left its group (see group-mark.ts). It has a session of its own, so Ctrl-C does not reach it,
// and it leaves when we leave. 3 ms to start, 1.7 MB (dash), most of it shared. There is none on Windows.

import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { ownerMark } from "./group-mark.ts";

// The arguments are the groups at the start; after that a line "+ 123" registers and "- 123" forgets. A
// group that has gone is dropped at once and for good, because its number may come to mean another one.
// `sleep 0.1` is not POSIX, but the systems that we know take it.
const script = `
trap '' HUP INT QUIT TERM PIPE
groups=$*
without() { kept=; for g in $groups; do [ "$g" = "$1" ] || kept="$kept $g"; done; groups=$kept; }
living() { for g in $groups; do kill -s 0 -- "-$g" || without "$g"; done; [ -n "$groups" ]; }
patience() { n=0; while living && [ "$n" -lt 20 ]; do sleep 0.1 || sleep 1; n=$((n + 1)); done; }
while read -r what group; do
  case $what in
    +) groups="$groups $group" ;;
    -) without "$group" ;;
  esac
done
for signal in TERM KILL; do
  patience
  for g in $groups; do kill -s "$signal" -- "-$g"; done
done
for file in $(grep -ls "${ownerMark}" /proc/[0-9]*/environ); do
  pid=\${file#/proc/}
  kill -s KILL "\${pid%/environ}"
done
`;

const groups = new Set<number>();
let watchdog: ChildProcess | undefined;
let restarts = 0;

/** Ends the process group, should this process die first. The returned function forgets it. */
export function watchGroup(pgid: number): () => void {
  if (process.platform === "win32") return () => {};
  groups.add(pgid);
  if (watchdog === undefined) start();
  else tell(`+ ${pgid}\n`);
  return () => {
    if (groups.delete(pgid)) tell(`- ${pgid}\n`);
  };
}

function start(): void {
  const started = spawn("/bin/sh", ["-c", script, "parley-watchdog", ...[...groups].map(String)], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const lost = (): void => {
    if (watchdog !== started) return;
    watchdog = undefined;
    // Somebody killed it, or there is no /bin/sh: a few times at once, then with the next child.
    restarts += 1;
    if (groups.size > 0 && restarts <= 3) start();
  };
  started.on("error", lost).on("exit", lost);
  // Out of descriptors there is no pipe, whatever the types say; 'error' follows.
  const pipe: Writable | undefined = started.stdin;
  pipe?.on("error", lost);
  // Neither keeps us running: the end of the pipe, which comes with our exit, is what it waits for.
  started.unref();
  // The pipe of a child is a net.Socket, which the types hide.
  if (pipe instanceof Socket) pipe.unref();
  watchdog = started;
}

function tell(lines: string): void {
  // Node writes what the pipe takes at once, before this returns: a kill right after finds it registered.
  watchdog?.stdin?.write(lines);
}
