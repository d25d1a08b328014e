// The interface of the person at the client; each missing method means that the question is refused.

import type { AskContext, ElicitationAnswer, ElicitationAsk } from "@parley/acp";
import type { PermissionAsker } from "../gate/gate-options.ts";
import type { Problem } from "./problem.ts";

/** A form to fill in, or an address to visit, with the host that would be visited. */
export type ElicitationQuestion =
  | Extract<ElicitationAsk, { mode: "form" }>
  | (Extract<ElicitationAsk, { mode: "url" }> & {
      readonly host: string;
      /** Aborts when the agent says that what was to be done there is done, which many never say (C48). */
      readonly completed: AbortSignal;
    });

/** One way to log in. */
export interface LoginMethod {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** The agent does it, a command in a terminal does it, or variables have to be given. */
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

/** To be run with the user's terminal as its own; exit code 0 means that somebody is logged in now. */
export interface LoginCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface RecoveryContext {
  /** Aborts when the prompt is cancelled: nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export interface Asker extends PermissionAsker {
  /** Without it the agent is told that there are no forms and no addresses to visit. */
  elicit?(question: ElicitationQuestion, context: AskContext): Promise<ElicitationAnswer>;
  /** The id of a method, or nothing to give up. */
  chooseLogin?(methods: readonly LoginMethod[], agent: string): Promise<string | undefined>;
  /** A value for a login by variables, or nothing to give up. */
  credential?(variable: LoginVariable, agent: string): Promise<string | undefined>;
  /** The exit code. */
  terminalLogin?(command: LoginCommand, agent: string): Promise<number>;
  /** Whether a prompt that failed is sent once more. Without it: no. */
  retry?(problem: Problem, context: RecoveryContext): Promise<boolean>;
  /** Whether a new session takes the place of one that the agent no longer has. Without it: no. */
  newSession?(problem: Problem, context: RecoveryContext): Promise<boolean>;
}
