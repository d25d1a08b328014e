// What a tool is: what the model is told, what the user sees, what it needs permission for, and what it does.
// Files, terminals and questions are injected, so that a tool neither knows nor cares where it runs.

import type {
  CreateTerminalOptions,
  DisplayTerminal,
  DisplayTerminalOptions,
  Files,
  PlanEntry,
  TerminalHandle,
  ToolCall,
  ToolCallContent,
  ToolCallStart,
} from "@parley/acp";
import type { DirectoryEntry, FileFacts } from "@parley/acp/node";
import type { MediaPart, TextPart, ToolDescription } from "../../model/model.ts";

/** The kinds of the protocol. */
export type ToolKind =
  | "read"
  | "edit"
  | "delete"
  | "move"
  | "search"
  | "execute"
  | "think"
  | "fetch"
  | "switch_mode"
  | "other";

/**
 * What a call is about to do, for whoever decides whether it may. Nothing to decide: `none`. Paths are absolute; one
 * that leads elsewhere through a link is followed by where it leads, so that every name of a file can be judged.
 */
export type Access =
  | { readonly type: "none" }
  | { readonly type: "read"; readonly paths: readonly string[] }
  | {
      readonly type: "write";
      readonly paths: readonly string[];
      /** What takes a file away. Whoever may always change a file may not for that. */
      readonly verb?: "delete" | "move";
      /** A whole folder would be gone: asked about every time, whatever else may be changed unasked. */
      readonly losesFolder?: boolean;
    }
  | { readonly type: "run"; readonly command: string; readonly cwd: string }
  | { readonly type: "host"; readonly host: string; readonly url: string }
  | {
      readonly type: "mcp";
      readonly server: string;
      readonly tool: string;
      /** A hash of what the server says of the tool. */
      readonly definition: string;
    };

/** How a call is shown, before it runs. */
export interface Presentation {
  /** As a user would say it: `Edit src/a.ts`, the raw command. */
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations?: readonly { readonly path: string; readonly line?: number }[];
  /** Shown with the call and in the permission request: the diff of an edit. */
  readonly content?: readonly ToolCallContent[];
}

/** A call that has been understood: arguments are valid, files have been looked at, nothing has been changed. */
export interface PreparedCall {
  readonly presentation: Presentation;
  readonly access: Access;
  /** Throws ToolError for what went wrong in words, anything else for a fault or an abort. */
  run(context: RunContext): Promise<ToolResult>;
}

export interface ToolResult {
  /** For the model. Tools keep to the limits of truncation.ts; `limitedContent` is for what comes from elsewhere. */
  readonly content: readonly (TextPart | MediaPart)[];
  /** For the protocol's rawOutput. */
  readonly rawOutput?: unknown;
  /** Replaces what the call shows. Absent: it shows what it shows, such as the diff or the terminal. */
  readonly shown?: readonly ToolCallContent[];
}

/** What every call of a session may use. `openWorkspace` makes all of it but the signal, `web` and `vetoes`. */
export interface ToolContext {
  /** Absolute. */
  readonly cwd: string;
  /** The working directory and the additional ones: a hard boundary. */
  readonly roots: readonly string[];
  readonly files: AgentFiles;
  readonly terminals: AgentTerminals;
  /** What this session has read: an edit of a file that has changed since is refused. */
  readonly seen: SeenFiles;
  /** For output that is too long to be told. */
  readonly outputs: OutputFolder;
  /** Commands that run beside the conversation. */
  readonly jobs: Jobs;
  /** Default: public addresses only. */
  readonly web?: WebAccess;
  /** Of a client that has rules of its own. */
  readonly vetoes?: Vetoes;
  readonly signal: AbortSignal;
}

