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
import type { PromptResult, ToolCallContent, ToolCallUpdate, UpdateOf } from "../model/update.ts";

/** A part of the view that changes by itself. */
export interface Changeable {
  /** Stable and unique within the view: the kind and the id. */
  readonly key: string;
  /** The `seq` of the last entry that changed it. */
  readonly version: number;
}

/** An item of the timeline. Items are in the order of their first entries. Only `ViewOptions.timelineBytes` removes them. */
export interface ViewItem extends Changeable {
  /** The `seq` of its first entry. */
  readonly seq: number;
  /** The time of its first entry, in milliseconds since 1970. */
  readonly time: number;
}

/** A message or thought. Each of the three kinds has its own ids. */
export interface MessageItem extends ViewItem {
  /** The author, and whether it is a thought. */
  readonly kind: "user_message" | "agent_message" | "agent_thought";
  /** Unique among the messages of its kind. */
  readonly messageId: string;
  /** Consecutive chunks of text are one block, unless they are longer than about 256 Ki characters. */
  readonly content: readonly ContentBlock[];
  /** How many characters were dropped from the front; see `ViewOptions.timelineBytes`. Their blocks are empty. */
  readonly dropped: number;
  /** The text of the content, joined each time that it is read. A copy of the item and a snapshot do not have it. */
  readonly text: string;
  /** Whether the content comes from the agent; false while it is the prompt as sent. */
  readonly echoed: boolean;
  /** How the work on this prompt ended. After "refusal", the agent's context ends before this message. */
  readonly result: PromptResult | undefined;
  readonly _meta: Meta | undefined;
}

/** A tool call with everything that the agent has reported about it. */
export interface ToolCallItem extends ViewItem {
  /** Always "tool_call". */
  readonly kind: "tool_call";
  /** The id of the call. */
  readonly toolCallId: string;
  /** The text to show: the title, else the name, else the kind. */
  readonly label: string;
  /** The title from the agent. */
  readonly title: string | undefined;
  /** The name of the tool. */
  readonly name: string | undefined;
  /** The kind of the tool, for icons. "other" until it is reported. */
  readonly toolKind: ToolKind;
  /** The status to show: "cancelled" also for a call that was refused, or open when its turn was cancelled. */
  readonly status: ToolCallStatus;
  /** The status that the agent reported last. */
  readonly reportedStatus: ToolCallStatus;
  /** Whether the status is anything but completed, failed or cancelled. */
  readonly open: boolean;
  /** The output. A diff has the same shape in every edition: its changes and a patch, and the texts where they are known. */
  readonly content: readonly ToolCallContent[];
  /** The files that the call reads or changes, so that an editor can follow. */
  readonly locations: readonly ToolCallLocation[];
  /** The arguments of the call, as the agent reported them. */
  readonly rawInput: unknown;
  /** The result of the call, as the agent reported it. */
  readonly rawOutput: unknown;
  /** The ids of all terminals that its content or `_meta` has named; see `SessionView.terminals`. */
  readonly terminalIds: ReadonlySet<string>;
  /** The requests that the call supports, such as cancelling it. */
  readonly capabilities: ToolCallUpdate["capabilities"] | undefined;
  readonly _meta: Meta | undefined;
  /** When it reached a final status, in milliseconds since 1970. */
  readonly endedAt: number | undefined;
  /**
   * How long it waited for answers of the user, in milliseconds. A call that had not begun before its answer has waited
   * since it was reported. Absent if it was not asked about.
   */
  readonly waitedMs?: number;
  /** Whether the user refused it when it was asked about last. */
  readonly isRefused?: boolean;
}

/** A permission request. */
export interface PermissionItem extends ViewItem {
  /** Always "permission". */
  readonly kind: "permission";
  /** The id of the question. */
  readonly askId: string;
  /** The request of the agent. */
  readonly ask: PermissionRequest;
  /** The answer of the user. Undefined while it is open. */
  readonly answer: PermissionOutcome | undefined;
}

/** A form to fill in or an address to visit. */
export interface ElicitationItem extends ViewItem {
  /** Always "elicitation". */
  readonly kind: "elicitation";
  /** The id of the question. */
  readonly askId: string;
  /** The request of the agent. */
  readonly ask: ElicitationRequest;
  /** The answer of the user. Undefined while it is open. */
  readonly answer: ElicitationResponse | undefined;
}

