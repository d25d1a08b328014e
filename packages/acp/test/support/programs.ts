// The programs that process tests start: bundled by `npm run check`, from source when a test file runs alone.

import { basename, join } from "node:path";

const packages = join(import.meta.dirname, "../../..");

/** A folder with the layout of packages/cli whose code is bundled: it starts in half the time of the sources. */
const bundled = process.env.PARLEY_TEST_BUNDLE;

/** The command `parley`. */
export const launcher = join(bundled ?? join(packages, "cli"), "bin/parley");

/** Paths below packages/ of the programs that are bundled together with `parley`. */
export const testPrograms = [
  "acp/test/support/scripted-agent-process.ts",
  "cli/test/support/scripted-agent.ts",
  "client/test/support/scripted-peer.ts",
] as const;

/** The command that starts a test program. */
export function programCommand(path: (typeof testPrograms)[number]): [string, ...string[]] {
  return bundled === undefined
    ? [process.execPath, "--conditions=parley-source", join(packages, path)]
    : [process.execPath, join(bundled, "dist", `${basename(path, ".ts")}.js`)];
}
