// A session and a turn as an agent's app sees them.

import type { ClientCapabilities } from "../../../edition/agent-edition.ts";
import type { ElicitationRequest, ElicitationResponse, PermissionRequest } from "../../../model/ask.ts";
import type {
  AvailableCommand,
  BackgroundWork,
  ContentBlock,
  Cost,
  Implementation,
  Meta,
  PermissionOption,
  PlanEntry,
  SessionConfigOption,
  SystemPrompt,
} from "../../../model/content.ts";
import type { JsonValue } from "../../../model/custom-types.ts";
import type { Author, Entry } from "../../../model/entry.ts";
import type { Files, Terminals } from "../../../model/services.ts";
import type {
  OutgoingCommand,
  OutgoingConfigOption,
  OutgoingUpdate,
  PromptResult,
  StopReason,
} from "../../../model/update.ts";
import type { SessionMcpServer } from "../../mcp/session-servers.ts";
import type {
  DisplayTerminal,
  DisplayTerminalOptions,
  PermissionOptions,
  RunTool,
  ToolCallStart,
} from "./tool-call.ts";
import type { TurnSuccessor } from "./turn-successor.ts";

/**
 * How a prompt handler ends its turn. Nothing means "end_turn".
 *
 * @inline
 */
// biome-ignore lint/suspicious/noConfusingVoidType: an async handler without a return statement is a Promise<void>
export type PromptEnd = undefined | void | StopReason | PromptResult;

/**
 * A permission request outside a tool call.
 *
 * @inline
 */
type PermissionQuestion = Omit<PermissionRequest, "options"> &
  Pick<PermissionOptions, "options" | "onAnswer">;

/**
 * One session of an agent: its settings, and what the agent can send outside a turn. `Data` is the type of the result of
 * `session.open`.
 */
export interface AgentSession<Data = unknown> {
  /** The id of the session. It stays the same when the session is loaded again. */
  readonly sessionId: string;
  /** The result of `session.open`. It is kept while the session is open, and is not stored. */
  data: Data;
  /** The principal that the session belongs to (see `agent.connect`). Undefined for the one local user. */
  readonly principal: string | undefined;
  /** The working directory: an absolute path. */
  readonly cwd: string;
  /** The directories that the agent may work in, as absolute paths: `cwd`, then the additional ones. */
  readonly roots: readonly string[];
  /** The MCP servers that the client wants the agent to use. Each has `connect()`, which your code calls. */
  readonly mcpServers: readonly SessionMcpServer[];
  /**
   * The system prompt that the client gave. Needs the unstable feature "system_prompt".
   *
   * @experimental
   */
  readonly systemPrompt: SystemPrompt | undefined;
  /** Custom data of the request that opened the session, or opened it again. */
  readonly _meta: Meta | undefined;
  /** The features of the client. In a turn, `turn.client` has its files and terminals. */
  readonly clientCapabilities: ClientCapabilities;
  /** The options that the session offers, such as its mode and model, with their values. */
  readonly configOptions: readonly SessionConfigOption[];
  /** The slash commands that the session offers. */
  readonly availableCommands: readonly AvailableCommand[];
  /** The running turn; undefined between turns. */
  readonly turn: Turn<Data> | undefined;
  /** The current value of an option; undefined if the session has no such option. */
  configOption(configId: string): JsonValue | undefined;
  /**
   * Replaces the list of options. The client is notified.
   *
   * @throws {TypeError} When an option is not valid.
   */
  setConfigOptions(options: readonly OutgoingConfigOption[]): void;
  /**
   * Replaces the list of slash commands. The client is notified.
   *
   * @throws {TypeError} When a command is not valid.
   */
  setAvailableCommands(commands: readonly OutgoingCommand[]): void;
  /**
   * Sets the title of the session, which clients show in lists and windows. The title is stored. It has no effect once the
   * user has set a title (unstable feature "session_title").
   */
  setTitle(title: string): void;
  /** Tells the client that the user has finished at the URL of an elicitation of mode "url". */
  completeElicitation(elicitationId: string, options?: { readonly _meta?: Meta }): void;
  /**
   * Sends any update, inside or outside a turn, and keeps it in the history. The promise waits while the client is slow.
   *
   * @throws {TypeError} When the update is not valid, or belongs to an unstable feature that is not enabled.
   * @throws {RequestError} Of kind "unavailable", when too much waits for the store (`session.maxUnstored`).
   * @throws {Error} When the session is closed.
   */
  update(update: OutgoingUpdate): Promise<void>;
  /**
   * Reports a tool call and runs it in the background: turns may end and begin meanwhile. Closing the session cancels it.
   * On v2, the client may cancel it too. Its final status is set as in `turn.tool`.
   */
  runInBackground<Result>(start: ToolCallStart, run: RunTool<Result>): Promise<Result>;
  /**
   * Replaces the list of background work. Only v2 clients see it. Show the work before you list it, and end it before you
   * remove it from the list.
   */
  setBackgroundWork(work: readonly BackgroundWork[]): void;
  /** Shows a terminal that outlives its turn. It runs nothing: your code runs the process and writes its output. */
  terminal(options?: DisplayTerminalOptions): DisplayTerminal;
  /** Runs a turn that no prompt started, after the queued prompts. Never rejects: an error is a result. */
  runTurn<const End extends PromptEnd>(run: (turn: Turn<Data>) => Promise<End> | End): Promise<PromptResult>;
  /** The stored entries of the session, oldest first. Rejects when the store fails. */
  history(): AsyncIterable<Entry>;
}

