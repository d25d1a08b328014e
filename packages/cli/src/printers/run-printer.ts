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
  /** How often policy refused something. */
  readonly refused?: number;
  readonly error: RunFailure | undefined;
  readonly durationMs: number;
}

/** A decision about something that the agent wanted to do. */
export interface RunDecision {
  /** One line. */
  readonly what: string;
  /** `violation`: the agent has done it by itself, without asking, and a rule forbids it. */
  readonly effect: "allow" | "deny" | "cancelled" | "violation";
  readonly by: "rule" | "default" | "boundary" | "user" | "nobody" | "approval" | "agent";
  /** Names the rule where one fired. */
  readonly reason: string;
}

export interface RunPrinter {
  /** Whether anybody sees what is told as progress. */
  readonly showsProgress: boolean;
  /** The agent is being started, is being asked, waits for something: shown while it lasts, where that is possible. */
  progress(text: string): void;
  /** Something else is about to write to the terminal. */
  pause(): void;
  started(start: RunStart): void;
  entry(entry: Entry): void;
  decision(decision: RunDecision): void;
  /** What the user should know and may ignore. */
  notice(text: string): void;
  end(end: RunEnd): void;
}
