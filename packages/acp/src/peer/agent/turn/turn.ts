// A session and a turn as an agent's app sees them.

import type { ClientCapabilities } from "../../../edition/agent-edition.ts";
import type { ElicitationRequest, ElicitationResponse, PermissionRequest } from "../../../model/ask.ts";
import type {
  AvailableCommand,
  BackgroundWork,
  ContentBlock,
  Cost,
  McpServer,
  Meta,
  PlanEntry,
  SessionConfigOption,
  SystemPrompt,
  Usage,
} from "../../../model/content.ts";
import type { OutgoingCommand, OutgoingUpdate, PromptResult, StopReason } from "../../../model/update.ts";
import type { DisplayTerminal, DisplayTerminalOptions } from "./display-terminal.ts";
import type { Permission } from "./questions.ts";
import type { Inbox } from "./received-prompt.ts";
import type { ToolCall, ToolCallStart } from "./tool-call.ts";
import type { TurnClient } from "./turn-client.ts";

// biome-ignore lint/suspicious/noConfusingVoidType: an async handler without a return statement is a Promise<void>
export type TurnEnd = undefined | void | StopReason | PromptResult;

/** Runs one tool call. Its result is that of `turn.tool`. */
type RunTool<Result> = (tool: ToolCall) => Promise<Result> | Result;

/** One session at the agent. */
export interface AgentSession {
  readonly sessionId: string;
  /** Yours: whatever you want to keep with the session while it lives. */
  data: unknown;
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
  readonly turn: Turn | undefined;
  /** The current value of an option. */
  configOption(configId: string): string | boolean | undefined;
  /** Sets the whole list, and tells the client when it has seen another one. */
  setConfigOptions(options: readonly SessionConfigOption[]): void;
  setAvailableCommands(commands: readonly OutgoingCommand[]): void;
  /** Names the session, for lists and windows. */
  setTitle(title: string): void;
  /** Reports that the flow behind a URL elicitation is over. */
  completeElicitation(elicitationId: string): void;
  /**
   * Sends one update, in or outside a turn, and keeps it in the history. Throws when it is not valid, and when so
   * much waits for the store that no more can. Returns a promise only when the client or the store is slow.
   */
  update(update: OutgoingUpdate): Promise<void> | undefined;
  /**
   * Reports a tool call and runs it beside the conversation: turns end and begin meanwhile. The client may cancel it
   * (v2), closing the session does. Its status ends like that of `turn.tool`.
   */
  runInBackground<Result>(start: ToolCallStart, run: RunTool<Result>): Promise<Result>;
  /**
   * Sets the whole list of work beside the conversation (v2). Announce work before you list it, and end it before you
   * take it off the list.
   */
  setBackground(runTurn: readonly BackgroundWork[]): void;
  /** Shows a terminal that outlives its turn. Its process is yours. */
  terminal(options?: DisplayTerminalOptions): DisplayTerminal;
  /** Runs a turn that no prompt asked for, in line with the prompts. Never rejects: an error is the outcome. */
  work<const End extends TurnEnd>(run: (turn: Turn) => Promise<End> | End): Promise<PromptResult>;
}

/** One turn of an agent: its prompt, and what it can send and ask while it runs. */
export interface Turn {
  readonly session: AgentSession;
  /** The user's message. */
  readonly prompt: readonly ContentBlock[];
  /** The text of the prompt. */
  readonly text: string;
  readonly messageId: string;
  /** `_meta` of the prompt, where the client sent any. */
  readonly _meta: Meta | undefined;
  /** The features of the client. */
  readonly client: TurnClient;
  /** Prompts that came while this turn runs; only for agents with `concurrentPrompts: "inbox"`. */
  readonly inbox: Inbox;
  /** Aborts when the user cancels or the connection ends. Pass it to everything that takes one. */
  readonly signal: AbortSignal;
  /** Streams a piece of the answer. Returns a promise only when the client is slow. */
  say(content: string | ContentBlock): Promise<void> | undefined;
  /** Streams a piece of what the agent thinks. */
  think(content: string | ContentBlock): Promise<void> | undefined;
  /** Shows the whole plan, every entry each time. */
  plan(entries: readonly PlanEntry[], planId?: string): Promise<void> | undefined;
  /**
   * Reports a tool call and runs it: pending, in progress, then completed, failed or cancelled, whatever the
   * callback does. Its result is the callback's.
   */
  tool<Result>(start: ToolCallStart, run: RunTool<Result>): Promise<Result>;
  /**
   * Shows a call before all of it is known, such as one that a model is still writing, and returns its id: `tool` with
   * that id runs it, `update` changes what is shown until then. One that is never run ends with the turn.
   */
  announce(start: Pick<ToolCallStart, "title" | "kind" | "name">): string;
  /** Shows a terminal that ends with the turn. Its process is yours. */
  terminal(options?: DisplayTerminalOptions): DisplayTerminal;
  /** Asks for permission. Anything but the user's yes is a no; a cancelled turn is a no too. */
  requestPermission(ask: string | PermissionRequest): Promise<Permission>;
  /** Asks the user to fill in a form or to visit an address. */
  elicit(ask: ElicitationRequest): Promise<ElicitationResponse>;
  /** Shows a short message beside the conversation; never for what matters. */
  notice(
    severity: "info" | "warning" | "error",
    title: string,
    description?: string,
  ): Promise<void> | undefined;
  /** Reports how full the context is, and what it cost so far. */
  usage(usage: {
    readonly used: number;
    readonly size: number;
    readonly cost?: Cost;
  }): Promise<void> | undefined;
  /** Sets the tokens of this turn, which are reported with its end. */
  setTokens(usage: Usage): void;
  title(title: string): void;
  commands(commands: readonly OutgoingCommand[]): void;
  /** Sends any update of the model. */
  update(update: OutgoingUpdate): Promise<void> | undefined;
}
