// The interface between a conversation and the face that shows it: state to read, events, and methods to call.

import type { EditionName, ElicitationResponse, Entry, PromptResult, SessionConfigOption } from "@parley/acp";
import type { AvailableCommand, JsonValue } from "@parley/acp/model";
import type { SessionView } from "@parley/acp/view";
import type {
  AttachedText,
  ElicitationQuestion,
  LoginCommand,
  LoginMethod,
  LoginVariable,
} from "@parley/client";
import type { PermissionQuestion, PermissionReply } from "@parley/client/policy";
import type { ModelWait } from "../../printers/model-wait.ts";

/** Everything that the user does with agents in one process. */
export interface Conversation {
  /** The session that is shown. */
  readonly current: ConversationSession;
  /** The sessions that are open here, oldest first. */
  readonly sessions: readonly ConversationSession[];
  /** The agents that can be started, those that are installed first. */
  agents(): Promise<readonly AgentChoice[]>;
  /** The sessions of the history and of agents that have listed theirs, newest first. */
  find(query: string, signal: AbortSignal): Promise<readonly FoundSession[]>;
  /**
   * Starts the installed agents that do not run, asks each for its sessions and ends it: `find` knows them from then on.
   * Returns why agents have none, one sentence each.
   */
  askOthers(): Promise<readonly string[]>;
  /**
   * Opens a session and shows it. It can be written to at once; its agent starts meanwhile. One that cannot be opened is
   * closed: the session before is shown again, with the reason and with what was written.
   */
  open(target: SessionTarget): ConversationSession;
  show(session: ConversationSession): void;
  /** The transcript of a session as Markdown, HTML or JSON, without opening it. */
  exported(target: SessionTarget, format: ExportFormat): Promise<string>;
  /** Files and folders (`src/`) of the workspace that match what was typed after `@`, best first. */
  findFiles(query: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Prompts that were sent from this folder, newest first; `query` selects those that contain it. */
  prompts(query?: string): Promise<readonly string[]>;
  onEvent(listener: (event: ConversationEvent) => void): () => void;
  /** Ends all agents. What was written and not sent is kept for the next start. */
  close(): Promise<void>;
}

export type ExportFormat = "markdown" | "html" | "json";

/** An event. State is read from the session; an event only says that it changed. */
export type ConversationEvent =
  /** The view has new entries. */
  | { readonly kind: "entries"; readonly session: ConversationSession }
  /** The phase, the turn, the queue, the options or the facts of a session. */
  | { readonly kind: "state"; readonly session: ConversationSession }
  /** A question was asked, answered or withdrawn. */
  | { readonly kind: "questions"; readonly session: ConversationSession }
  /** A sentence of ours for the transcript. */
  | { readonly kind: "notice"; readonly session: ConversationSession; readonly notice: Notice }
  /** A turn has ended. */
  | { readonly kind: "turn"; readonly session: ConversationSession; readonly summary: TurnSummary }
  /** Another session is shown. */
  | { readonly kind: "shown"; readonly session: ConversationSession };

export interface Notice {
  readonly level: "info" | "warning" | "error";
  /** One sentence or several lines; safe to show. */
  readonly text: string;
}

/** An agent to choose. */
export interface AgentChoice {
  readonly name: string;
  readonly description: string;
  readonly isInstalled: boolean;
  readonly isDefault: boolean;
}

/** A session to open again. */
export interface FoundSession {
  readonly agent: string;
  readonly title: string;
  readonly cwd: string;
  /** In milliseconds since 1970. */
  readonly updatedAt: number | undefined;
  readonly state: "open" | "working" | "needs you" | "failed" | "kept";
  /** The line that contains what was searched for. */
  readonly excerpt?: string;
  readonly target: SessionTarget;
}

/** Which session to open. */
export type SessionTarget =
  | { readonly kind: "new"; readonly agent?: string; readonly cwd?: string }
  /** One of the history, by its id or name. */
  | { readonly kind: "kept"; readonly id: string }
  /** One that the agent lists. */
  | { readonly kind: "listed"; readonly agent: string; readonly sessionId: string; readonly cwd: string }
  | { readonly kind: "fork"; readonly of: ConversationSession }
  /** A copy of one of the history that somebody else uses. */
  | { readonly kind: "copy"; readonly id: string }
  /** One that is open here. */
  | { readonly kind: "live"; readonly session: ConversationSession };

/** The input of the user. */
export interface ChatInput {
  /** The text, with `@FILE` mentions. */
  readonly text: string;
  /** Images that were pasted, in the order of their marks `[image N]` in the text. */
  readonly images?: readonly PastedImage[];
}

export interface PastedImage {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

/** A session with an agent that runs here. */
export interface ConversationSession {
  /** Unique in this process. */
  readonly key: string;
  readonly agent: AgentFacts;
  /** "starting": prompts wait. "failed": it did not start. "crashed": it ended; `restart` brings it back. */
  readonly phase: "starting" | "ready" | "failed" | "crashed" | "closed";
  /** What it waits for while it starts, or why it is silent. One line, safe to show. */
  readonly progress: string | undefined;
  /** Why it failed or crashed. */
  readonly problem: SessionProblem | undefined;
  readonly cwd: string;
  /** The branch of the repository, if there is one. */
  readonly branch: string | undefined;
  /** How the agent or its commands are confined, for the status line. Empty until its agent is known. */
  readonly sandbox: string;
  readonly title: string | undefined;
  /** Its id in the history. */
  readonly historyId: string | undefined;
  readonly view: SessionView;
  readonly options: readonly SessionConfigOption[];
  readonly commands: readonly AvailableCommand[];
  /** The turn that runs. */
  readonly turn: RunningTurn | undefined;
  /** Prompts that wait for the end of the turn, in order. After a cancel they wait for the next `send`, which goes first. */
  readonly queue: readonly QueuedPrompt[];
  /** The prompt that is on its way: the agent does not have it yet. */
  readonly sending: readonly string[];
  /** Messages for the running turn that the agent has not taken yet. */
  readonly steering: readonly string[];
  /** Whether a command of the user runs; `cancel` stops it. */
  readonly runsCommand: boolean;
  /** Questions without an answer, oldest first. */
  readonly questions: readonly OpenQuestion[];
  /** The text that was written and not sent. Kept through a crash. */
  draft: string;

