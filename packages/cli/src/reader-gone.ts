// For commands that print much: `parley trace show x.trace | head`.

/** Whoever reads our output may stop early. The rest is then not wanted: we leave as SIGPIPE would have it, in silence. */
export function leaveWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(128 + 13);
    // a disk that is full, usually
    process.stderr.write(`parley: the output cannot be written: ${error.message}\n`);
    process.exit(1);
  });
}