/** What the client may forbid of what nobody was asked about. Both reject where the client cannot be asked. */
export interface Vetoes {
  /** Why the client does not want this. Nothing: it may be done. */
  refusalOf(access: Access, signal?: AbortSignal): Promise<string | undefined>;
  /** Of these paths, absolute, those that are not read in passing: forbidden, or for a person to decide about. */
  unreadable(paths: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Files as tools need them. Nothing outside the roots is read or written; only output folders are readable besides. */
export interface AgentFiles extends Files {
  /** The text as it is in the editor or on disk, and a version that changes with it. */
  read(path: string, options?: { readonly signal?: AbortSignal }): Promise<TextWithVersion>;
  /** As it is on disk. */
  readBytes(path: string, options?: { readonly signal?: AbortSignal }): Promise<Uint8Array>;
  /** As it is on disk. */
  stat(path: string): Promise<FileFacts>;
  /** Where a path leads, without links; also where there is nothing yet. */
  locate(path: string): Promise<string>;
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /** Fails where the file is another one than `expected`, a version or "absent", says. */
  write(path: string, content: string, options: AgentWriteOptions): Promise<TextWithVersion>;
  remove(path: string, options?: { readonly recursive?: boolean }): Promise<void>;
  /** Fails where there is something at the new path. */
  move(from: string, to: string): Promise<void>;
  /** Whether a failed read of the path means that there is no such file. */
  isAbsent(path: string, error: unknown): Promise<boolean>;
  /** The editor has a text that is not on disk. False where the client has no files. */
  isUnsaved(path: string, options?: { readonly signal?: AbortSignal }): Promise<boolean>;
}

export interface TextWithVersion {
  /** Without a byte order mark. */
  readonly text: string;
  readonly version: string;
}

export interface AgentWriteOptions {
  readonly expected: string;
  readonly signal?: AbortSignal;
}

/** Commands, in a process group of their own. */
export interface AgentTerminals {
  /** The client runs them and shows their output itself; `onOutput` is never called. */
  readonly isClient: boolean;
  /** `onOutput` sees all output as it comes, in a buffer that is used again. */
  create(options: CreateTerminalOptions, onOutput?: (bytes: Uint8Array) => void): Promise<TerminalHandle>;
}

/** A command that runs beside the conversation, or did. */
export interface Job {
  readonly id: string;
  readonly command: string;
}

export interface Jobs {
  readonly running: readonly Job[];
  /** When it runs. Throws ToolError where it does not. */
  start(context: RunContext, command: JobCommand): Promise<Job>;
  /** Whether it runs, how it ended, and the end of its output. Throws ToolError for an id that nobody has. */
  look(id: string): Promise<ToolResult>;
  /** Ends it, and all that it started. */
  end(id: string): Promise<void>;
}

export interface JobCommand {
  readonly command: string;
  readonly cwd: string;
  /** After which it is ended. Nothing: never. */
  readonly seconds: number | undefined;
}

export interface SeenFiles {
  note(path: string, version: string): void;
  /** The version that was read last; nothing for a file that was not read. */
  versionOf(path: string): string | undefined;
  forget(path: string): void;
}

export interface OutputFolder {
  /** Opens a new file there, and the folder where it is missing. The tools may read it. */
  create(name: string): { readonly path: string; readonly fd: number };
}

export interface WebAccess {
  /** Hosts that may be fetched though their address is private, as a URL has them: `localhost:3000`, or `*` for all. */
  readonly privateHosts: readonly string[];
  /** All addresses of a name. Default: the system's. */
  readonly addressesOf?: (
    name: string,
  ) => Promise<readonly { readonly address: string; readonly family: 4 | 6 }[]>;
}

/** Ask before every change, change without asking, plan only, talk only. */
export type Mode = "ask" | "code" | "architect" | "chat";

export interface RunContext extends ToolContext {
  /** The call as the client sees it: for live output, terminals and questions of its own. */
  readonly call: ToolCall;
  /** The turn's: a terminal that the client only shows. */
  terminal(options?: DisplayTerminalOptions): DisplayTerminal;
  /** The session's: a call that outlives this one, with terminals that do. */
  background(
    start: ToolCallStart,
    run: (call: ToolCall, terminal: RunContext["terminal"]) => Promise<void>,
  ): void;
  /** Shows the whole plan. */
  plan(entries: readonly PlanEntry[]): Promise<void>;
  /** Asks the user; nothing when there is no answer. No options: an answer in the user's own words. */
  ask(question: string, options: readonly string[]): Promise<string | undefined>;
  readonly modes: { readonly current: Mode; switchTo(mode: Mode): Promise<void> };
}

/** `name` is what the model calls it. */
export interface Tool extends ToolDescription {
  /** Calls that only read run at the same time as others of their kind. */
  readonly isReadOnly: boolean;
  /** Throws ToolError for arguments that make no sense, in words that help the model to do better. */
  prepare(input: unknown, context: ToolContext): Promise<PreparedCall>;
}

/** Told to the model as the result of its call, and shown to the user. */
export class ToolError extends Error {
  /** What the model may do then; people are not told. */
  readonly advice: string | undefined;

  constructor(message: string, { advice, ...options }: ErrorOptions & { readonly advice?: string } = {}) {
    super(message, options);
    this.name = "ToolError";
    this.advice = advice;
  }
}
