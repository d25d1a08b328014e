// Commands of the programs that process tests start: bundled in `npm run check`, from source when a test file runs alone.

import { join } from "node:path";

const packages = join(import.meta.dirname, "../../..");

/** A folder with the layout of packages/cli and bundled code. Not PARLEY_…: tests look at all variables of that name. */
const bundled = process.env.BUNDLED_PARLEY;

/** The command `parley` from source, for tests of the launcher and of what is loaded. */
export const sourceLauncher = join(packages, "cli/bin/parley");

/** The command `parley`. */
export const launcher = bundled === undefined ? sourceLauncher : join(bundled, "bin/parley");

/** The module with `runCommandLine`, for tests that need no process of `parley`. */
export const commandLineModule =
  bundled === undefined
    ? join(packages, "cli/src/command-line.ts")
    : join(bundled, "dist", "command-line.js");

/** Paths below packages/ of the programs that are bundled together with `parley`. */
export const testPrograms = [
  "conformance/test/support/scripted-agent-process.ts",
  "client/test/support/scripted-peer.ts",
  "client/test/support/killed-host.ts",
  "cli/test/support/tools-agent.ts",
  "cli/test/support/bridge-mcp-probe.ts",
  "client/test/security/hostile-agent.ts",
  "mcp/test/support/sdk-agent.ts",
  "acp/test/bad-input/hostile-agent.ts",
  "acp/test/bad-input/subject-agent.ts",
  "acp/test/interop/app-agent.ts",
  "acp/test/interop/app-sdk-agent.ts",
  "acp/test/interop/app-sdk-server.ts",
  "acp/test/interop/lifecycle-agent.ts",
  "acp/test/interop/one-write-agent.ts",
  "acp/test/interop/parley-agent.ts",
  "acp/test/interop/sdk-agent.ts",
  "acp/test/interop/sdk-terminal-agent.ts",
  "client/test/interop/terminal-login-client.ts",
] as const;

export type TestProgram = (typeof testPrograms)[number];

/** The name of its bundle, without an ending. */
export const bundleName = (path: TestProgram): string => path.slice(0, -".ts".length).replaceAll("/", "-");

/** The file of a test program. */
export function programFile(path: TestProgram): string {
  return bundled === undefined ? join(packages, path) : join(bundled, "dist", `${bundleName(path)}.js`);
}

/** The command that starts a test program. */
export function programCommand(path: TestProgram): [string, ...string[]] {
  return [process.execPath, "--conditions=parley-source", programFile(path)];
}
