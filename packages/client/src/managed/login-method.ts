// The ways to log in to an agent: plain data, for front ends too.

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
