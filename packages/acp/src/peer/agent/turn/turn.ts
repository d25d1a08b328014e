// A session and a turn as an agent's app sees them.

import type { ClientCapabilities } from "../../../edition/agent-edition.ts";
import type { ElicitationRequest, ElicitationResponse, PermissionRequest } from "../../../model/ask.ts";
import type {
  AvailableCommand,
  BackgroundWork,
  ContentBlock,
  Cost,
  Implementation,
  McpServer,
  Meta,
  PermissionOption,
  PlanEntry,
  SessionConfigOption,
  SystemPrompt,
} from "../../../model/content.ts";
import type { Entry } from "../../../model/entry.ts";
import type { Files, Terminals } from "../../../model/services.ts";
import type {
  OutgoingCommand,
  OutgoingConfigOption,
  OutgoingUpdate,
  PromptResult,
  StopReason,
} from "../../../model/update.ts";
import type {
  DisplayTerminal,
  DisplayTerminalOptions,
  PermissionOptions,
  RunTool,
  ToolCallStart,
} from "./tool-call.ts";

/** How a prompt handler ends its turn. Nothing means "end_turn". */
// biome-ignore lint/suspicious/noConfusingVoidType: an async handler without a return statement is a Promise<void>
export type PromptEnd = undefined | void | StopReason | PromptResult;

/** A question for permission outside of a tool call. */
type PermissionQuestion = Omit<PermissionRequest, "options"> &
  Pick<PermissionOptions, "options" | "onAnswer">;

/** One session at the agent. */
export interface AgentSession<Data = unknown> {
  readonly sessionId: string;
  /** Whatever `session.open` returned. It lives as long as the session is open, and is not stored. */
  data: Data;
  readonly cwd: string;
  /** The directories that the client allows: the working directory first. */
  readonly roots: readonly string[];
  readonly mcpServers: readonly McpServer[];
  readonly systemPrompt: SystemPrompt | undefined;
  /** The features of the client. In a turn, `turn.client` has its files and terminals. */
  readonly clientCapabilities: ClientCapabilities;
  readonly configOptions: readonly SessionConfigOption[];
  readonly availableCommands: readonly AvailableCommand[];
  /** The turn that runs now. */
  readonly turn: Turn<Data> | undefined;
  /** The current value of an option. */
  configOption(configId: string): string | boolean | undefined;
  /** Sets the whole list, and tells the client when it has seen another one. */
  setConfigOptions(options: readonly OutgoingConfigOption[]): void;
  setAvailableCommands(commands: readonly OutgoingCommand[]): void;
  /** Names the session, for lists and windows. */
  setTitle(title: string): void;
  /** Reports that the flow behind a URL elicitation is over. */
  completeElicitation(elicitationId: string): void;
  /**
   * Sends one update, in or outside a turn, and keeps it in the history. Throws when it is not valid, when the session
   * is closed, and when so much waits for the store that no more can. The promise waits for a slow client.
   */
  update(update: OutgoingUpdate): Promise<void>;
  /**
   * Reports a tool call and runs it beside the conversation: turns end and begin meanwhile. The client may cancel it
   * (v2), closing the session does. Its status ends like that of `turn.tool`.
   */
  runInBackground<Result>(start: ToolCallStart, run: RunTool<Result>): Promise<Result>;
  /**
   * Sets the whole list of work beside the conversation (v2). Announce work before you list it, and end it before you
   * take it off the list.
   */
  setBackgroundWork(work: readonly BackgroundWork[]): void;
  /** Shows a terminal that outlives its turn. Its process is yours. */
  terminal(options?: DisplayTerminalOptions): DisplayTerminal;
  /** Runs a turn that no prompt asked for, in line with the prompts. Never rejects: an error is the result. */
  runTurn<const End extends PromptEnd>(run: (turn: Turn<Data>) => Promise<End> | End): Promise<PromptResult>;
  /** Reads everything that was said so far, from the first entry on. Rejects when the store fails. */
  history(): AsyncIterable<Entry>;
}

/**
 * One turn of an agent: its prompt, and what it can send and ask while it runs. What is sent gives a promise that
 * waits for a slow client: await it in loops. After the turn has ended its methods throw.
 */
export interface Turn<Data = unknown> {
  readonly session: AgentSession<Data>;
  /** The user's message. */
  readonly prompt: readonly ContentBlock[];
  /** The text of the prompt. */
  readonly text: string;
  readonly messageId: string;
  /** `_meta` of the prompt, where the client sent any. */
  readonly _meta: Meta | undefined;
  /** The features of the client, its files and its terminals. */
  readonly client: TurnClient;
  /** Prompts that came while this turn runs; only for agents with `concurrentPrompts: "inbox"`. */
  readonly inbox: Inbox;
  /** Aborts when the user cancels or the connection ends. Pass it to everything that takes one. */
  readonly signal: AbortSignal;
  /** Streams a piece of the answer. */
  say(content: string | ContentBlock): Promise<void>;
  /** Streams a piece of what the agent thinks. */
  think(content: string | ContentBlock): Promise<void>;
  /** Shows the whole plan, every entry each time. */
  plan(entries: readonly PlanEntry[], planId?: string): Promise<void>;
  /**
   * Reports a tool call and runs it: pending, in progress, then completed, failed or cancelled, whatever the
   * function does. Its result is the function's. Await it: a call that runs when the turn ends has failed.
   */
  tool<Result>(start: ToolCallStart, run: RunTool<Result>): Promise<Result>;
  /**
   * Shows a call before all of it is known, such as one that a model is still writing, and returns its id: `tool` with
   * that id runs it, `update` changes what is shown until then. One that is never run ends with the turn.
   */
  announce(start: Pick<ToolCallStart, "title" | "kind" | "name">): string;
  /** Shows a terminal that ends with the turn. Its process is yours. */
  terminal(options?: DisplayTerminalOptions): DisplayTerminal;
  /**
   * Asks for permission. Gives the option that allows it; undefined when it is not allowed: the user rejected it, the
   * question was cancelled, or the client gave no valid answer.
   */
  requestPermission(question: string | PermissionQuestion): Promise<PermissionOption | undefined>;
  /** Asks the user to fill in a form or to visit an address. */
  elicit(request: ElicitationRequest): Promise<ElicitationResponse>;
  /** Shows a short message beside the conversation; never for what matters. */
  notice(severity: "info" | "warning" | "error", title: string, description?: string): Promise<void>;
  /** Reports how full the context is, and what it cost so far. Return the tokens of a turn with its end. */
  usage(usage: { readonly used: number; readonly size: number; readonly cost?: Cost }): Promise<void>;
  /** Sends any update of the model. */
  update(update: OutgoingUpdate): Promise<void>;
}

/** The client as a turn sees it. */
export interface TurnClient {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
  /** The client's files. Absent where it offers none, and on version 2. */
  readonly files?: Files | undefined;
  /** The client's terminals. Absent where it offers none, and on version 2. */
  readonly terminals?: Terminals | undefined;
  /** Sends a request outside the protocol; its name begins with `_`. It is given up with the turn. */
  request(
    method: `_${string}`,
    params?: unknown,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<unknown>;
}

export interface InboxMessage {
  readonly messageId: string;
  readonly prompt: readonly ContentBlock[];
}

/** The prompts that arrive while a turn runs. Those that are taken join the turn; the others become turns of their own. */
export interface Inbox {
  readonly size: number;
  /** Takes the next message; undefined when none is waiting. */
  take(): InboxMessage | undefined;
  /** Gives the messages as they come, until the turn ends or is cancelled. */
  [Symbol.asyncIterator](): AsyncIterator<InboxMessage>;
}
