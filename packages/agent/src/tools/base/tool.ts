// Defines the tool interface and the context that tools run in.

import type { TerminalHandle, ToolCall, ToolCallStart } from "@parley/acp";
import type { CreateTerminalOptions, PlanEntry, ToolCallContent, ToolKind } from "@parley/acp/model";
import type { MediaPart, TextPart, ToolDescription } from "../../model/model.ts";
import type { AgentFiles } from "./agent-files.ts";
import type { OutputFolder } from "./output-folder.ts";
import type { SeenFiles } from "./seen-files.ts";

/** The access that a call needs permission for. Paths are absolute; a path through a link is listed with its target too. */
export type Access =
  | { readonly type: "none" }
  | { readonly type: "read"; readonly paths: readonly string[] }
  | {
      readonly type: "write";
      readonly paths: readonly string[];
      /** Removes the file: "always allow writing" does not cover it. */
      readonly verb?: "delete" | "move";
      /** Deletes a folder that is not empty: asked every time. */
      readonly losesFolder?: boolean;
    }
  | { readonly type: "run"; readonly command: string; readonly cwd: string }
  | { readonly type: "host"; readonly host: string; readonly url: string }
  | {
      readonly type: "mcp";
      readonly server: string;
      readonly tool: string;
      /** A hash of the tool's description and schema. */
      readonly definition: string;
    };

export interface Presentation {
  /** For example `Edit src/a.ts`, or the command itself. */
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations?: readonly { readonly path: string; readonly line?: number }[];
  /** Shown with the call and in the permission request, such as the diff of an edit. */
  readonly content?: readonly ToolCallContent[];
}

/** A call with valid arguments that has changed nothing yet. */
export interface PreparedCall {
  readonly presentation: Presentation;
  readonly access: Access;
  /** Throws ToolError for failures to report to the model, anything else for faults and aborts. */
  run(context: RunContext): Promise<ToolResult>;
}

export interface ToolResult {
  /** For the model, within the limits of truncation.ts. */
  readonly content: readonly (TextPart | MediaPart)[];
  readonly rawOutput?: unknown;
  /** Replaces the content of the call. Default: it stays, for example a diff or terminal. */
  readonly shown?: readonly ToolCallContent[];
}

/** Services for every call of a session. `openWorkspace` provides all but the signal, `web` and `vetoes`. */
export interface ToolContext {
  /** Absolute. */
  readonly cwd: string;
  /** The working directory and the additional directories: a hard boundary. */
  readonly roots: readonly string[];
  readonly files: AgentFiles;
  readonly terminals: AgentTerminals;
  /** The files read so far: editing a file that changed since is refused. */
  readonly seen: SeenFiles;
  /** Keeps output that is too long for the model. */
  readonly outputs: OutputFolder;
  /** Background commands. */
  readonly jobs: Jobs;
  /** Default: public addresses only. */
  readonly web?: WebAccess;
  /** Set when the client has its own rules. */
  readonly vetoes?: Vetoes;
  readonly signal: AbortSignal;
}

/** Lets the client forbid calls that the mode allows. Both methods reject when the client cannot be asked. */
export interface Vetoes {
  /** The client's reason for a refusal, or undefined. */
  refusalOf(access: Access, signal?: AbortSignal): Promise<string | undefined>;
  /** The paths that must not be read without asking. */
  unreadable(paths: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface AgentTerminals {
  /** The client runs the commands and shows their output; `onOutput` is never called. */
  readonly isClient: boolean;
  /** `onOutput` gets all output as it comes, in a reused buffer. */
  create(options: CreateTerminalOptions, onOutput?: (bytes: Uint8Array) => void): Promise<TerminalHandle>;
}

export interface Job {
  readonly id: string;
  readonly command: string;
}

export interface Jobs {
  readonly running: readonly Job[];
  /** Resolves when the command runs. Throws ToolError when it cannot be started. */
  start(context: RunContext, command: JobCommand): Promise<Job>;
  /** Status and last output. Throws ToolError for an unknown id. */
  look(id: string): Promise<ToolResult>;
  /** Ends it and all processes that it started. */
  end(id: string): Promise<void>;
}

export interface JobCommand {
  readonly command: string;
  readonly cwd: string;
  /** Timeout; undefined for none. */
  readonly seconds: number | undefined;
}

export interface WebAccess {
  /** Private hosts that may be fetched, written as in a URL: `localhost:3000`, or `*` for all. */
  readonly privateHosts: readonly string[];
  /** Resolves a name to all its addresses. Default: the system's resolver. */
  readonly addressesOf?: (
    name: string,
  ) => Promise<readonly { readonly address: string; readonly family: 4 | 6 }[]>;
}

/** Ask before every change, change without asking, only plan, only talk. */
export type Mode = "ask" | "code" | "architect" | "chat";

export interface RunContext extends ToolContext {
  /** The call as the client sees it: for live output, terminals and questions. */
  readonly call: ToolCall;
  /** Starts a call that outlives this one. */
  background(start: ToolCallStart, run: (call: ToolCall) => Promise<void>): void;
  /** Replaces the plan shown to the user. */
  plan(entries: readonly PlanEntry[]): Promise<void>;
  /** Asks the user. Without options the answer is free text; undefined without an answer. */
  ask(question: string, options: readonly string[]): Promise<string | undefined>;
  readonly modes: { readonly current: Mode; switchTo(mode: Mode): Promise<void> };
}

export interface Tool extends ToolDescription {
  /** Read-only calls run in parallel. */
  readonly isReadOnly: boolean;
  /** Throws ToolError for invalid arguments, with a message that helps the model. */
  prepare(input: unknown, context: ToolContext): Promise<PreparedCall>;
}

/** A failure to report to the model and the user. */
export class ToolError extends Error {
  /** A hint for the model only. */
  readonly advice: string | undefined;

  constructor(message: string, { advice, ...options }: ErrorOptions & { readonly advice?: string } = {}) {
    super(message, options);
    this.name = "ToolError";
    this.advice = advice;
  }
}
