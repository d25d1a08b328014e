// The entry point of `parley`.

forgetCompileCache();
const { runCommandLine } = await import("./command-line.ts");
process.exitCode = await runCommandLine(process.argv.slice(2));

/** The launcher sets the cache for this process, not for the programs that it starts. */
function forgetCompileCache(): void {
  if (process.env.PARLEY_CACHE_SET === undefined) return;
  delete process.env.PARLEY_CACHE_SET;
  delete process.env.NODE_COMPILE_CACHE;
}
