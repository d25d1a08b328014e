// Ends commands that only print when their output is closed or cannot be written.

/** Exits like a process killed by SIGPIPE when the reader stops early, as in `parley trace show x.trace | head`. */
export function exitOnClosedOutput(): void {
  if (process.stdout.listeners("error").includes(exit)) return;
  process.stdout.on("error", exit);
}

function exit(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(128 + 13);
  // usually a full disk
  process.stderr.write(`parley: cannot write the output: ${error.message}\n`);
  process.exit(1);
}
