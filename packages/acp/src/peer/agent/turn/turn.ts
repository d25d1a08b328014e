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

/**
 * How a prompt handler ends its turn. Nothing means "end_turn".
 *
 * @inline
 */
// biome-ignore lint/suspicious/noConfusingVoidType: an async handler without a return statement is a Promise<void>
export type PromptEnd = undefined | void | StopReason | PromptResult;

/**
 * A question for permission outside of a tool call.
 *
 * @inline
 */
type PermissionQuestion = Omit<PermissionRequest, "options"> &
  Pick<PermissionOptions, "options" | "onAnswer">;

/**
 * One session at the agent: its settings, and what the agent can send outside a turn. `Data` is the type of what
 * `session.open` of the definition returned.
 */
export interface AgentSession<Data = unknown> {
  /** The id of the session, the same when it is loaded again. */
  readonly sessionId: string;
  /** What `session.open` returned. It lives as long as the session is open, and is not stored. */
  data: Data;
  /** The working directory: an absolute path. */
  readonly cwd: string;
  /** The directories that the agent may work in, as absolute paths: `cwd`, then the additional ones. */
  readonly roots: readonly string[];
  /** The MCP servers that the client wants the agent to use. Connecting to them is up to you. */
  readonly mcpServers: readonly McpServer[];
  /**
   * The system prompt that the client gave. Needs the unstable feature "system_prompt".
   *
   * @experimental
   */
  readonly systemPrompt: SystemPrompt | undefined;
  /** The features of the client. In a turn, `turn.client` has its files and terminals. */
  readonly clientCapabilities: ClientCapabilities;
  /** The options that the session offers, such as its mode and model, with their values. */
  readonly configOptions: readonly SessionConfigOption[];
  /** The slash commands that the session offers. */
  readonly availableCommands: readonly AvailableCommand[];
  /** The turn that runs now; undefined between turns. */
  readonly turn: Turn<Data> | undefined;
  /** The current value of an option; undefined for one that the session does not have. */
  configOption(configId: string): string | boolean | undefined;
  /**
   * Sets the whole list of options. The client is told.
   *
   * @throws {TypeError} When an option is not valid.
   */
  setConfigOptions(options: readonly OutgoingConfigOption[]): void;
  /**
   * Sets the whole list of slash commands. The client is told.
   *
   * @throws {TypeError} When a command is not valid.
   */
  setAvailableCommands(commands: readonly OutgoingCommand[]): void;
  /** Names the session, for lists and windows of the client. The name is stored. */
  setTitle(title: string): void;
  /** Tells the client that the user is done with the address of an elicitation of mode "url". */
  completeElicitation(elicitationId: string): void;
  /**
   * Sends any update, in or outside a turn, and keeps it in the history. The promise waits for a slow client.
   *
   * @throws {TypeError} When the update is not valid, or belongs to an unstable feature that is not enabled.
   * @throws {RequestError} Of kind "unavailable", when too much waits for the store (`session.maxUnstored`).
   * @throws {Error} When the session is closed.
   */
  update(update: OutgoingUpdate): Promise<void>;
  /**
   * Reports a tool call and runs it beside the conversation: turns end and begin meanwhile. Closing the session cancels
   * it; so may the client, on v2. Its status ends like that of `turn.tool`.
   */
  runInBackground<Result>(start: ToolCallStart, run: RunTool<Result>): Promise<Result>;
  /**
   * Sets the whole list of work that goes on beside the conversation. Only v2 clients see it. Show the work before you
   * list it, and end it before you take it off the list.
   */
  setBackgroundWork(work: readonly BackgroundWork[]): void;
  /** Shows a terminal that outlives its turn. It runs nothing: you run the process, and write its output. */
  terminal(options?: DisplayTerminalOptions): DisplayTerminal;
  /** Runs a turn that no prompt asked for, after the prompts that wait. Never rejects: an error is a result. */
  runTurn<const End extends PromptEnd>(run: (turn: Turn<Data>) => Promise<End> | End): Promise<PromptResult>;
  /** Everything that happened in the session so far, oldest first, from the store. Rejects when the store fails. */
  history(): AsyncIterable<Entry>;
}

/**
 * One turn of an agent: the prompt, and what the agent can send and ask while it works on it. Methods that send give a
 * promise that waits for a slow client: await it in loops. After the turn has ended they throw; use `session.update` or
 * `session.runTurn` then. `Data` is the type of `session.data`.
 *
 * @example
 * import { readFile } from "node:fs/promises";
 * import type { Turn } from "@parley/acp";
 *
 * export async function answer(turn: Turn): Promise<void> {
 *   await turn.think("The user wants to know what is in the file.");
 *   const text = await turn.tool(
 *     { title: "Read notes.txt", kind: "read", permission: true },
 *     () => readFile(`${turn.session.cwd}/notes.txt`, "utf8"),
 *   );
 *   await turn.say(`It has ${text.length} characters.`);
 * }
 */
