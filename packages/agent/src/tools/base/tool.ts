// Defines the tool interface and the context that tools run in.

import type { TerminalHandle, ToolCallHandle, ToolCallStart } from "@parley/acp";
import type { CreateTerminalOptions, PlanEntry, ToolCallContent, ToolKind } from "@parley/acp/model";
import type { CommandProfile, MovedFiles } from "@parley/sandbox";
import type { MediaPart, TextPart, ToolDescription } from "../../model/model.ts";
import type { AgentFiles } from "./agent-files.ts";
import type { OutputFolder } from "./output-folder.ts";
import type { SeenFiles } from "./seen-files.ts";

/** The access that a call needs permission for. Paths are absolute; a path through a link is listed with its target too. */
export type Access =
  | { readonly type: "none" }
  | {
      readonly type: "read";
      readonly paths: readonly string[];
      /** Outside the roots: asked about in every mode. A tree is a folder with all that is in it. */
      readonly outside?: "file" | "tree";
    }
  | {
      readonly type: "write";
      readonly paths: readonly string[];
      /** Removes the file: "always allow writing" does not cover it. */
      readonly verb?: "delete" | "move";
      /** The result shows text of files that the model has not read, so reading them must be allowed too. */
      readonly reads?: boolean;
      /** Deletes a folder that is not empty: asked every time. */
      readonly losesFolder?: boolean;
    }
  | {
      readonly type: "run";
      readonly command: string;
      readonly cwd: string;
      /** Outside the sandbox: asked every time. */
      readonly isOutside?: boolean;
    }
  | { readonly type: "host"; readonly host: string; readonly url: string }
  | {
      readonly type: "mcp";
      readonly server: string;
      readonly tool: string;
      /** A hash of the tool's description and schema. */
      readonly definition: string;
    };

/** How a call is shown to the user. */
export interface Presentation {
  /** One line, such as `Edit src/a.ts`, or the command itself. */
  readonly title: string;
  /** The icon to show: "read", "edit", "execute" and so on. */
  readonly kind: ToolKind;
  /** The files that the call is about, so that an editor can follow. */
  readonly locations?: readonly { readonly path: string; readonly line?: number }[];
  /** Shown with the call and in the permission request, such as the diff of an edit. */
  readonly content?: readonly ToolCallContent[];
}

/** A call with valid arguments that has not changed anything yet. */
export interface PreparedCall {
  /** How it is shown to the user. */
  readonly presentation: Presentation;
  /** The access that it needs permission for. */
  readonly access: Access;
  /** The arguments as they were understood, for hooks. Set by `defineTool`. Default: as the model wrote them. */
  readonly input?: unknown;
  /**
   * Runs the call, after permission was given. Throw ToolError for failures to report to the model, anything else for
   * bugs and aborts.
   */
  run(context: RunContext): Promise<ToolResult>;
}

/** The result of a call. */
export interface ToolResult {
  /** The result for the model. */
  readonly content: readonly (TextPart | MediaPart)[];
  /** The `rawOutput` of the tool call, for clients. */
  readonly rawOutput?: unknown;
  /** The new content of the tool call for the user. Default: it stays as it is. */
  readonly shown?: readonly ToolCallContent[];
  /** Whether it ran and failed, such as a command with an exit code: it is shown as failed, and the model reads why. Default false. */
  readonly hasFailed?: boolean;
}

/** Services of the session for every call. */
export interface ToolContext {
  /** The absolute working directory of the session. */
  readonly cwd: string;
  /** The working directory and the additional directories. What is outside of them is read only if the user agrees, and never written. */
  readonly roots: readonly string[];
  /** Files of the session: the editor's unsaved text, else the disk. */
  readonly files: AgentFiles;
  /** Runs commands, in the client if it supports that. */
  readonly terminals: AgentTerminals;
  /** The files that the model has read. Editing a file that has changed since is refused. */
  readonly seen: SeenFiles;
  /** Files for output that is too long for the model. */
  readonly outputs: OutputFolder;
  /** Commands that run in the background. */
  readonly jobs: BackgroundJobs;
  /** The private hosts that may be fetched. Default: none. */
  readonly web?: WebAccess;
  /** Set when the client has rules of its own. */
  readonly vetoes?: Vetoes;
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal;
}

