// The questions of logins and recoveries to the person at the client.

import type { ElicitationRequest } from "@parley/acp";
import type { AgentProblem } from "./problem.ts";

/** A form for the user to fill in, or an address to visit. `host` is the host of the address, for display. */
export type ElicitationQuestion =
  | Extract<ElicitationRequest, { mode: "form" }>
  | (Extract<ElicitationRequest, { mode: "url" }> & {
      readonly host: string;
      /** Aborts when the agent reports that the visit is complete, which many never do. */
      readonly completed: AbortSignal;
    });

/** A way to log in to an agent. */
export interface LoginMethod {
  /** The id to answer with. */
  readonly id: string;
  /** The name to show. */
  readonly name: string;
  /** A sentence to show below the name. */
  readonly description?: string;
  /** "agent": the agent does it. "terminal": a command in a terminal. "variables": environment variables. */
  readonly kind: "agent" | "terminal" | "variables";
  /** The variables to ask for; with kind "variables" only. */
  readonly variables?: readonly LoginVariable[];
  /** The command to run; with kind "terminal" only. */
  readonly command?: LoginCommand;
}

/** An environment variable that an agent needs for a login, such as an API key. */
export interface LoginVariable {
  /** The name of the variable, such as `OPENAI_API_KEY`. */
  readonly name: string;
  /** The text to show. Default: the name. */
  readonly label: string;
  /** Whether to hide the input. True unless the agent says otherwise. */
  readonly isSecret: boolean;
  /** Whether the user may leave it empty. */
  readonly isOptional: boolean;
}

/** A command to run in the user's terminal. Exit code 0 means that the user is logged in. */
export interface LoginCommand {
  /** The program. */
  readonly command: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Its working directory. */
  readonly cwd: string;
}

/** Asks the user during logins and recoveries. A missing method answers no. */
export interface Asker {
  /** Asks for a login method. Resolve with its id, or undefined to give up. `why` is what the agent said. */
  chooseLogin?(
    methods: readonly LoginMethod[],
    agent: string,
    context: { readonly why: string },
  ): Promise<string | undefined>;
  /** Asks for the value of a variable. Resolve with undefined to give up. */
  credential?(variable: LoginVariable, agent: string): Promise<string | undefined>;
  /** Runs the command in a terminal. Resolve with its exit code. */
  terminalLogin?(command: LoginCommand, agent: string): Promise<number>;
  /** Whether to send a failed prompt again. The signal aborts when the prompt is cancelled. Default: no. */
  retry?(problem: AgentProblem, context: { readonly signal: AbortSignal }): Promise<boolean>;
  /**
   * Whether to open a new session in place of one that the agent has lost. The signal aborts when the prompt is
   * cancelled. Default: no.
   */
  newSession?(problem: AgentProblem, context: { readonly signal: AbortSignal }): Promise<boolean>;
}
