// What a user interface shows of a session. Everything here is plain data of the model's vocabulary, read-only
// to everybody but the fold; `undefined` stands for "not reported" or "cleared".

import type { ElicitationAnswer, ElicitationAsk, PermissionAnswer, PermissionAsk } from "../model/ask.ts";
import type {
  AvailableCommand,
  BackgroundWork,
  ContentBlock,
  Cost,
  Meta,
  SessionConfigOption,
  StateUpdate,
  TerminalExitStatus,
  ToolCallLocation,
  ToolCallStatus,
  ToolKind,
} from "../model/content.ts";
import type { Outcome, ToolCallContent, ToolCallUpdate, Update } from "../model/update.ts";

type UpdateOf<Tag extends string> = Extract<Update, { sessionUpdate: Tag }>;

/** Whatever can change by itself. */
export interface Changeable {
  /** Stable and unique within the view: the kind and the id. */
  readonly key: string;
  /** The `seq` of the last entry that changed it. */
  readonly version: number;
}

/** Items stand in the timeline in the order of their first entry, and never leave it. */
interface Item extends Changeable {
  /** The first entry that spoke of it, and when that was. */
  readonly seq: number;
  readonly time: number;
}

/** Each of the three kinds has its own space of ids. */
export interface MessageItem extends Item {
  readonly kind: "user_message" | "agent_message" | "agent_thought";
  readonly messageId: string;
  /** Text that came in consecutive chunks is one block. */
  readonly content: readonly ContentBlock[];
  /** Whether the content is the agent's own account of the message; false while it is the prompt as sent. */
  readonly echoed: boolean;
  /** How the work on this prompt ended. After "refusal", this and what follows has left the agent's context. */
  readonly outcome: Outcome | undefined;
  readonly meta: Meta | undefined;
}

export interface ToolCallItem extends Item {
  readonly kind: "tool_call";
  readonly toolCallId: string;
  /** The title, or the best there is in its place. */
  readonly label: string;
  readonly title: string | undefined;
  readonly name: string | undefined;
  readonly toolKind: ToolKind;
  /** What to show: "cancelled" also for a call that was open when its work was cancelled (C26) or was refused. */
  readonly status: ToolCallStatus;
  /** What the agent said last. */
  readonly reportedStatus: ToolCallStatus;
  /** Still running as far as we know: any status, known or not, but completed, failed and cancelled. */
  readonly open: boolean;
  /** Diffs are in here, of either edition's shape. */
  readonly content: readonly ToolCallContent[];
  readonly locations: readonly ToolCallLocation[];
  readonly rawInput: unknown;
  readonly rawOutput: unknown;
  /** Every terminal that its content or `_meta` ever named. */
  readonly terminalIds: ReadonlySet<string>;
  readonly capabilities: ToolCallUpdate["capabilities"] | undefined;
  readonly meta: Meta | undefined;
  /** When it was first seen in a final status; milliseconds since 1970. */
  readonly endedAt: number | undefined;
}

export interface PermissionItem extends Item {
  readonly kind: "permission";
  readonly askId: string;
  readonly ask: PermissionAsk;
  readonly answer: PermissionAnswer | undefined;
}

export interface ElicitationItem extends Item {
  readonly kind: "elicitation";
  readonly askId: string;
  readonly ask: ElicitationAsk;
  readonly answer: ElicitationAnswer | undefined;
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
  readonly meta: Meta | undefined;
}

/** A message between sessions, as this session sees it. */
export interface SessionMessageItem extends Item {
  readonly kind: "session_message";
  readonly messageId: string;
  readonly senderSessionId: string | undefined;
  readonly recipientSessionId: string | undefined;
  readonly senderMessageId: string | undefined;
  readonly recipientMessageId: string | undefined;
  readonly content: readonly ContentBlock[];
  readonly meta: Meta | undefined;
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
  readonly meta: Meta | undefined;
}

/** An update of a kind nobody here knows, as it came. */
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

/** The bytes of a terminal: raw, with escape sequences. Clean them or give them to an emulator (C52). */
export interface OutputBytes {
  /** Bytes since the last snapshot, its own included, kept or not. */
  readonly received: number;
  /** How many of them, from the front, are no longer kept. */
  readonly dropped: number;
  /** How many snapshots there were: when it changes, what was read before is void (C51). */
  readonly generation: number;
  /** Chunks that were not base64. */
  readonly undecodable: number;
  /** A copy of what is kept from this position on, so that an emulator can be fed what is new. Default 0. */
  bytes(from?: number): Uint8Array<ArrayBuffer>;
  /** What is kept as UTF-8, without the half of a character at either end. */
  text(): string;
}

export interface TerminalItem extends Changeable {
  readonly kind: "terminal";
  readonly terminalId: string;
  readonly command: string | undefined;
  readonly cwd: string | undefined;
  readonly output: OutputBytes;
  /** Present once it has exited. */
  readonly exitStatus: TerminalExitStatus | undefined;
  readonly size: NonNullable<UpdateOf<"terminal_update">["size"]> | undefined;
  readonly capabilities: UpdateOf<"terminal_update">["capabilities"] | undefined;
  readonly meta: Meta | undefined;
}

export interface PlanItem extends Changeable {
  readonly kind: "plan";
  readonly planId: string;
  readonly plan: UpdateOf<"plan_update">["plan"];
}

/** "move" and "copy" are of the new path; the old path of a move has "delete". */
export type FileOperation = "read" | "add" | "modify" | "delete" | "move" | "copy" | (string & {});

/** A file that tool calls named as a location or in a diff. Whether the call went through is the call's status. */
export interface TouchedFile extends Changeable {
  readonly kind: "file";
  readonly path: string;
  /** Empty while only locations of calls of no telling kind were seen. */
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
  /** By path, in order of first sight. */
  readonly files: ReadonlyMap<string, TouchedFile>;
  /** By ask id, oldest first. */
  readonly pendingAsks: ReadonlyMap<string, PermissionItem | ElicitationItem>;
  readonly commands: readonly AvailableCommand[];
  /** In the agent's order, with types that are not known (C36, C38). */
  readonly configOptions: readonly SessionConfigOption[];
  readonly mode: CurrentMode | undefined;
  /** Tokens in the context window, and its size. */
  readonly usage: { readonly used: number; readonly size: number } | undefined;
  readonly cost: Cost | undefined;
  readonly title: string | undefined;
  /** As the agent says: RFC 3339. */
  readonly updatedAt: string | undefined;
  readonly meta: Meta | undefined;
  /** The agent's word, undefined before the first. One that is not known means busy, never idle (C55). */
  readonly state: string | undefined;
  readonly busy: boolean;
  /** Undefined means not reported, which is not the same as none (C57). */
  readonly background: readonly BackgroundWork[] | undefined;
  /** How often foreground work came to an end; repeated snapshots do not count (C56). */
  readonly completions: number;
  readonly lastOutcome: Outcome | undefined;
}
