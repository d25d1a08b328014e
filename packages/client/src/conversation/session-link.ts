// The seam between a session host and a conversation: commands go in, and everything that is shown comes out.

import type {
  EditionName,
  ElicitationRequest,
  ElicitationResponse,
  Entry,
  PromptResult,
  SessionConfigOption,
  SessionUpdate,
} from "@parley/acp";
import type { AvailableCommand, JsonValue } from "@parley/acp/model";
import type { Author } from "@parley/acp/store";
import type { PermissionReply, ShownPermission } from "../gate/permission-question.ts";
import type { LoginCommand, LoginMethod, LoginVariable } from "../managed/login-method.ts";
import type { AttachedText, ChatInput } from "../prompt-input/chat-input.ts";

/**
 * A session host as a conversation sees it. The host is the authority: it runs the agent, and has the queue and the
 * questions. In the same process a host is its own link. Elsewhere, a link carries both calls as JSON.
 */
export interface SessionLink {
  /**
   * Sends a command. The same key again, with the same content, is the same command, and returns the same outcome.
   * Rejects with ConnectionError if the link was cut: send it again, with the same key.
   */
  submit<Kind extends CommandKind>(command: CommandOf<Kind>): Promise<Outcomes[Kind]>;
  /**
   * Calls the listener with the entries after the cursor and the state of the session, then with each entry and each change, in order.
   * Without a cursor, it begins with the first entry that the host still has, and these entries are past. The empty cursor is that of a
   * conversation which is as old as the session: past is only what the session brought along.
   */
  tail(cursor: string | undefined, listener: (event: TailEvent) => void): Tail;
}

/** A tail that runs. */
export interface Tail {
  /** Whether the listener is behind: the agent is not read meanwhile. It ends by itself if it is not repeated. */
  hold(isBehind: boolean): void;
  /** The listener is not called any more. */
  stop(): void;
}

/** What a tail reports. New kinds may be added: give a `switch` a `default:`. */
export type TailEvent =
  /**
   * Entries, and the cursor after them. `isPast`: they were there before the first tail began. `status`: what has changed with them, so
   * that who hears of the end of a turn finds it ended.
   */
  | {
      readonly kind: "entries";
      readonly entries: readonly Entry[];
      readonly cursor: string;
      readonly isPast?: true;
      readonly status?: StatusPatch;
    }
  /**
   * The fields of the status that have changed; null: the field has no value any more. The first one of a tail has all of them, and
   * the cursor from which the tail goes on if it is cut before the first entry.
   */
  | { readonly kind: "status"; readonly status: StatusPatch; readonly cursor?: string }
  /** The host does not have what follows the cursor: forget all entries. */
  | { readonly kind: "reset" }
  /** The link was cut. Call `tail` again, with the last cursor. */
  | { readonly kind: "cut" };

/** The changed fields of a status. */
export type StatusPatch = { readonly [Field in keyof SessionStatus]?: SessionStatus[Field] | null };

/** The state of a session that is not in its log: what its host is doing. Plain JSON. */
export interface SessionStatus {
  /** The agent, as far as it is known. */
  readonly agent: AgentFacts;
  /** "starting": prompts wait. "failed": it did not start. "crashed": it ended; `restart` brings it back. */
  readonly phase: "starting" | "ready" | "failed" | "crashed" | "closed";
  /** What it waits for while it starts, or why it is silent. */
  readonly progress?: string | undefined;
  /** Why it failed or crashed. */
  readonly problem?: SessionProblem | undefined;
  /** The folder that the agent works in. */
  readonly cwd: string;
  /** The branch of the repository, if there is one. */
  readonly branch?: string | undefined;
  /** How the agent or its commands are confined. Empty until the agent is known. */
  readonly sandbox: string;
  /** The title, until the log has one. */
  readonly title?: string | undefined;
  /** The id of the session in the history. */
  readonly historyId?: string | undefined;
  /** The agent's id of the session. */
  readonly sessionId?: string | undefined;
  /** The options of the agent. */
  readonly options: readonly SessionConfigOption[];
  /** The commands of the agent. */
  readonly commands: readonly AvailableCommand[];
  /** The turn that runs. */
  readonly turn?: RunningTurn | undefined;
  /** Prompts that wait for the end of the turn, in order. After a cancel they wait for the next prompt, which goes first. */
  readonly queue: readonly QueuedPrompt[];
  /** The prompt that is on its way and is not in the log yet. */
  readonly sending: readonly string[];
  /** Messages for the running turn that the agent has not taken yet. */
  readonly steering: readonly string[];
  /** Everything that the agent does not have yet, by the keys of the commands. */
  readonly unsent: readonly QueuedPrompt[];
  /** Questions without an answer, oldest first. */
  readonly questions: readonly HostQuestion[];
  /** The other branches of the conversation, after a rewind. */
  readonly branches?: RewindBranches | undefined;
}