export interface Turn<Data = unknown> {
  /** The session that the turn is part of. */
  readonly session: AgentSession<Data>;
  /** The user's message with all that it contains: text, links, images. Empty in a turn of `session.runTurn`. */
  readonly prompt: readonly ContentBlock[];
  /** The text of the prompt, without its other content. */
  readonly text: string;
  /** The id of the user's message. */
  readonly messageId: string;
  /** `_meta` of the prompt, where the client sent any. */
  readonly _meta: Meta | undefined;
  /** The client: what it can do, and its files and terminals. */
  readonly client: TurnClient;
  /** Prompts that came while this turn runs. Always empty without `concurrentPrompts: "inbox"`. */
  readonly inbox: Inbox;
  /** Aborts when the user cancels or the connection ends. Pass it to everything that takes one. */
  readonly signal: AbortSignal;
  /** Sends a piece of the answer. Pieces in a row become one message. */
  say(content: string | ContentBlock): Promise<void>;
  /** Sends a piece of what the agent thinks. Pieces in a row become one thought. */
  think(content: string | ContentBlock): Promise<void>;
  /** Shows the plan: all entries each time, since it takes the place of the plan before. */
  plan(entries: readonly PlanEntry[], planId?: string): Promise<void>;
  /**
   * Reports a tool call and runs it. The client sees it begin and end: completed when `run` returns, failed when it
   * throws, cancelled when its signal aborts. Gives what `run` returns, and rejects with what it throws. Await it: a call
   * that still runs when the turn ends is shown as failed.
   *
   * @throws {RequestError} Of kind "permission_denied", when `permission` was asked for and not given (as a rejection).
   */
  tool<Result>(start: ToolCallStart, run: RunTool<Result>): Promise<Result>;
  /**
   * Shows a tool call before all of it is known, such as one that a model is still writing. Pass the id that it returns
   * to `tool` as `toolCallId` to run the call. Until then `update` changes what is shown. A call that is never run ends
   * with the turn.
   */
  announce(start: Pick<ToolCallStart, "title" | "kind" | "name">): string;
  /** Shows a terminal that ends with the turn. It runs nothing: you run the process, and write its output. */
  terminal(options?: DisplayTerminalOptions): DisplayTerminal;
  /**
   * Asks the user for permission, outside a tool call. Gives the option that allows it, or undefined when it is not
   * allowed: the user rejected it, the question was cancelled, or the client gave no valid answer. So `if (await
   * turn.requestPermission("Delete it?"))` is safe.
   */
  requestPermission(question: string | PermissionQuestion): Promise<PermissionOption | undefined>;
  /**
   * Asks the user to fill in a form or to visit an address. Look at `clientCapabilities.elicitationForm` and
   * `elicitationUrl` of the session first.
   *
   * @throws {RequestError} Of kind "method_not_found", when the client does not offer it (as a rejection).
   */
  elicit(request: ElicitationRequest): Promise<ElicitationResponse>;
  /** Shows a short message beside the conversation. Clients may leave it out: say what matters with `say`. */
  notice(severity: "info" | "warning" | "error", title: string, description?: string): Promise<void>;
  /**
   * Reports how full the model's context is: `used` of `size` tokens, and what the session cost so far. The tokens of the
   * turn itself are part of its result: `return { stopReason, usage }`.
   */
  usage(usage: { readonly used: number; readonly size: number; readonly cost?: Cost }): Promise<void>;
  /**
   * Sends any update. The other methods are shorter forms of it.
   *
   * @throws {TypeError} When the update is not valid, or belongs to an unstable feature that is not enabled.
   */
  update(update: OutgoingUpdate): Promise<void>;
}

/** The client as a turn sees it. */
export interface TurnClient {
  /** The name and version of the client, where it gave any. */
  readonly info: Implementation | undefined;
  /** What the client can do. */
  readonly capabilities: ClientCapabilities;
  /** The client's files. Only v1 clients have any: undefined on v2, and where the client offers none. */
  readonly files?: Files | undefined;
  /** The client's terminals. Only v1 clients have any: undefined on v2, and where the client offers none. */
  readonly terminals?: Terminals | undefined;
  /** Sends a request outside the protocol; its name begins with `_`. The end of the turn cancels it. */
  request(
    method: `_${string}`,
    params?: unknown,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<unknown>;
}

/** A prompt that came while a turn was running. */
export interface InboxMessage {
  /** The id of the user's message. */
  readonly messageId: string;
  /** The user's message. */
  readonly prompt: readonly ContentBlock[];
}

/**
 * The prompts that came while a turn runs. Those that the turn takes join it, and get its result; the others become turns
 * of their own.
 */
export interface Inbox {
  /** How many messages wait. */
  readonly size: number;
  /** Takes the next message; undefined when none waits. */
  take(): InboxMessage | undefined;
  /** Gives the messages as they come, until the turn ends or is cancelled. */
  [Symbol.asyncIterator](): AsyncIterator<InboxMessage>;
}
