// The questions of logins and recoveries to the person at the client.

import type { ElicitationRequest } from "@parley/acp";
import type { Problem } from "./problem.ts";

/** A form to fill in, or an address to visit with its host. */
export type ElicitationQuestion =
  | Extract<ElicitationRequest, { mode: "form" }>
  | (Extract<ElicitationRequest, { mode: "url" }> & {
      readonly host: string;
      /** Aborts when the agent reports that the visit is complete, which many never do. */
      readonly completed: AbortSignal;
    });

/** One login method. */
export interface LoginMethod {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** Performed by the agent, by a command in a terminal, or by environment variables. */
  readonly kind: "agent" | "terminal" | "variables";
  readonly variables?: readonly LoginVariable[];
  readonly command?: LoginCommand;
}

export interface LoginVariable {
  readonly name: string;
  readonly label: string;
  readonly isSecret: boolean;
  readonly isOptional: boolean;
}

/** Run it in the user's terminal; exit code 0 means logged in. */
export interface LoginCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** Answers for the user. A missing method answers no. A signal aborts when the prompt is cancelled. */
export interface Asker {
  /** The id of a method, or undefined to give up. */
  chooseLogin?(methods: readonly LoginMethod[], agent: string): Promise<string | undefined>;
  /** The value of a variable, or undefined to give up. */
  credential?(variable: LoginVariable, agent: string): Promise<string | undefined>;
  /** Runs the command and resolves with its exit code. */
  terminalLogin?(command: LoginCommand, agent: string): Promise<number>;
  /** Whether to send a failed prompt again. Default: no. */
  retry?(problem: Problem, context: { readonly signal: AbortSignal }): Promise<boolean>;
  /** Whether to open a new session in place of one that the agent has lost. Default: no. */
  newSession?(problem: Problem, context: { readonly signal: AbortSignal }): Promise<boolean>;
}
