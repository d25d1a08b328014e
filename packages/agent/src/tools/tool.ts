// What a tool is: what the model is told, what the user sees, what it needs permission for, and what it does.
// Files, terminals and questions are injected, so that a tool neither knows nor cares where it runs.

import type { Files, PlanEntry, Terminals, ToolCall, ToolCallContent } from "@parley/acp";
import type { MediaPart, TextPart, ToolDescription } from "../model/model.ts";

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

/** What a call is about to do, for whoever decides whether it may. Nothing to decide: `none`. */
export type Access =
  | { readonly type: "none" }
  | { readonly type: "read"; readonly paths: readonly string[] }
  | { readonly type: "write"; readonly paths: readonly string[] }
  | { readonly type: "run"; readonly command: string; readonly cwd: string }
  | { readonly type: "host"; readonly host: string; readonly url: string }
  | { readonly type: "mcp"; readonly server: string; readonly tool: string };

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
  run(context: RunContext): Promise<ToolResult>;
}

export interface ToolResult {
  /** For the model; the loop truncates what is too long. */
  readonly content: readonly (TextPart | MediaPart)[];
  /** For the protocol's rawOutput. */
  readonly rawOutput?: unknown;
  /** Replaces what the call shows. Default: what it was prepared with. */
  readonly shown?: readonly ToolCallContent[];
}

/** What every call of a session may use. */
export interface ToolContext {
  /** Absolute. */
  readonly cwd: string;
  /** The working directory and the additional ones: a hard boundary. */
  readonly roots: readonly string[];
  readonly files: AgentFiles;
  readonly terminals: Terminals;
  /** What this session has read: an edit of a file that has changed since is refused. */
  readonly seen: SeenFiles;
  readonly signal: AbortSignal;
}

/** Files as tools need them: text with its version, bytes, and what the protocol's `Files` does not have. */
export interface AgentFiles extends Files {
  /** The text as it is in the editor or on disk, and a version that changes with it. */
  read(
    path: string,
    options?: { readonly signal?: AbortSignal },
  ): Promise<{ readonly text: string; readonly version: string }>;
}

export interface SeenFiles {
  note(path: string, version: string): void;
  /** The version that was read last; nothing for a file that was not read. */
  versionOf(path: string): string | undefined;
  forget(path: string): void;
}

export interface RunContext extends ToolContext {
  /** The call as the client sees it: for live output and terminals. */
  readonly call: ToolCall;
  /** Shows the whole plan. */
  plan(entries: readonly PlanEntry[]): Promise<void>;
  /** Asks the user; nothing when there is no answer. */
  ask(question: string, options: readonly string[]): Promise<string | undefined>;
}

/** `name` is what the model calls it. */
export interface Tool extends ToolDescription {
  /** Calls that only read run at the same time as others of their kind. */
  readonly isReadOnly: boolean;
  /** Throws ToolError for arguments that make no sense, in words that help the model to do better. */
  prepare(input: unknown, context: ToolContext): Promise<PreparedCall> | PreparedCall;
}

/** Told to the model as the result of its call, and shown to the user. */
export class ToolError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ToolError";
  }
}
