// A tool call and a display terminal as an agent's app sees them.

import type { ExitStatus, PermissionOption, ToolCallLocation, ToolKind } from "../../../model/content.ts";
import type { ToolCallContent, ToolCallUpdate } from "../../../model/update.ts";

/**
 * Does the work of one tool call. What it returns is the result of `turn.tool`.
 *
 * @inline
 */
export type RunTool<Result> = (tool: ToolCall) => Promise<Result> | Result;

/** How a permission is asked for. */
export interface PermissionOptions {
  /** The answers to offer. Default: allow once, allow always, reject once. */
  readonly options?: readonly PermissionOption[];
  /** A text below the title. */
  readonly description?: string | undefined;
  /** Called with the option that the user chose, also with one that rejects. Remember "always" and "never" here. */
  onAnswer?(option: PermissionOption): void;
}

/** What is shown of a tool call when it begins. */
export interface ToolCallStart {
  /** Says what the call does, in words of the user: "Read notes.txt". */
  readonly title: string;
  /** The kind of tool, for an icon: "read", "edit", "execute", … Default: not said. */
  readonly kind?: ToolKind;
  /** The name of the tool in the program, such as "read_file". */
  readonly name?: string;
  /** The files that it works on, so that the client can open them. */
  readonly locations?: readonly ToolCallLocation[];
  /** The arguments of the tool, as the model gave them; plain JSON. */
  readonly rawInput?: unknown;
  /** What to show at once. `tool.add` shows more. */
  readonly content?: readonly ToolCallContent[];
  /** The id. Default: a new one. Pass the id of `turn.announce` to run the call that was announced. */
  readonly toolCallId?: string;
  /** Whether the user may cancel this call alone, which aborts its `signal`. Only v2 clients can. Default false. */
  readonly cancellable?: boolean;
  /**
   * Asks the user before the call runs: `true`, or options of your own. After a no the call is shown as cancelled, and
   * `turn.tool` rejects with a RequestError of kind "permission_denied"; a prompt handler that does not catch it ends its turn with
   * "end_turn". Default false: nobody is asked.
   */
  readonly permission?: boolean | PermissionOptions;
}

/** One tool call while it runs: what it shows, and what it asks. `turn.tool` passes it to your function. */
export interface ToolCall {
  /** The id of the call. */
  readonly toolCallId: string;
  /** Aborts when the call is cancelled, with its turn or alone. Pass it to everything that takes one. */
  readonly signal: AbortSignal;
  /**
   * Shows that the work has begun. You rarely need it: it is called when your function starts or, if that asks for
   * permission, after a yes.
   */
  start(): void;
  /**
   * Changes what is shown of the call: title, locations, content, output. Fields that are left out stay.
   *
   * @throws {TypeError} When the patch is not valid.
   */
  update(patch: Omit<ToolCallUpdate, "toolCallId">): Promise<void>;
  /** Shows more: text, a content block, a diff or a terminal. What was shown before stays. */
  add(content: string | ToolCallContent): Promise<void>;
  /** Shows a change of one text file; your code writes the file. Leave `oldText` out for a new file. */
  diff(change: {
    /** The file: an absolute path. */
    readonly path: string;
    /** The text before the change. Absent for a new file. */
    readonly oldText?: string | undefined;
    /** The text after the change. */
    readonly newText: string;
  }): Promise<void>;
  /** Shows a terminal in this call, which ends with it. It runs nothing: you run the process, and write its output. */
  terminal(options?: DisplayTerminalOptions): DisplayTerminal;
  /**
   * Asks the user for permission for this call, with what it shows so far. Gives the option that allows it, or undefined
   * when it is not allowed: the user rejected it, the question was cancelled, or the client gave no valid answer.
   */
  requestPermission(options?: PermissionOptions): Promise<PermissionOption | undefined>;
  /** Ends the call now. You rarely need it: the call ends when your function does. A second end changes nothing. */
  finish(
    status: "completed" | "failed" | "cancelled",
    patch?: Omit<ToolCallUpdate, "toolCallId" | "status">,
  ): Promise<void>;
}

/** What is shown of a terminal when it begins. */
export interface DisplayTerminalOptions {
  /** The command line to show. */
  readonly command?: string;
  /** The directory to show: an absolute path. Default: the session's working directory. */
  readonly cwd?: string;
  /**
   * Called when the user cancels the terminal: end your process, and call `exit` when it has ended. Only v2 clients can.
   * Default: it cannot be cancelled.
   */
  readonly onCancel?: () => void;
}

/** A terminal whose process the agent runs, and which the client only shows. A v1 client shows its text. */
export interface DisplayTerminal {
  /** The id. `tool.add({ type: "terminal", terminalId })` shows it in another tool call. */
  readonly terminalId: string;
  /** Shows more output. Bytes may end inside a character. After `exit` nothing more is shown. */
  write(output: string | Uint8Array): Promise<void>;
  /** Shows that the process has ended. */
  exit(exitStatus: ExitStatus): void;
}
