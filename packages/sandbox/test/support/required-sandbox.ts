// Says whether tests can start a sandbox. PARLEY_REQUIRE_SANDBOX=1 makes it a failure that they cannot.

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { sandboxStatus } from "@parley/sandbox";

const repository = dirname(fileURLToPath(new URL("../../../../package.json", import.meta.url)));

/** A sandbox has a /tmp of its own. */
export const isBelowTmp = /^\/(?:var\/)?tmp\//.test(repository);

// the programs of tests are in the repository; what belongs to an entry of PATH is shown wherever it is
if (isBelowTmp) process.env["PATH"] = `${repository}/bin:${process.env["PATH"]}`;

const status = await sandboxStatus();
const reason = status.isAvailable ? undefined : `${status.reason}; to fix it: ${status.fix}`;
const isRequired = process.env["PARLEY_REQUIRE_SANDBOX"] === "1";
if (reason !== undefined && isRequired) throw new Error(`PARLEY_REQUIRE_SANDBOX is set, but ${reason}`);

/** Options of a test that starts sandboxes. */
export const inSandbox = { skip: reason ?? false, timeout: 60_000 } as const;

const hosts = status.isAvailable ? status.hostsProblem : undefined;
if (hosts !== undefined && isRequired) throw new Error(`PARLEY_REQUIRE_SANDBOX is set, but ${hosts.reason}`);

/** Options of a test that allows hosts by name. */
export const withHosts = { ...inSandbox, skip: reason ?? hosts?.reason ?? false } as const;
