// The entry point of `parley`. An agent answers the handshake before anything else is loaded.

forgetCompileCache();
const argv = process.argv.slice(2);
// the launcher sets the variable for commands that serve
if (argv[0] === "agent" && process.env.PARLEY_WIRE_FD !== undefined) {
  const { beginGreeting } = await import("./agent/agent-greeting.ts");
  await beginGreeting(argv);
}
const { runCommandLine } = await import("./command-line.ts");
process.exitCode = await runCommandLine(argv);

/** The launcher sets the cache for this process, not for the programs that it starts. */
function forgetCompileCache(): void {
  if (process.env.PARLEY_CACHE_SET === undefined) return;
  delete process.env.PARLEY_CACHE_SET;
  delete process.env.NODE_COMPILE_CACHE;
}
