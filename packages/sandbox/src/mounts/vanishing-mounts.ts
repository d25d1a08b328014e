// Starts bubblewrap with mounts on paths that may vanish before it gets to them: the sockets of other programs.
//
// Bubblewrap ends if it cannot mount something, and none of its options says that the path of a mount may be missing
// (`--ro-bind-try` is about what is mounted there). To look right before it starts does not close the gap, because it
// needs milliseconds to create its namespaces. So a shell looks, starts it, and starts it again if the command has not
// begun. The command cannot run twice: the shell inside takes a line out of a pipe before it becomes the command, and
// only if the line is still there, the shell outside tries again.
//
// The shell outside is the parent of bubblewrap, which dies with it. Both are in one process group, and it ends with the
// status of bubblewrap. It uses nothing but builtins: programs of PATH would run outside the sandbox.
//
// Both shells take about 2 ms, and only where there are such sockets. A socket that appears later is not hidden.

/** Where the shells have the pipe, the standard error for the command, the mounts, and the standard input. */
const files = { mark: 5, stderr: 6, mounts: 7, stdin: 8 } as const;

/** Bubblewrap reads the mounts here, and closes the file. */
export const vanishingMountsOption = ["--args", `${files.mounts}`] as const;

/** A path vanishes once, so two are mostly enough. Others fail for another reason, which the last one tells. */
const tries = 20;

/** `$0` is the number of mounts. They come first, then bubblewrap. All names are ours, since variables are passed on. */
const outside = `
parley_mounts() {
  PATH=/usr/bin:/bin
  while [ "$parley_count" -gt 0 ]; do
    if [ "$1" = --bind ]; then [ -d "$3" ]; else [ -S "$3" ]; fi && printf '%s\\0' "$1" "$2" "$3"
    shift 3
    parley_count=$((parley_count - 1))
  done
}
parley_count=$0
parley_try=1
exec ${files.stderr}>&2 ${files.stdin}<&0 2>/dev/null
while [ "$parley_try" -le ${tries} ]; do
  [ "$parley_try" -lt ${tries} ] || exec 2>&${files.stderr}
  exec ${files.mark}<<end
not started
end
  parley_mounts "$@" | {
    shift $((3 * parley_count))
    exec "$@" ${files.mounts}<&0 <&${files.stdin} ${files.stdin}<&-
  }
  parley_status=$?
  read -r parley_mark <&${files.mark} || break
  parley_try=$((parley_try + 1))
done
exit "$parley_status"`;

const inside = `read -r parley_mark <&${files.mark}
exec "$@" 2>&${files.stderr} ${files.mark}<&- ${files.stderr}>&-`;

/** The words before bubblewrap, and those before the command. There are none if nothing can vanish. */
export function tolerantStart(mounts: readonly string[]): {
  readonly outside: readonly string[];
  readonly inside: readonly string[];
} {
  if (mounts.length === 0) return { outside: [], inside: [] };
  return {
    outside: ["/bin/sh", "-c", outside, `${mounts.length / 3}`, ...mounts],
    inside: ["/bin/sh", "-c", inside, "sh"],
  };
}
