// The types of a session view: plain data for a user interface, where `undefined` means "not reported" or "cleared".

import type {
  ElicitationRequest,
  ElicitationResponse,
  PermissionOutcome,
  PermissionRequest,
} from "../model/ask.ts";
import type {
  AvailableCommand,
  BackgroundWork,
  ContentBlock,
  Cost,
  ExitStatus,
  Meta,
  SessionConfigOption,
  StateUpdate,
  ToolCallLocation,
  ToolCallStatus,
  ToolKind,
} from "../model/content.ts";
import type { PromptResult, ToolCallContent, ToolCallUpdate } from "../model/update.ts";
import type { UpdateOf } from "./view-state.ts";

/** A part of the view that changes by itself. */
interface Changeable {
  /** Stable and unique within the view: the kind and the id. */
  readonly key: string;
  /** The `seq` of the last entry that changed it. */
  readonly version: number;
}

/** An item of the timeline, in the order of first entries; items are never removed. */
interface Item extends Changeable {
  /** The `seq` and time of its first entry. */
  readonly seq: number;
  readonly time: number;
}

/** A message or thought. Each of the three kinds has its own ids. */
export interface MessageItem extends Item {
  readonly kind: "user_message" | "agent_message" | "agent_thought";
  readonly messageId: string;
  /** Consecutive chunks of text are one block. */
  readonly content: readonly ContentBlock[];
  /** The text of the content, joined each time that it is read. A copy of the item and a snapshot do not have it. */
  readonly text: string;
  /** Whether the content comes from the agent; false while it is the prompt as sent. */
  readonly echoed: boolean;
  /** How the work on this prompt ended. After "refusal", the agent's context ends before this message. */
  readonly result: PromptResult | undefined;
  readonly _meta: Meta | undefined;
}

export interface ToolCallItem extends Item {
  readonly kind: "tool_call";
  readonly toolCallId: string;
  /** The title, else the name, else the kind. */
  readonly label: string;
  readonly title: string | undefined;
  readonly name: string | undefined;
  readonly toolKind: ToolKind;
  /** The status to show: "cancelled" also for a call that was refused, or open when its turn was cancelled. */
  readonly status: ToolCallStatus;
  /** The status that the agent reported last. */
  readonly reportedStatus: ToolCallStatus;
  /** Whether the status is anything but completed, failed or cancelled. */
  readonly open: boolean;
  /** Includes diffs, in the form of either version. */
  readonly content: readonly ToolCallContent[];
  readonly locations: readonly ToolCallLocation[];
  readonly rawInput: unknown;
  readonly rawOutput: unknown;
  /** All terminals that its content or `_meta` has named. */
  readonly terminalIds: ReadonlySet<string>;
  readonly capabilities: ToolCallUpdate["capabilities"] | undefined;
  readonly _meta: Meta | undefined;
  /** When it reached a final status, in milliseconds since 1970. */
  readonly endedAt: number | undefined;
}

export interface PermissionItem extends Item {
  readonly kind: "permission";
  readonly askId: string;
  readonly ask: PermissionRequest;
  readonly answer: PermissionOutcome | undefined;
}

export interface ElicitationItem extends Item {
  readonly kind: "elicitation";
  readonly askId: string;
  readonly ask: ElicitationRequest;
  readonly answer: ElicitationResponse | undefined;
}

export interface NoticeItem extends Item {
  readonly kind: "notice";
  readonly notice: UpdateOf<"notice">;
}

export interface CompactionItem extends Item {
  readonly kind: "compaction";
  readonly compactionId: string;
  readonly status: UpdateOf<"compaction_update">["status"];
  readonly summary: readonly ContentBlock[];
  readonly error: string | undefined;
  readonly _meta: Meta | undefined;
}

/** A message between sessions. */
export interface SessionMessageItem extends Item {
  readonly kind: "session_message";
  readonly messageId: string;
  readonly senderSessionId: string | undefined;
  readonly recipientSessionId: string | undefined;
  readonly senderMessageId: string | undefined;
  readonly recipientMessageId: string | undefined;
  readonly content: readonly ContentBlock[];
  readonly _meta: Meta | undefined;
}

export interface SubagentItem extends Item {
  readonly kind: "subagent";
  readonly sessionId: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly state: StateUpdate | undefined;
  readonly cwd: string | undefined;
  readonly additionalDirectories: readonly string[] | undefined;
  readonly capabilities: UpdateOf<"subagent_update">["capabilities"] | undefined;
  readonly _meta: Meta | undefined;
}

