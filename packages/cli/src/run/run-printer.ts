// What a printer of `parley run` is told, whatever the format.

import type { Entry, Outcome } from "@parley/acp";

export interface RunStart {
  readonly agent: { readonly name: string; readonly version?: string };
  /** The version of the protocol. */
  readonly protocol: number;
  /** The agent's id of the session. */
  readonly sessionId: string;
  /** The id in the history; absent where nothing is kept. */
  readonly session: string | undefined;
  readonly name: string | undefined;
  readonly resumed: boolean;
  readonly cwd: string;
}

export interface RunFailure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

export interface RunEnd {
  readonly exitCode: number;
  /** Absent when no prompt was answered. */
  readonly outcome: Outcome | undefined;
  readonly error: RunFailure | undefined;
  readonly durationMs: number;
}

/** A decision about a permission, by a rule or by a person. */
export interface RunDecision {
  readonly what: string;
  readonly allowed: boolean;
  /** The rule, or who decided. */
  readonly why: string;
}

export interface RunPrinter {
  /** The agent is being started, is being asked, waits for something: shown while it lasts, where that is possible. */
  progress(text: string): void;
  started(start: RunStart): void;
  entry(entry: Entry): void;
  decision(decision: RunDecision): void;
  /** What the user should know and may ignore. */
  notice(text: string): void;
  end(end: RunEnd): void;
}
