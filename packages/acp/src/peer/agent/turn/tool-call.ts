// A tool call and a display terminal as an agent's app sees them.

import type { ExitStatus, PermissionOption, ToolCallLocation, ToolKind } from "../../../model/content.ts";
import type { ToolCallContent, ToolCallUpdate } from "../../../model/update.ts";

/** Runs one tool call. Its result is that of `turn.tool`. */
export type RunTool<Result> = (tool: ToolCall) => Promise<Result> | Result;

/** How a permission is asked for. */
export interface PermissionOptions {
  /** Default: allow once, allow always, reject once. */
  readonly options?: readonly PermissionOption[];
  /** Says more than the title does. */
  readonly description?: string | undefined;
  /** Called with the option that the user chose, also with one that rejects: remember "always" and "never" here. */
  onAnswer?(option: PermissionOption): void;
}

export interface ToolCallStart {
  /** As a user would say it. */
  readonly title: string;
  readonly kind?: ToolKind;
  /** The tool's programmatic name. */
  readonly name?: string;
  readonly locations?: readonly ToolCallLocation[];
  readonly rawInput?: unknown;
  readonly content?: readonly ToolCallContent[];
  /** Default: a new one. That of a call which was announced (`turn.announce`) goes on with it. */
  readonly toolCallId?: string;
  /** The user may cancel this call alone (v2): its `signal` aborts. Default false. */
  readonly cancellable?: boolean;
  /**
   * Asks for permission first: the call is pending, and runs only after a yes. Otherwise it ends as cancelled, and the
   * promise rejects with a RequestError of kind `permission_denied`. A prompt handler need not catch that: its turn
   * ends with "end_turn". Default false.
   */
  readonly permission?: boolean | PermissionOptions;
}

/** One tool call that runs. */
export interface ToolCall {
  readonly toolCallId: string;
  /** Aborts when the call is cancelled: with its turn, or by itself. Pass it to everything that takes one. */
  readonly signal: AbortSignal;
  /** Reports that the work has begun. Called for you: when your function runs, or when the permission it asks for is given. */
  start(): void;
  /** Changes any field. */
  update(patch: Omit<ToolCallUpdate, "toolCallId">): Promise<void>;
  /** Adds text, a content block, a diff or a terminal to what is shown. */
  add(content: string | ToolCallContent): Promise<void>;
  /** Shows a change of one text file; your code writes the file. Leave `oldText` out for a new file. */
  diff(change: {
    /** Absolute. */
    readonly path: string;
    readonly oldText?: string | undefined;
    readonly newText: string;
  }): Promise<void>;
  /** Shows a terminal in this call. It ends with the call at the latest. Its process is yours. */
  terminal(options?: DisplayTerminalOptions): DisplayTerminal;
  /**
   * Asks for permission for this call, with what it shows so far. Gives the option that allows it; undefined when it is
   * not allowed: the user rejected it, the question was cancelled, or the client gave no valid answer.
   */
  requestPermission(options?: PermissionOptions): Promise<PermissionOption | undefined>;
  /** Ends the call: the end is stored, then shown. Later calls change nothing. */
  finish(
    status: "completed" | "failed" | "cancelled",
    patch?: Omit<ToolCallUpdate, "toolCallId" | "status">,
  ): Promise<void>;
}

export interface DisplayTerminalOptions {
  readonly command?: string;
  /** Absolute. Default: the session's working directory. */
  readonly cwd?: string;
  /** The user may cancel it (v2): end your process, and call `exit` when it has ended. */
  readonly onCancel?: () => void;
}

/** A terminal that the agent owns and the client only shows. Version 1 shows its text. */
export interface DisplayTerminal {
  readonly terminalId: string;
  /** Shows more output. Bytes may end anywhere, also inside a character. After the exit it shows nothing. */
  write(output: string | Uint8Array): Promise<void>;
  exit(exitStatus: ExitStatus): void;
}