/**
 * One turn of an agent: the prompt, and what the agent can send and ask while it works on it. Methods that send return a
 * promise that waits while the client is slow: await it. After the turn has ended they fail; use `session.update` or
 * `session.runTurn` instead. `Data` is the type of `session.data`.
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
  /** The user's message with all its content: text, links, images. Empty in a turn of `session.runTurn`. */
  readonly prompt: readonly ContentBlock[];
  /** The text of the prompt, without its other content. */
  readonly text: string;
  /** The id of the user's message. */
  readonly messageId: string;
  /**
   * Who sent the prompt, if the server has named the principal of the connection (`agent.connect`). Undefined for the one
   * local user, and in a turn of `session.runTurn`.
   */
  readonly author: Author | undefined;
  /** `_meta` of the prompt; undefined if the client sent none. */
  readonly _meta: Meta | undefined;
  /** The client: its features, files and terminals. */
  readonly client: TurnClient;
  /** Prompts that arrived during this turn. Always empty without `concurrentPrompts: "inbox"`. */
  readonly inbox: Inbox;
  /** The agent behind this one, in a chain of agents (`conductor` of `@parley/acp/proxy`). Undefined if there is none. */
  readonly successor: TurnSuccessor | undefined;
  /** Aborts when the user cancels or the connection ends. Pass it to every function that takes a signal. */
  readonly signal: AbortSignal;
  /** Sends a piece of the answer. Consecutive pieces form one message. */
  say(content: string | ContentBlock): Promise<void>;
  /** Sends a piece of the agent's reasoning. Consecutive pieces form one thought. */
  think(content: string | ContentBlock): Promise<void>;
  /** Shows the plan. Pass all entries each time: they replace the previous plan. */
  plan(entries: readonly PlanEntry[], planId?: string): Promise<void>;
  /**
   * Reports a tool call and runs it. The client sees it begin and end: completed when `run` returns, failed when it
   * throws, cancelled when its signal aborts. Resolves with the result of `run`, or rejects with its error. Await it: a
   * call that is still running when the turn ends is shown as failed.
   *
   * @throws {RequestError} Of kind "permission_denied", when the user does not give the `permission` (as a rejection).
   */
  tool<Result>(start: ToolCallStart, run: RunTool<Result>): Promise<Result>;
  /**
   * Shows a tool call that is not complete yet, such as one that a model is still writing. Returns the id of the call: pass
   * it to `tool` as `toolCallId` to run the call. Until then, `update` changes what is shown. A call that is never run
   * ends with the turn.
   */
  announce(start: Pick<ToolCallStart, "title" | "kind" | "name">): string;
  /** Shows a terminal that ends with the turn. It runs nothing: your code runs the process and writes its output. */
  terminal(options?: DisplayTerminalOptions): DisplayTerminal;
  /**
   * Asks the user for permission, outside a tool call. Resolves with the chosen option if it allows, and with undefined
   * otherwise: the user rejected it, the question was cancelled, or the client gave no valid answer. So `if (await
   * turn.requestPermission("Delete it?"))` is safe.
   *
   * @throws {RequestError} Of kind "unavailable", when the answer cannot be stored (as a rejection).
   */
  requestPermission(question: string | PermissionQuestion): Promise<PermissionOption | undefined>;
  /**
   * Asks the user to fill in a form or to visit a URL. Check `elicitationForm` and `elicitationUrl` of
   * `turn.client.capabilities` first.
   *
   * @throws {RequestError} Of kind "method_not_found", when the client does not support it; of kind "unavailable", when the answer
   * cannot be stored (as a rejection).
   */
  elicit(request: ElicitationRequest): Promise<ElicitationResponse>;
  /** Shows a short message outside the conversation. Clients may ignore it: use `say` for anything important. */
  notice(severity: "info" | "warning" | "error", title: string, description?: string): Promise<void>;
  /**
   * Reports how full the model's context is: `used` of `size` tokens, and the cost of the session so far. The tokens of
   * the turn itself are part of its result: `return { stopReason, usage }`.
   */
  usage(usage: {
    readonly used: number;
    readonly size: number;
    readonly cost?: Cost;
    readonly _meta?: Meta;
  }): Promise<void>;
  /**
   * Sends any update. The other methods are shorter forms of it.
   *
   * @throws {TypeError} When the update is not valid, or belongs to an unstable feature that is not enabled.
   */
  update(update: OutgoingUpdate): Promise<void>;
}

/** The client that has the session. Another one may take its place during a turn: what a terminal of the old one is asked then fails. */
export interface TurnClient {
  /** The name and version of the client; undefined if it sent none. */
  readonly info: Implementation | undefined;
  /** The features of the client. */
  readonly capabilities: ClientCapabilities;
  /** The client's files; undefined on v2, and if the client offers none. */
  readonly files?: Files | undefined;
  /** The client's terminals; undefined on v2, and if the client offers none. */
  readonly terminals?: Terminals | undefined;
  /** Sends a request outside the protocol; its name begins with `_`. The end of the turn cancels it. */
  request(
    method: `_${string}`,
    params?: unknown,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<unknown>;
}

/** A prompt that arrived during a turn. */
export interface InboxMessage {
  /** The id of the user's message. */
  readonly messageId: string;
  /** The user's message. */
  readonly prompt: readonly ContentBlock[];
}

/**
 * The prompts that arrived during a turn. A prompt that the turn takes joins it and gets its result. The others become
 * turns of their own.
 */
export interface Inbox {
  /** The number of waiting messages. */
  readonly size: number;
  /** Takes the next message; undefined if there is none. */
  take(): InboxMessage | undefined;
  /** Yields messages as they arrive, until the turn ends or is cancelled. */
  [Symbol.asyncIterator](): AsyncIterator<InboxMessage>;
}