/** A notice of the agent to the user. */
export interface NoticeItem extends ViewItem {
  /** Always "notice". */
  readonly kind: "notice";
  /** The severity, title and description. */
  readonly notice: UpdateOf<"notice">;
}

/** A compaction of the agent's context. */
export interface CompactionItem extends ViewItem {
  /** Always "compaction". */
  readonly kind: "compaction";
  /** The id of the compaction. */
  readonly compactionId: string;
  /** Whether it is in progress, or how it ended. */
  readonly status: UpdateOf<"compaction_update">["status"];
  /** The summary that replaces the older conversation. */
  readonly summary: readonly ContentBlock[];
  /** The reason of a failure. */
  readonly error: string | undefined;
  readonly _meta: Meta | undefined;
}

/** A message from one session to another. */
export interface SessionMessageItem extends ViewItem {
  /** Always "session_message". */
  readonly kind: "session_message";
  /** The id of the message in this session. */
  readonly messageId: string;
  /** The session that sent it. */
  readonly senderSessionId: string | undefined;
  /** The session that received it. */
  readonly recipientSessionId: string | undefined;
  /** The id of the message in the sending session. */
  readonly senderMessageId: string | undefined;
  /** The id of the message in the receiving session. */
  readonly recipientMessageId: string | undefined;
  /** Its blocks. Consecutive chunks of text are one block. */
  readonly content: readonly ContentBlock[];
  readonly _meta: Meta | undefined;
}

/** A subagent that the agent has started, with a session of its own. */
export interface SubagentItem extends ViewItem {
  /** Always "subagent". */
  readonly kind: "subagent";
  /** The id of the subagent's session. */
  readonly sessionId: string;
  /** Its name for the user. */
  readonly title: string | undefined;
  /** Its task. */
  readonly description: string | undefined;
  /** The last state of its session. */
  readonly state: StateUpdate | undefined;
  /** Its working directory. */
  readonly cwd: string | undefined;
  /** Its further directories. */
  readonly additionalDirectories: readonly string[] | undefined;
  /** The requests that the subagent supports, such as cancelling it. */
  readonly capabilities: UpdateOf<"subagent_update">["capabilities"] | undefined;
  readonly _meta: Meta | undefined;
}

/** An update of a kind that this version does not know. */
export interface UnknownItem extends ViewItem {
  /** Always "unknown". */
  readonly kind: "unknown";
  /** The kind of the update. */
  readonly sessionUpdate: string;
  /** The update as it was received. */
  readonly raw: unknown;
}

/** An item of the timeline. New kinds may be added: a `switch` over `kind` needs a `default:`. */
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
  /** The number of bytes since the last snapshot began, including those that were dropped. */
  readonly received: number;
  /** The number of bytes that were dropped from the front. */
  readonly dropped: number;
  /** The number of line feeds since the last snapshot began, including those that were dropped. */
  readonly lines: number;
  /** The number of snapshots. When it changes, discard what you have read before. */
  readonly generation: number;
  /** The number of chunks that were not base64. */
  readonly undecodable: number;
  /** Copies the bytes from this position on, to feed an emulator. Default 0. */
  bytes(from?: number): Uint8Array<ArrayBuffer>;
  /** The output as text, without incomplete characters at either end. */
  text(): string;
}

/** A terminal of the agent, with its output. */
export interface TerminalItem extends Changeable {
  /** Always "terminal". */
  readonly kind: "terminal";
  /** The id of the terminal. */
  readonly terminalId: string;
  /** The command that runs in it. */
  readonly command: string | undefined;
  /** The working directory of the command. */
  readonly cwd: string | undefined;
  /** The output so far, limited to `terminalBytes`. */
  readonly output: OutputBytes;
  /** The exit code or signal. Undefined while it runs. */
  readonly exitStatus: ExitStatus | undefined;
  /** The number of columns and rows. */
  readonly size: NonNullable<UpdateOf<"terminal_update">["size"]> | undefined;
  /** The requests that the terminal supports, such as cancelling its command. */
  readonly capabilities: UpdateOf<"terminal_update">["capabilities"] | undefined;
  readonly _meta: Meta | undefined;
}

