// How the clients of this folder start an agent: by itself, or with `parley bridge` or a proxy in between.

import { fileURLToPath } from "node:url";

/**
 * PARLEY_BENCH_PROXY=process puts a proxy that does nothing in between, in a process of its own, and PARLEY_BENCH_COMPONENTS=1
 * a conductor with so many of them. PARLEY_BENCH_BRIDGE=v1 puts the bridge in between, which offers that version to the client.
 */
export function agentCommand(program: URL): [command: string, args: string[]] {
  const agent = fileURLToPath(program);
  const direct = [process.execPath, ...process.execArgv, agent];
  const proxy = fileURLToPath(new URL("./idle-proxy.ts", import.meta.url));
  if (process.env.PARLEY_BENCH_PROXY === "process")
    return [process.execPath, [...process.execArgv, proxy, ...direct]];
  const components = process.env.PARLEY_BENCH_COMPONENTS;
  if (components !== undefined) {
    const conductor = fileURLToPath(new URL("./conductor.ts", import.meta.url));
    return [process.execPath, [...process.execArgv, conductor, components, ...direct]];
  }
  const as = process.env.PARLEY_BENCH_BRIDGE;
  if (as === undefined) return [process.execPath, direct.slice(1)];
  const parley = fileURLToPath(new URL("../../packages/cli/bin/parley", import.meta.url));
  return [parley, ["bridge", "--as", as, "--", ...direct]];
}
