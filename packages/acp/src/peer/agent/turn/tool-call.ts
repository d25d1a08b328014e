// A tool call and a display terminal as an agent's app sees them.

import type { NoPromise } from "../../../base/no-promise.ts";
import type {
  ExitStatus,
  Meta,
  PermissionOption,
  ToolCallLocation,
  ToolKind,
} from "../../../model/content.ts";
import type { ToolCallContent, ToolCallUpdate } from "../../../model/update.ts";

/**
 * Does the work of one tool call. Its result is the result of `turn.tool`.
 */
export type RunTool<Result> = (tool: ToolCallHandle) => Promise<Result> | Result;

/** Options of a permission request. */
export interface PermissionOptions {
  /** The answers to offer. Default: allow once, allow always, reject once. */
  readonly options?: readonly PermissionOption[] | undefined;
  /** Text below the title. */
  readonly description?: string | undefined;
  /**
   * Called with the option that the user chose, even if it rejects. Remember "always" and "never" here. `answer` has the custom
   * data of the client's answer.
   */
  readonly onAnswer?: ((option: PermissionOption, answer: { readonly _meta?: Meta }) => void) | undefined;
}

/** A tool call, as shown when it begins. */
export interface ToolCallStart {
  /** A title for the user, such as "Read notes.txt". */
  readonly title: string;
  /** The kind of tool, for an icon: "read", "edit", "execute", … Default: none. */
  readonly kind?: ToolKind | undefined;
  /** The name of the tool in the program, such as "read_file". */
  readonly name?: string | undefined;
  /** The files that it works on, so that the client can open them. */
  readonly locations?: readonly ToolCallLocation[] | undefined;
  /** The arguments of the tool, as the model gave them; plain JSON. */
  readonly rawInput?: unknown;
  /** Content to show at the start. `tool.add` adds more. */
  readonly content?: readonly ToolCallContent[] | undefined;
  /** The id of the call. Default: a new id. To run an announced call, pass the id that `turn.announce` returned. */
  readonly toolCallId?: string | undefined;
  /** Whether the user may cancel this call alone, which aborts its `signal`. Only v2 clients can do this. Default false. */
  readonly cancellable?: boolean | undefined;
  /**
   * The running call that this one is part of, such as that of a subagent. Clients can show it below that one (`_meta` has
   * `claudeCode.parentToolUseId`), and it is cancelled with it. Default: none.
   */
  readonly parent?: ToolCallHandle | undefined;
  /**
   * Asks the user before the call runs: `true`, or your own options. If the user does not allow it, the call is shown as
   * cancelled, and `turn.tool` rejects with a RequestError of kind "permission_denied". If the prompt handler does not
   * catch it, the turn ends with "end_turn". Default false: the user is not asked.
   */
  readonly permission?: boolean | PermissionOptions | undefined;
  /** Custom data of the call. Default: none. */
  readonly _meta?: Meta | undefined;
}

/** A running tool call. `turn.tool` passes it to your function. */
export interface ToolCallHandle {
  /** The id of the call. */
  readonly toolCallId: string;
  /** Aborts when the call is cancelled, with its turn or alone. Pass it to every function that takes a signal. */
  readonly signal: AbortSignal;
  /**
   * Shows that the work has begun. You rarely need it: it is called when your function starts or, if the function asks for
   * permission, after the user allows it. A function that begins with a diff or a text is shown as pending until it adds
   * more output or ends, because the user may be asked about it first.
   */
  start(): void;
  /**
   * Changes what is shown of the call: title, locations, content, output. Omitted fields keep their values.
   *
   * @throws {TypeError} When the patch is not valid.
   */
  update(patch: Omit<ToolCallUpdate, "toolCallId">): Promise<void>;
  /** Adds content: text, a content block, a diff or a terminal. */
  add(content: string | ToolCallContent): Promise<void>;
  /** Shows a change of one text file; your code writes the file. Omit `oldText` for a new file. */
  diff(change: {
    /** The file: an absolute path. */
    readonly path: string;
    /** The text before the change. Omit it for a new file. */
    readonly oldText?: string | undefined;
    /** The text after the change. */
    readonly newText: string;
  }): Promise<void>;
  /** Shows a terminal that ends with this call. It runs nothing: your code runs the process and writes its output. */
  terminal(options?: DisplayTerminalOptions): DisplayTerminal;
  /**
   * Asks the user to allow this call, and shows its current content. Resolves with the chosen option if it allows, and with
   * undefined otherwise: the user rejected it, the question was cancelled, or the client gave no valid answer.
   */
  requestPermission(options?: PermissionOptions): Promise<PermissionOption | undefined>;
  /** Ends the call now. You rarely need it: the call ends with your function. Ending it again does nothing. */
  finish(
    status: "completed" | "failed" | "cancelled",
    patch?: Omit<ToolCallUpdate, "toolCallId" | "status">,
  ): Promise<void>;
}

/** A terminal, as shown when it begins. */
export interface DisplayTerminalOptions {
  /** The command line to show. */
  readonly command?: string | undefined;
  /** The directory to show: an absolute path. Default: the session's working directory. */
  readonly cwd?: string | undefined;
  /**
   * Called when the user cancels the terminal. End your process, and call `exit` when it has ended. Nothing awaits it; a
   * rejection is logged. Only v2 clients can do this. Default: it cannot be cancelled.
   */
  readonly onCancel?: (() => Promise<void> | NoPromise) | undefined;
}

/** A terminal that the client only displays; the agent runs the process. A v1 client shows its text. */
export interface DisplayTerminal {
  /** The id of the terminal. `tool.add({ type: "terminal", terminalId })` shows it in another tool call. */
  readonly terminalId: string;
  /** Adds output. Bytes may end inside a character. After `exit`, output is ignored. */
  write(output: string | Uint8Array): Promise<void>;
  /** Shows that the process has ended. */
  exit(exitStatus: ExitStatus): void;
}
