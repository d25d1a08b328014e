// A conversation: the model of a session that a front end shows, and the commands that it sends.

import type { Entry, SessionUpdate } from "@parley/acp";
import type { JsonValue } from "@parley/acp/model";
import type { SessionView } from "@parley/acp/view";
import type { AttachedText, ChatInput } from "../prompt-input/chat-input.ts";
import type { SafeTexts } from "./safe-status.ts";
import type {
  Answers,
  HostQuestion,
  Notice,
  PastPrompt,
  RewindOutcome,
  SessionStatus,
  TurnSummary,
} from "./session-link.ts";

/** A session as its front end shows it. It follows the session's host, and changes nothing by itself. */
export interface Conversation
  extends Omit<
    SessionStatus,
    "questions" | "unsent" | "progress" | "problem" | "branch" | "turn" | "branches"
  > {
  /** Unique in this process. */
  readonly key: string;
  /** What it waits for while it starts, or why it is silent. One line, safe to show. */
  readonly progress: SessionStatus["progress"];
  /** Why it failed or crashed. */
  readonly problem: SessionStatus["problem"];
  /** The branch of the repository, if there is one. */
  readonly branch: string | undefined;
  /** The turn that runs. */
  readonly turn: SessionStatus["turn"];
  /** What was written and the agent does not have yet, the draft included. */
  readonly unsent: readonly string[];
  /** What was said and done. */
  readonly view: SessionView;
  /** The prompts that it can be rewound to, oldest first. */
  readonly prompts: readonly PastPrompt[];
  /** The other branches of the conversation, after a rewind. */
  readonly branches: SessionStatus["branches"];
  /** Whether a command of the user runs; `cancel` stops it. */
  readonly runsCommand: boolean;
  /** Questions without an answer, oldest first. */
  readonly questions: readonly OpenQuestion[];
  /** The text that was written and not sent. Kept through a crash. */
  draft: string;

  /** Calls the listener for each event. */
  onEvent(listener: (event: ConversationEvent) => void): () => void;
  /** Calls the listener for each entry that is applied to the view from now on. */
  onEntry(listener: (entry: Entry) => void): () => void;
  /** Whether the screen is behind: the agent is not read meanwhile. It ends by itself if it is not repeated. */
  holdOutput(isBehind: boolean): void;
  /** Sends it, or queues it while a turn runs. A crashed or failed agent is started again first. */
  send(input: ChatInput): void;
  /** Gives it to the running turn. An agent that cannot take it is cancelled and gets it as the next prompt: "resent". */
  steer(input: ChatInput): Promise<"steered" | "resent" | "sent">;
  /** Takes a waiting prompt out of the queue, to edit it. Undefined if it does not wait any more. */
  unqueue(id: string): Promise<ChatInput | undefined>;
  /** Moves a waiting prompt by so many places. */
  moveQueued(id: string, by: number): void;
  /** Stops the turn and commands of the user; queued prompts stay and wait for the next `send`. */
  cancel(): void;
  /** Stops the turn at once: ends the agent if it does not stop. The session goes on. */
  force(): Promise<void>;
  /** Sets an option of the agent. */
  setOption(configId: string, value: JsonValue): Promise<void>;
  /** Gives the session a title. */
  rename(title: string): Promise<void>;
  /** Starts a crashed or failed agent again and continues the session. */
  restart(): Promise<void>;
  /** Runs a command of the user and shows its output; the next prompt tells the agent. */
  shell(command: string): Promise<void>;
  /** Text for the agent beside the next prompt, such as a comment on a change. The transcript shows its name. */
  tell(told: AttachedText): void;
  /**
   * Goes back to before a prompt of `prompts`: another session goes on from there, with the files as they were. Rejects while a
   * turn runs. Open the session of the outcome.
   */
  rewind(messageId: string): Promise<RewindOutcome>;
  /** Goes back to the session that was left by a rewind, with its files. */
  undoRewind(): Promise<RewindOutcome>;
  /** Ends the session at its host. */
  close(): Promise<void>;
  /** Stops following the session. The session goes on. */
  leave(): void;
}

/** An event. State is read from the conversation; an event only says that it changed. */
export type ConversationEvent =
  /** The view has new entries. */
  | { readonly kind: "entries" }
  /** The phase, the turn, the queue, the options or the facts of the session. */
  | { readonly kind: "state" }
  /** A question was asked, answered or withdrawn. */
  | { readonly kind: "questions" }
  /** A sentence of the host for the transcript. */
  | { readonly kind: "notice"; readonly notice: Notice }
  /** A turn has ended. */
  | { readonly kind: "turn"; readonly summary: TurnSummary };

/** A question to the user. Answering it a second time does nothing; it leaves the list when it is withdrawn. */
export type OpenQuestion = {
  readonly [Kind in keyof Answers]: Extract<HostQuestion, { kind: Kind }> & {
    /** The subagent that asks. */
    readonly from?: string | undefined;
    /** Answers it. */
    answer(answer: Answers[Kind]): void;
  };
}[keyof Answers];

/** What a front end brings along. */
export interface ConversationOptions {
  /** Unique in this process. Default: a random one. */
  readonly key?: string | undefined;
  /** Whether it begins with its session, so that nothing was told to anybody yet. Default false. */
  readonly isFirst?: boolean | undefined;
  /** What is known before the host has said anything. */
  readonly initial?: Partial<SessionStatus> | undefined;
  /**
   * Makes a text of an agent safe to show: a line, or a text of several lines. Default: as it is. A page escapes by itself; a
   * terminal would obey the text.
   */
  readonly safe?: SafeTexts | undefined;
  /** Runs a command of the user (`shell`), reports its output, and returns what the agent is told. */
  readonly runShell?:
    | ((
        command: string,
        context: {
          readonly cwd: string;
          readonly signal: AbortSignal;
          /** Shows it in the transcript. */
          show(update: SessionUpdate): void;
        },
      ) => Promise<AttachedText>)
    | undefined;
  /** Called with each prompt that is sent. */
  readonly onSent?: ((text: string) => void) | undefined;
  /** Called when something was written and not sent, or was sent. */
  readonly onUnsent?: (() => void) | undefined;
  /** A command was not carried out. Default: the error is lost, except where a method returns it. */
  readonly onError?: ((error: unknown) => void) | undefined;
}