/** A session, by the ids that it has. */
export interface SessionReference {
  /** The id in the history. Absent if it is not stored. */
  readonly historyId?: string;
  /** The agent's id. */
  readonly sessionId?: string;
}

/** The sessions that a rewind has left or begun. */
export interface RewindBranches {
  /** The session that was left for this one: `undoRewind` goes back to it. */
  readonly from?: SessionReference;
  /** The session that went on in place of this one. */
  readonly to?: SessionReference;
}

/** A prompt to which a session can be rewound. */
export interface PastPrompt {
  /** The id, for `rewind`. */
  readonly messageId: string;
  /** When it was sent, in milliseconds since 1970. */
  readonly time: number;
  /** Its text, or the beginning of a long one. */
  readonly text: string;
  /** What its turn changed, as far as a snapshot knows. */
  readonly changed?: { readonly files: number; readonly added: number; readonly removed: number };
}

/** A turn that runs. */
export interface RunningTurn {
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** Whether it was stopped, and has not ended yet. */
  readonly isCancelling: boolean;
  /** The model cannot answer now, and the agent asks it again. */
  readonly wait?: ModelWait | undefined;
}

/** A pause of an agent whose model cannot answer now. */
export interface ModelWait {
  /** The number of the attempt that follows, from 2. */
  readonly attempt: number;
  /** How many attempts there are at most. */
  readonly of: number;
  /** When it follows, in milliseconds since 1970. */
  readonly until: number;
  /** Why there is a pause, in the words of the agent. */
  readonly reason: string;
}

/** The agent of a session. */
export interface AgentFacts {
  /** As the user names it. */
  readonly name: string;
  /** For questions: as the user names it or, if that is an address, as it names itself. */
  readonly asker: string;
  /** As it names itself, with its version. */
  readonly title: string | undefined;
  /** The edition of the protocol that it speaks. */
  readonly edition: EditionName | undefined;
  /** Whether it takes images, messages during a turn, forks. */
  readonly accepts: { readonly images: boolean; readonly steering: boolean; readonly forks: boolean };
}

/** Why a session failed or crashed. */
export interface SessionProblem {
  /** What happened. */
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
  /** The end of what the agent wrote to stderr. */
  readonly stderr?: string;
  /** What the session is instead of crashed or failed, in a word or two. */
  readonly status?: string;
  /** Somebody else uses the session: a copy of it can be opened. */
  readonly isInUse?: boolean;
  /** The id of that session in the history, if it has one. */
  readonly historyId?: string;
}

/** A prompt that waits. */
export interface QueuedPrompt {
  /** The id, for `unqueue` and `move`: the key of the command that brought it. */
  readonly id: string;
  /** Its text. */
  readonly text: string;
}

/** A sentence of the host for the transcript. */
export interface Notice {
  /** How much it matters. */
  readonly level: "info" | "warning" | "error";
  /** One sentence or several lines. */
  readonly text: string;
}

/** The result and the effects of a turn. */
export interface TurnSummary {
  /** How it ended. */
  readonly result: PromptResult;
  /** Without the time in which the user was asked. */
  readonly durationMs: number;
  /** The files that changed, as far as a snapshot knows. */
  readonly changed?: {
    readonly files: number;
    readonly added: number;
    readonly removed: number;
    /** The turn in the review, to take it back. */
    readonly review?: ReviewedTurn;
  };
}

/** A turn in the review of a session. */
export interface ReviewedTurn {
  /** The name of the review: that of the session. */
  readonly session: string;
  /** The number of the turn there. */
  readonly turn: number;
}

/** The result of a rewind, or of its undo. */
export interface RewindOutcome {
  /** The session that goes on, for the front end to open. */
  readonly session: SessionReference;
  /** The prompt, to be changed and sent again. Absent after an undo. */
  readonly input?: ChatInput;
  /**
   * "kept": the agent continues its own memory up to there. "told": a new session gets the conversation up to there as text,
   * with its first prompt. "new": there was nothing before it. "back": the session that was left goes on.
   */
  readonly memory: "kept" | "told" | "new" | "back";
  /** How many characters of the conversation the new session is not told. */
  readonly leftOut?: number;
  /** What became of the files. */
  readonly files: TakenBack;
}

/** What became of the files that turns have changed. */
export interface TakenBack {
  /** How many files were put back. */
  readonly files: number;
  /** The files with changes that stay, and why. */
  readonly kept: readonly { readonly path: string; readonly reason: string }[];
  /** Sentences for the user, such as effects that cannot be taken back. */
  readonly notes: readonly string[];
}

