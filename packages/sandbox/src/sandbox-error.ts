// The error of a sandbox that cannot start.

import type { SandboxFailure, SandboxProblem } from "./status/explain-failure.ts";

/** No sandbox can start, so nothing was started. */
export class SandboxError extends Error {
  /** The kind of problem. */
  readonly problem: SandboxProblem;
  /** The problem in words. */
  readonly reason: string;
  /** What to do about it. */
  readonly fix: string;

  constructor({ problem, reason, fix }: SandboxFailure) {
    super(`No sandbox can start: ${reason}. To fix it: ${fix}`);
    this.name = "SandboxError";
    this.problem = problem;
    this.reason = reason;
    this.fix = fix;
  }
}
