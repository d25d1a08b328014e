// Checks whether commands can run in a sandbox here.

import { type SandboxStatus, sandboxStatus } from "@parley/sandbox";
import type { Finding } from "./examine.ts";

export async function examineSandbox(): Promise<Finding> {
  return sandboxFinding(await sandboxStatus({ roots: [process.cwd()] }));
}

/** Nothing is broken without a sandbox: commands are asked about then. */
export function sandboxFinding(status: SandboxStatus): Finding {
  const what = "sandbox";
  if (!status.isAvailable) return { what, state: "warning", detail: status.reason, todo: status.fix };
  const detail = `bubblewrap ${status.version}, ${status.program}`;
  const { hostsProblem } = status;
  if (hostsProblem === undefined) return { what, state: "ok", detail };
  return { what, state: "warning", detail: `${detail}; ${hostsProblem.reason}`, todo: hostsProblem.fix };
}