/** The data of a question that somebody has to answer, with the command `answer`. */
export type HostQuestion = {
  /** The id to answer with. */
  readonly id: string;
  /** The agent's id of the session that asks; that of a subagent has another one. */
  readonly sessionId?: string | undefined;
  /** The tool call that it is about. */
  readonly toolCallId?: string | undefined;
} & (
  | { readonly kind: "permission"; readonly question: ShownPermission }
  | { readonly kind: "elicitation"; readonly question: ShownElicitation }
  | { readonly kind: "login"; readonly methods: readonly LoginMethod[] }
  | { readonly kind: "credential"; readonly variable: LoginVariable }
  /** A command that needs a terminal. Answer with its exit code. */
  | { readonly kind: "terminal"; readonly command: LoginCommand }
  /** Trust in the folder, a prompt to send again, a lost session. */
  | { readonly kind: "confirm"; readonly lines: readonly string[]; readonly ask: string }
);

/** A form for the user to fill in, or an address to visit. `host` is the host of the address, for display. */
export type ShownElicitation =
  | Extract<ElicitationRequest, { mode: "form" }>
  | (Extract<ElicitationRequest, { mode: "url" }> & { readonly host: string });

/** The answers, by the kind of the question. Undefined: nobody decided. */
export interface Answers {
  /** The id of a choice, with words if there are any. */
  readonly permission: PermissionReply;
  /** The form as it was filled in, or whether the address was visited. */
  readonly elicitation: ElicitationResponse;
  /** The id of a method. */
  readonly login: string | undefined;
  /** The value of the variable. */
  readonly credential: string | undefined;
  /** The exit code of the command. */
  readonly terminal: number;
  /** Yes or no. */
  readonly confirm: boolean;
}

/**
 * The content of each command.
 *
 * @inline
 */
interface Commands {
  /** Sends a prompt, or queues it while a turn runs. A crashed or failed agent is started again first. */
  readonly prompt: { readonly input: ChatInput };
  /** Gives it to the running turn. An agent that cannot take it is cancelled and gets it as the next prompt. */
  readonly steer: { readonly input: ChatInput };
  /** Takes a waiting prompt out of the queue. */
  readonly unqueue: { readonly id: string };
  /** Moves a waiting prompt by so many places. */
  readonly move: { readonly id: string; readonly by: number };
  /** Text for the agent beside the next prompt. */
  readonly tell: { readonly told: AttachedText };
  /** Stops the turn; what waits is held. `isForced`: ends the agent if it does not stop. */
  readonly cancel: { readonly isForced?: boolean };
  readonly answer: { readonly questionId: string; readonly answer: Answers[keyof Answers] };
  readonly configure: { readonly configId: string; readonly value: JsonValue };
  readonly rename: { readonly title: string };
  /** Starts a crashed or failed agent again. */
  readonly restart: object;
  /**
   * Goes back to before a prompt: another session goes on from there, with the files as they were. This one stays. Rejects
   * while a turn runs.
   */
  readonly rewind: { readonly messageId: string };
  /** Goes back to the session that was left by a rewind, with its files. */
  readonly undoRewind: object;
  /** Appends what the front end did itself, such as a command of the user. */
  readonly show: { readonly update: SessionUpdate };
  readonly close: object;
}

/**
 * The outcome of each command.
 *
 * @inline
 */
interface Outcomes extends Record<Exclude<keyof Commands, "steer" | "unqueue" | Rewinds>, object> {
  readonly steer: { readonly how: "steered" | "resent" | "sent" };
  /** Empty if it does not wait any more. */
  readonly unqueue: { readonly input?: ChatInput };
  readonly rewind: RewindOutcome;
  readonly undoRewind: RewindOutcome;
}

type Rewinds = "rewind" | "undoRewind";

/** The kinds of commands. */
export type CommandKind = keyof Commands;

/** What every command has: a key, which its sender chooses, and who sends it. */
export interface CommandBase {
  /** A command that is sent again with the same key is the same command. */
  readonly key: string;
  /** Absent: the one local user. */
  readonly author?: Author;
}

/** A command of one kind. */
export type CommandOf<Kind extends CommandKind> = {
  readonly [Each in Kind]: CommandBase & { readonly kind: Each } & Commands[Each];
}[Kind];

/** What a command of one kind says. */
export type CommandContent<Kind extends CommandKind> = Commands[Kind];

/** A command for a host. */
export type SessionCommand = CommandOf<CommandKind>;

/** The outcome of a command of this kind. */
export type OutcomeOf<Kind extends CommandKind> = Outcomes[Kind];