/** An update of an unknown kind. */
export interface UnknownItem extends Item {
  readonly kind: "unknown";
  readonly sessionUpdate: string;
  readonly raw: unknown;
}

export type TimelineItem =
  | MessageItem
  | ToolCallItem
  | PermissionItem
  | ElicitationItem
  | NoticeItem
  | CompactionItem
  | SessionMessageItem
  | SubagentItem
  | UnknownItem;

/** The raw output of a terminal, with escape sequences: sanitise it or pass it to an emulator. */
export interface OutputBytes {
  /** Bytes since the start of the last snapshot, dropped ones included. */
  readonly received: number;
  /** How many of them were dropped from the front. */
  readonly dropped: number;
  /** The number of snapshots: when it changes, discard what you have read before. */
  readonly generation: number;
  /** Chunks that were not base64. */
  readonly undecodable: number;
  /** Copies the bytes from this position on, to feed an emulator. Default 0. */
  bytes(from?: number): Uint8Array<ArrayBuffer>;
  /** The output as text, without incomplete characters at either end. */
  text(): string;
}

export interface TerminalItem extends Changeable {
  readonly kind: "terminal";
  readonly terminalId: string;
  readonly command: string | undefined;
  readonly cwd: string | undefined;
  readonly output: OutputBytes;
  /** Present once it has exited. */
  readonly exitStatus: ExitStatus | undefined;
  readonly size: NonNullable<UpdateOf<"terminal_update">["size"]> | undefined;
  readonly capabilities: UpdateOf<"terminal_update">["capabilities"] | undefined;
  readonly _meta: Meta | undefined;
}

export interface PlanItem extends Changeable {
  readonly kind: "plan";
  readonly planId: string;
  readonly plan: UpdateOf<"plan_update">["plan"];
}

/** "move" and "copy" belong to the new path; the old path of a move has "delete". */
export type FileOperation = "read" | "add" | "modify" | "delete" | "move" | "copy" | (string & {});

/** A file that tool calls named as a location or in a diff. See the calls' status for whether they succeeded. */
export interface TouchedFile extends Changeable {
  readonly kind: "file";
  readonly path: string;
  /** Empty while no call of a known kind has named it. */
  readonly operations: ReadonlySet<FileOperation>;
  readonly toolCallIds: ReadonlySet<string>;
}

/** A field or group of fields of the view itself. */
export interface ViewPart extends Changeable {
  readonly kind: "part";
  readonly key: "state" | "info" | "usage" | "commands" | "config_options" | "plans" | "asks";
}

export type Changed = TimelineItem | TerminalItem | PlanItem | TouchedFile | ViewPart;

/** The current mode: the value of the first select option of category "mode". */
export interface CurrentMode {
  readonly configId: string;
  readonly value: string;
  readonly name: string;
}

export interface SessionView {
  /** The `seq` of the last entry applied. */
  readonly seq: number;
  /** The `seq` of the last entry that changed anything. */
  readonly version: number;
  readonly timeline: readonly TimelineItem[];
  readonly toolCalls: ReadonlyMap<string, ToolCallItem>;
  readonly terminals: ReadonlyMap<string, TerminalItem>;
  readonly subagents: ReadonlyMap<string, SubagentItem>;
  readonly plans: ReadonlyMap<string, PlanItem>;
  /** By path, in order of appearance. */
  readonly files: ReadonlyMap<string, TouchedFile>;
  /** By ask id, oldest first. */
  readonly pendingAsks: ReadonlyMap<string, PermissionItem | ElicitationItem>;
  readonly commands: readonly AvailableCommand[];
  /** In the agent's order, including unknown types. */
  readonly configOptions: readonly SessionConfigOption[];
  readonly mode: CurrentMode | undefined;
  /** Tokens in the context window, and its size. */
  readonly usage: { readonly used: number; readonly size: number } | undefined;
  readonly cost: Cost | undefined;
  readonly title: string | undefined;
  /** The agent's time, in RFC 3339 form. */
  readonly updatedAt: string | undefined;
  readonly _meta: Meta | undefined;
  /** The state as reported, undefined before the first. An unknown one means busy. */
  readonly state: string | undefined;
  readonly busy: boolean;
  /** Undefined means not reported, which is not the same as none. */
  readonly background: readonly BackgroundWork[] | undefined;
  /** How often foreground work has ended; repeated idle states do not count. */
  readonly completions: number;
  readonly lastResult: PromptResult | undefined;
}