/** Lets the client forbid calls that the mode allows. Both methods reject when the client does not answer. */
export interface Vetoes {
  /** Resolves with the client's reason to refuse, or undefined. `sandbox` is the profile that a command runs in. */
  refusalOf(access: Access, signal?: AbortSignal, sandbox?: string): Promise<string | undefined>;
  /** Resolves with what the client's rules say of a sandbox. */
  sandboxPolicy(signal?: AbortSignal): Promise<SandboxPolicy>;
  /** Resolves with those of the paths that must not be read without asking. */
  unreadable(paths: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Runs commands in the client, or on this machine. */
export interface AgentTerminals {
  /** Whether the client runs the commands and shows their output. `onOutput` is never called then. */
  readonly isClient: boolean;
  /** Resolves with who limits commands. Limited ones need no question. */
  holder(): Promise<CommandHolder>;
  /** Returns new messages for the user about commands that have ended, such as files that were moved aside. */
  takeNotices(): readonly string[];
  /** Returns what commands that have ended had created and was moved aside, to ask the user about. */
  takeMoved(): readonly MovedFiles[];
  /** Starts a command. `onOutput` gets all output as it arrives; copy the bytes to keep them. */
  create(command: AgentCommand, onOutput?: (bytes: Uint8Array) => void): Promise<TerminalHandle>;
}

/**
 * `sandbox`: what a command does is held by a sandbox of this machine. `client`: the client decides about each command.
 * `nobody`: commands run with all rights of the user.
 */
export type CommandHolder =
  | { readonly by: "sandbox"; readonly profile: string }
  | { readonly by: "client" }
  | { readonly by: "nobody"; readonly reason?: string };

/** The profile of the sandbox that commands run in. */
export type CommandSandbox = CommandProfile;

/** The rules of a client for a sandbox. All paths are absolute. */
export interface SandboxPolicy {
  /** Paths outside the roots that commands may write. */
  readonly write: readonly string[];
  /** Paths that they cannot read. */
  readonly hide: readonly string[];
  /** Paths that they cannot write. */
  readonly readOnly: readonly string[];
  /** Whether they have the network of this machine. Otherwise each host is asked about. */
  readonly hasHostNetwork: boolean;
}

/** A command to start. */
export interface AgentCommand extends CreateTerminalOptions {
  /** Runs it outside the sandbox, after a permission. */
  readonly isOutside?: boolean;
  /** The client's rules for the sandbox. */
  readonly policy?: SandboxPolicy | undefined;
  /** Asks whether it may connect to a host, as `name:port`. Without it, it may not. */
  readonly askHost?: ((host: string) => Promise<boolean>) | undefined;
}

/** A command in the background. */
export interface BackgroundJob {
  /** The id to look at it or end it. */
  readonly id: string;
  /** The command line. */
  readonly command: string;
}

/** The background commands of a session. */
export interface BackgroundJobs {
  /** The commands that have not exited yet. */
  readonly running: readonly BackgroundJob[];
  /** Starts a command; resolves when it runs. Throws ToolError when it cannot be started. */
  start(context: RunContext, command: JobCommand): Promise<BackgroundJob>;
  /** Returns the status and the last output of a command. Throws ToolError for an unknown id. */
  look(id: string): Promise<ToolResult>;
  /** Ends a command and all processes that it started. */
  end(id: string): Promise<void>;
}

/** A command to run in the background. */
export interface JobCommand {
  /** The command line, for a shell. */
  readonly command: string;
  /** The absolute working directory. */
  readonly cwd: string;
  /** The timeout in seconds. Undefined: none. */
  readonly seconds: number | undefined;
  /** Runs it outside the sandbox, after a permission. */
  readonly isOutside?: boolean;
}

/** Limits of web requests. */
export interface WebAccess {
  /** Private hosts that may be fetched, written as in a URL: `localhost:3000`, or `*` for all. */
  readonly privateHosts: readonly string[];
  /** Resolves a name to all its addresses. Default: the system's resolver. */
  readonly addressesOf?: (
    name: string,
  ) => Promise<readonly { readonly address: string; readonly family: 4 | 6 }[]>;
  /** The proxy for an address. Default: that of HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
  readonly proxyOf?: (url: URL) => string | undefined;
}

/** "ask" asks before every change, "code" changes without asking, "architect" only plans, "chat" only talks. */
export type Mode = "ask" | "code" | "architect" | "chat";

/** Services for a call that is running. */
export interface RunContext extends ToolContext {
  /** The call as the client sees it, for live output, terminals and questions. */
  readonly call: ToolCallHandle;
  /** Starts a tool call that continues after this one. */
  background(start: ToolCallStart, run: (call: ToolCallHandle) => Promise<void>): void;
  /** Replaces the plan shown to the user. */
  plan(entries: readonly PlanEntry[]): Promise<void>;
  /** Asks the user. Without options the answer is free text. Resolves with undefined without an answer. */
  ask(question: string, options: readonly string[]): Promise<string | undefined>;
  /** The mode of the session. `switchTo` changes it. */
  readonly modes: { readonly current: Mode; switchTo(mode: Mode): Promise<void> };
  /** Whether a command may connect to a host, as `name:port`; asks the user where the mode wants it. */
  readonly connect: (host: string) => Promise<boolean>;
  /** Whether the user accepts hooks and settings that a command has created: one question about all of them. */
  readonly keeps: (paths: readonly string[]) => Promise<boolean>;
  /**
   * Has a subagent work on a task: the same model, with a conversation of its own and tools that only read. Its calls are shown
   * below this one. Resolves with its report. Throws ToolError when it fails.
   */
  readonly delegate: (task: SubagentTask) => Promise<SubagentReport>;
}

/** A task for a subagent. */
export interface SubagentTask {
  /** A few words, which questions to the user name it by. */
  readonly name: string;
  /** All that the subagent is told. */
  readonly prompt: string;
}

/** The findings of a subagent. */
export interface SubagentReport {
  /** Its last message. */
  readonly text: string;
  /** How many requests it made. */
  readonly requests: number;
  /** How many tools it called. */
  readonly calls: number;
}

/** How a call is shown before its arguments are known. */
export interface ToolCallDraft {
  /** A word or two, such as `Edit`; the path follows as soon as the model has written it. */
  readonly title: string;
  /** The icon to show. */
  readonly kind: ToolKind;
}

/** A tool of the coding agent. */
export interface Tool extends ToolDescription {
  /** Whether its calls change nothing. Such calls run in parallel. */
  readonly isReadOnly: boolean;
  /** Other names of its arguments that models know, by ours: understood, and not part of the schema. */
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  /** How a call is shown while the model still writes its arguments. Default: by its name. */
  readonly draft?: ToolCallDraft;
  /** The modes that allow it. Default: "ask" and "code", and "architect" too if it is read-only. */
  readonly modes?: readonly Mode[];
  /**
   * Checks the arguments and describes the call, without changing anything. Throw ToolError for wrong arguments, with a
   * message that helps the model.
   */
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