  /** Called for each entry that is applied to the view from now on, with the `seq` that it has there. */
  onEntry(listener: (entry: Entry) => void): () => void;
  /** Whether the screen is behind: the agent is not read meanwhile. It ends by itself if it is not repeated. */
  holdOutput(isBehind: boolean): void;
  /** Sends it, or queues it while a turn runs. A crashed or failed agent is started again first. */
  send(input: ChatInput): void;
  /** Gives it to the running turn. An agent that cannot take it is cancelled and gets it as the next prompt: "resent". */
  steer(input: ChatInput): Promise<"steered" | "resent" | "sent">;
  /** Takes a waiting prompt out of the queue, to edit it. */
  unqueue(id: string): ChatInput | undefined;
  /** Moves a waiting prompt by so many places. */
  moveQueued(id: string, by: number): void;
  /** Stops the turn and commands of the user; queued prompts stay and wait for the next `send`. */
  cancel(): void;
  /** Stops the turn at once: ends the agent if it does not stop. The session goes on. */
  force(): Promise<void>;
  setOption(configId: string, value: JsonValue): Promise<void>;
  rename(title: string): Promise<void>;
  /** Starts a crashed or failed agent again and continues the session. */
  restart(): Promise<void>;
  /** Runs a command of the user and shows its output; the next prompt tells the agent. */
  shell(command: string): Promise<void>;
  /** The transcript as Markdown, HTML or JSON. */
  exported(format: ExportFormat): Promise<string>;
  /** Text for the agent beside the next prompt, such as a comment on a change. The transcript shows its name. */
  tell(told: AttachedText): void;
  close(): Promise<void>;
}

export interface RunningTurn {
  readonly startedAt: number;
  readonly isCancelling: boolean;
  /** The model cannot answer now, and the agent asks it again. */
  readonly wait?: ModelWait | undefined;
}

export interface AgentFacts {
  /** As the user names it. */
  readonly name: string;
  /** For questions: as the user names it or, if that is an address, as it names itself. */
  readonly asker: string;
  /** As it names itself, with its version. */
  readonly title: string | undefined;
  readonly edition: EditionName | undefined;
  /** Whether it takes images, messages during a turn, forks. */
  readonly accepts: { readonly images: boolean; readonly steering: boolean; readonly forks: boolean };
}

export interface SessionProblem {
  readonly message: string;
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

export interface QueuedPrompt {
  readonly id: string;
  readonly text: string;
}

/** The result and the effects of a turn. */
export interface TurnSummary {
  readonly result: PromptResult;
  /** Without the time in which the user was asked. */
  readonly durationMs: number;
  /** The files that changed, as far as a snapshot knows. */
  readonly changed?: { readonly files: number; readonly added: number; readonly removed: number };
}

/** A question to the user. Answering it a second time does nothing; it leaves the list when it is withdrawn. */
export type OpenQuestion = { readonly id: string /** The subagent that asks. */; readonly from?: string } & (
  | {
      readonly kind: "permission";
      readonly question: PermissionQuestion;
      answer(reply: PermissionReply): void;
    }
  | {
      readonly kind: "elicitation";
      readonly question: ElicitationQuestion;
      answer(response: ElicitationResponse): void;
    }
  | {
      readonly kind: "login";
      readonly methods: readonly LoginMethod[];
      answer(methodId: string | undefined): void;
    }
  | {
      readonly kind: "credential";
      readonly variable: LoginVariable;
      answer(value: string | undefined): void;
    }
  /** A command that needs the terminal. Answer with its exit code. */
  | { readonly kind: "terminal"; readonly command: LoginCommand; answer(exitCode: number): void }
  /** Trust in the folder, a prompt to send again, a lost session. */
  | {
      readonly kind: "confirm";
      readonly lines: readonly string[];
      readonly ask: string;
      answer(isYes: boolean): void;
    }
);
