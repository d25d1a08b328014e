// The error of a sandbox that cannot start.

import type { SandboxFailure, SandboxProblem } from "./status/explain-failure.ts";

/** No sandbox can start, so nothing was started. */
export class SandboxError extends Error {
  readonly problem: SandboxProblem | "no_hosts";
  /** What to do about it. */
  readonly fix: string;

  constructor({
    problem,
    reason,
    fix,
  }: Omit<SandboxFailure, "problem"> & { readonly problem: SandboxProblem | "no_hosts" }) {
    super(`No sandbox can start: ${reason}. To fix it: ${fix}`);
    this.name = "SandboxError";
    this.problem = problem;
    this.fix = fix;
  }
}
