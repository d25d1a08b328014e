// For commands that only print: `parley trace show x.trace | head`, `parley --help >/dev/full`.

/** Whoever reads our output may stop early. The rest is then not wanted: we leave as SIGPIPE would have it, in silence. */
export function leaveWithReader(): void {
  if (process.stdout.listeners("error").includes(leave)) return;
  process.stdout.on("error", leave);
}

function leave(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(128 + 13);
  // a disk that is full, usually
  process.stderr.write(`parley: the output cannot be written: ${error.message}\n`);
  process.exit(1);
}
