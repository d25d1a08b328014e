// Describes how an agent is started or reached.

/** Known deviations of an agent. */
export interface Quirks {
  /** It works better with its own files than with ours, so it is offered none. */
  readonly ownFiles?: boolean;
  /** How long it takes to leave after the end of its input. */
  readonly graceMs?: number;
  /** How long it may go on talking after it has answered a prompt. */
  readonly lateMs?: number;
}

interface EntryFacts {
  /** The name that the user types. */
  readonly name: string;
  /** The name that is shown. Default: the name. */
  readonly title?: string;
  /** Built in, from the config file, or a typed command. */
  readonly origin: "ready" | "config" | "command";
  readonly quirks?: Quirks;
  /** How long it may take to answer `initialize`. */
  readonly handshakeTimeoutMs?: number;
}

/** An agent that is a program on this machine. */
export interface CommandEntry extends EntryFacts {
  readonly transport: "stdio";
  /** A program, never a shell line. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to what it gets of our environment. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * The variables of our environment that it gets beside those that every program needs; `NAME_*` are all that begin so.
   * Absent: all but our own secrets and the marks of other agents.
   */
  readonly passes?: readonly string[];
  /** How to install it. */
  readonly install?: string;
}

/** An agent that runs elsewhere. */
export interface RemoteEntry extends EntryFacts {
  readonly transport: "websocket" | "http";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Allows unencrypted `http:` and `ws:` to other machines. Default false. */
  readonly allowPlainText?: boolean;
}

export type AgentSpec = CommandEntry | RemoteEntry;

/** The argv that a user typed, as an entry. */
export function commandEntry([command, ...args]: readonly string[]): CommandEntry {
  if (command === undefined || command === "") {
    throw new TypeError("commandEntry: expected a program and its arguments, got no program");
  }
  const name = command.split(/[\\/]/).at(-1) || command;
  return { name, origin: "command", transport: "stdio", command, args };
}
