// The interface of the printers of `parley run`.

import type { Entry, Outcome } from "@parley/acp";

export interface RunStart {
  readonly agent: { readonly name: string; readonly version?: string };
  /** The version of the protocol. */
  readonly protocol: number;
  /** The agent's id of the session. */
  readonly sessionId: string;
  /** The id in the history, if the session is stored. */
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
  /** The number of refusals by policy. */
  readonly refused?: number;
  readonly error: RunFailure | undefined;
  readonly durationMs: number;
}

/** A decision about something that the agent wanted to do. */
export interface RunDecision {
  /** One line. */
  readonly what: string;
  /** `violation`: the agent did it without asking, although a rule forbids it. */
  readonly effect: "allow" | "deny" | "cancelled" | "violation";
  readonly by: "rule" | "default" | "boundary" | "user" | "nobody" | "approval" | "agent";
  /** Names the rule, if one matched. */
  readonly reason: string;
}

export interface RunPrinter {
  /** Whether progress is visible. */
  readonly showsProgress: boolean;
  /** Shows what is happening, if the output is a terminal. */
  progress(text: string): void;
  /** Called before something else writes to the terminal. */
  pause(): void;
  started(start: RunStart): void;
  entry(entry: Entry): void;
  decision(decision: RunDecision): void;
  /** Prints a message that is not an error. */
  notice(text: string): void;
  end(end: RunEnd): void;
}
