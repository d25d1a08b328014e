// The questions of logins and recoveries to the person at the client.

import type { ElicitationRequest } from "@parley/acp";
import type { LoginCommand, LoginMethod, LoginVariable } from "./login-method.ts";
import type { AgentProblem } from "./problem.ts";

/** A form for the user to fill in, or an address to visit. `host` is the host of the address, for display. */
export type ElicitationQuestion =
  | Extract<ElicitationRequest, { mode: "form" }>
  | (Extract<ElicitationRequest, { mode: "url" }> & {
      readonly host: string;
      /** Aborts when the agent reports that the visit is complete, which many never do. */
      readonly completed: AbortSignal;
    });

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