/** A plan of the agent. */
export interface PlanItem extends Changeable {
  /** Always "plan". */
  readonly kind: "plan";
  /** The id of the plan. */
  readonly planId: string;
  /** The plan: a list of entries, Markdown or a file. */
  readonly plan: UpdateOf<"plan_update">["plan"];
}

/** An operation of a tool call on a file. "move" and "copy" belong to the new path; the old path of a move has "delete". */
export type FileOperation = "read" | "add" | "modify" | "delete" | "move" | "copy" | (string & {});

/**
 * A file that tool calls have named as a location or in a diff. The status of the calls says whether they succeeded.
 */
export interface TouchedFile extends Changeable {
  /** Always "file". */
  readonly kind: "file";
  /** Its path, as the agent wrote it. */
  readonly path: string;
  /** The operations of the calls on it. Empty while no call of a known kind has named it. */
  readonly operations: ReadonlySet<FileOperation>;
  /** The ids of the calls that have named it. */
  readonly toolCallIds: ReadonlySet<string>;
}

/** A field or group of fields of the view itself. */
export interface ViewPart extends Changeable {
  /** Always "part". */
  readonly kind: "part";
  /**
   * The group: "info" is the title, time and `_meta`; "state" is the state, `busy`, background work and the last
   * result.
   */
  readonly key: "state" | "info" | "usage" | "commands" | "config_options" | "plans" | "asks";
}

/** A part of a view that has changed. */
export type Changed = TimelineItem | TerminalItem | PlanItem | TouchedFile | ViewPart;

/** The current mode: the value of the first select option of category "mode". */
export interface CurrentMode {
  /** The id of the option that sets the mode. */
  readonly configId: string;
  /** The id of the mode. */
  readonly value: string;
  /** The name of the mode. */
  readonly name: string;
}

/** A session as a user interface shows it. Do not change it. */
export interface SessionView {
  /** The `seq` of the last entry applied. */
  readonly seq: number;
  /** The `seq` of the last entry that changed anything. */
  readonly version: number;
  /** Messages, tool calls, questions and notices, oldest first. */
  readonly timeline: readonly TimelineItem[];
  /** How many items were dropped from the timeline; see `ViewOptions.timelineBytes`. */
  readonly dropped: number;
  /** The tool calls of the timeline, by id. */
  readonly toolCalls: ReadonlyMap<string, ToolCallItem>;
  /** The terminals of the agent, by id. */
  readonly terminals: ReadonlyMap<string, TerminalItem>;
  /** The subagents of the timeline, by session id. */
  readonly subagents: ReadonlyMap<string, SubagentItem>;
  /** The current plans, by id. */
  readonly plans: ReadonlyMap<string, PlanItem>;
  /** The files that tool calls have named, by path, in order of appearance. */
  readonly files: ReadonlyMap<string, TouchedFile>;
  /** Questions without an answer, by id, oldest first. */
  readonly pendingAsks: ReadonlyMap<string, PermissionItem | ElicitationItem>;
  /** The slash commands that the user can type. */
  readonly commands: readonly AvailableCommand[];
  /** The options of the session, in the agent's order, including unknown types. */
  readonly configOptions: readonly SessionConfigOption[];
  /** The current mode, if the agent has modes. */
  readonly mode: CurrentMode | undefined;
  /** The tokens in the context window, and its size. */
  readonly usage: { readonly used: number; readonly size: number } | undefined;
  /** The cost of the session so far. */
  readonly cost: Cost | undefined;
  /** The title of the session. */
  readonly title: string | undefined;
  /** When the session changed last, by the agent's clock, in RFC 3339 form. */
  readonly updatedAt: string | undefined;
  readonly _meta: Meta | undefined;
  /** The state that the agent reported last. Undefined before the first; an unknown one means busy. */
  readonly state: string | undefined;
  /** Whether the agent works on a prompt. */
  readonly busy: boolean;
  /** Work that continues without a prompt. Undefined means that the agent does not report it. */
  readonly background: readonly BackgroundWork[] | undefined;
  /** How often work on a prompt has ended. Repeated idle states do not count. */
  readonly completions: number;
  /** The result of the last prompt. */
  readonly lastResult: PromptResult | undefined;
}
