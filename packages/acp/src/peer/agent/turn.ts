// One turn of an agent: what it can say and ask while it works on a prompt, and how that ends.

import { isObject } from "../../base/is-object.ts";
import { argumentText } from "../../jsonrpc/argument.ts";
import { RequestError, rpcCodes } from "../../jsonrpc/errors.ts";
import type { ElicitationAnswer, ElicitationAsk, PermissionAsk } from "../../model/ask.ts";
import type { AvailableCommand, ContentBlock, Cost, Meta, PlanEntry, Usage } from "../../model/content.ts";
import type { Outcome, Update } from "../../model/update.ts";
import { newId } from "../base/new-id.ts";
import type { TurnEnd } from "./agent-definition.ts";
import type { AgentSession } from "./agent-session.ts";
import { DisplayTerminal, type DisplayTerminalOptions } from "./display-terminal.ts";
import { unavailable } from "./guarded-store.ts";
import { Inbox } from "./inbox.ts";
import type { PromptTicket } from "./prompt-queue.ts";
import { type Permission, Questions } from "./questions.ts";
import { checkStopReason } from "./said-rules.ts";
import type { Release } from "./session-output.ts";
import { checkTool, runTool, ToolCall, type ToolCallStart } from "./tool-call.ts";
import { TurnClient } from "./turn-client.ts";

export class Turn {
  readonly session: AgentSession;
  /** The user's message. */
  readonly prompt: readonly ContentBlock[];
  readonly messageId: string;
  /** `_meta` of the prompt, where the client sent any. */
  readonly meta: Meta | undefined;
  /** What the client offers. */
  readonly client: TurnClient;
  /** Prompts that came while this turn runs; only for agents that declare `steering`. */
  readonly inbox: Inbox;
  /** @internal Calls that were shown and not run. */ readonly announced = new Set<string>();
  /** @internal */ readonly joined: PromptTicket[] = [];
  /** @internal Its end has been said. */ isOver = false;
  readonly #controller = new AbortController();
  readonly #questions: Questions;
  readonly #tools = new Set<ToolCall>();
  readonly #terminals = new Set<DisplayTerminal>();
  #message: { kind: string; id: string } | undefined;
  #usage: Usage | undefined;

  /** @internal */
  constructor(session: AgentSession, ticket: PromptTicket, taken: (ticket: PromptTicket) => void) {
    this.session = session;
    this.prompt = ticket.prompt;
    this.messageId = ticket.messageId;
    this.meta = ticket.meta;
    this.inbox = new Inbox(taken);
    this.client = new TurnClient(session, this.signal);
    this.#questions = new Questions(session, this.signal);
  }

  /** Aborts when the user cancels or the connection ends. Pass it to everything that takes one. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The text of the prompt. */
  get text(): string {
    return this.prompt.map((block) => (block.type === "text" ? block.text : "")).join("");
  }

  /** Streams a piece of the answer. Returns a promise only when the client is slow. */
  say(content: string | ContentBlock): Promise<void> | undefined {
    return this.#chunk("agent_message_chunk", content);
  }

  /** Streams a piece of what the agent thinks. */
  think(content: string | ContentBlock): Promise<void> | undefined {
    return this.#chunk("agent_thought_chunk", content);
  }

  /** Shows the whole plan, every entry each time (A74). */
  plan(entries: readonly PlanEntry[], planId = "main"): Promise<void> | undefined {
    if (!Array.isArray(entries))
      throw new TypeError(`turn.plan: wanted a list of all entries, got ${argumentText(entries)}`);
    return this.session.update({
      sessionUpdate: "plan_update",
      plan: { type: "items", planId, entries: [...entries] },
    });
  }

  /**
   * Reports a tool call and runs it: pending, in progress, then completed, failed or cancelled, whatever the
   * callback does. Its result is the callback's.
   */
  tool<Result>(start: ToolCallStart, run: (tool: ToolCall) => Promise<Result> | Result): Promise<Result> {
    const running = this.#tool(start, run);
    // its status says how it ended: a call that nobody awaits must not end the process
    running.catch(() => undefined);
    return running;
  }

  /**
   * Shows a call before all of it is known, such as one that a model is still writing, and gives its id: `tool` with
   * that id runs it, `update` changes what is shown until then. One that is never run ends with the turn.
   */
  announce(start: Pick<ToolCallStart, "title" | "kind" | "name">): string {
    const toolCallId = this.session.newId();
    void this.update({ sessionUpdate: "tool_call_update", toolCallId, ...start, status: "pending" });
    this.announced.add(toolCallId);
    return toolCallId;
  }

  async #tool<Result>(
    start: ToolCallStart,
    run: (tool: ToolCall) => Promise<Result> | Result,
  ): Promise<Result> {
    checkTool("turn.tool", start, run);
    this.#message = undefined;
    const tool = new ToolCall(this, start, this.#questions);
    this.#tools.add(tool);
    try {
      return await runTool(tool, run);
    } finally {
      this.#tools.delete(tool);
    }
  }

  /** A terminal that the agent owns and the client only shows. Its process is yours. */
  terminal(options: DisplayTerminalOptions = {}): DisplayTerminal {
    const terminal = new DisplayTerminal(this.session, options);
    this.#terminals.add(terminal);
    return terminal;
  }

  /** Asks for permission. Anything but the user's yes is a no; a cancelled turn is a no too. */
  ask(ask: string | PermissionAsk): Promise<Permission> {
    return this.#questions.permission(typeof ask === "string" ? { title: ask, options: [] } : ask);
  }

  /** Asks the user to fill in a form or to visit an address. */
  elicit(ask: ElicitationAsk): Promise<ElicitationAnswer> {
    return this.#questions.elicit(ask);
  }

  /** A short message beside the conversation; never for what matters (A104). */
  notice(
    severity: "info" | "warning" | "error",
    title: string,
    description?: string,
  ): Promise<void> | undefined {
    const more = description === undefined ? {} : { description };
    return this.session.update({ sessionUpdate: "notice", severity, title, ...more });
  }

  /** How full the context is, and what it cost so far. */
  usage(usage: {
    readonly used: number;
    readonly size: number;
    readonly cost?: Cost;
  }): Promise<void> | undefined {
    return this.session.update({ sessionUpdate: "usage_update", ...usage });
  }

  /** Tokens of this turn, reported with its end. */
  setTokens(usage: Usage): void {
    this.#usage = usage;
  }

  title(title: string): void {
    this.session.setTitle(title);
  }

  commands(commands: readonly AvailableCommand[]): void {
    this.session.setCommands(commands);
  }

  /** Any update of the model. */
  update(update: Update): Promise<void> | undefined {
    this.#message = undefined;
    return this.session.update(update);
  }

  /** @internal */
  cancel(): void {
    if (!this.signal.aborted) {
      this.#controller.abort(new DOMException("the turn was cancelled", "AbortError"));
    }
  }

  /** @internal Whatever is still open ends with the turn. */
  async finish(): Promise<{ readonly usage?: Usage }> {
    this.#questions.close();
    const status = this.signal.aborted ? "cancelled" : "failed";
    for (const toolCallId of this.announced)
      await this.session.updateStored({ sessionUpdate: "tool_call_update", toolCallId, status });
    for (const tool of this.#tools) await tool.finish(status);
    for (const terminal of this.#terminals) terminal.close();
    this.client.close();
    return this.#usage === undefined ? {} : { usage: this.#usage };
  }

  #chunk(
    kind: "agent_message_chunk" | "agent_thought_chunk",
    content: string | ContentBlock,
  ): Promise<void> | undefined {
    if (this.#message?.kind !== kind) this.#message = { kind, id: this.session.newId() };
    return this.session.update({
      sessionUpdate: kind,
      messageId: this.#message.id,
      content: typeof content === "string" ? { type: "text", text: content } : spoken(kind, content),
    });
  }
}

function spoken(kind: string, content: ContentBlock): ContentBlock {
  if (isObject(content)) return content;
  const verb = kind === "agent_message_chunk" ? "say" : "think";
  throw new TypeError(`turn.${verb}: wanted text or a content block, got ${argumentText(content)}`);
}

/** Runs one turn to its end. Gives the prompts that arrived meanwhile and that nobody took. */
export async function runTurn(
  session: AgentSession,
  ticket: PromptTicket,
  started: (turn: Turn) => void,
): Promise<PromptTicket[]> {
  const { link } = session;
  const turn: Turn = new Turn(session, ticket, (taken) => {
    turn.joined.push(taken);
    void insert(session, taken).then((isIn) => {
      // what was refused has no outcome
      if (!isIn) turn.joined.splice(turn.joined.indexOf(taken), 1);
    });
  });
  started(turn);
  if (ticket.run !== undefined) session.setState({ state: "running" });
  else if (!(await insert(session, ticket, true))) return turn.inbox.close();
  let outcome: Outcome;
  try {
    // cancelled while it was being stored: there is nothing to begin
    turn.signal.throwIfAborted();
    outcome = outcomeOf(
      await (ticket.run === undefined ? link.definition.prompt(turn) : ticket.run(turn)),
      turn,
    );
  } catch (error) {
    outcome = failureOf(error, turn, link.log);
  }
  // ended without its handler, which took too long
  if (turn.isOver) return [];
  const left = turn.inbox.close();
  try {
    const usage = await turn.finish();
    if (link.reportsUsage) outcome = { ...usage, ...outcome };
  } catch (error) {
    outcome = failureOf(error, turn, link.log);
  }
  if (!link.reportsUsage) outcome = withoutUsage(outcome);
  await end(session, turn, ticket, outcome);
  return left;
}

function withoutUsage({ usage: _, ...outcome }: Outcome): Outcome {
  return outcome;
}

/** Makes the message part of the conversation: stored first, then acknowledged. */
async function insert(session: AgentSession, ticket: PromptTicket, beginsTurn = false): Promise<boolean> {
  const { messageId, prompt } = ticket;
  let release: Release | undefined;
  try {
    release = session.holdPrompt({ sessionUpdate: "user_message", messageId, content: [...prompt] });
  } catch (error) {
    // it could be read, and still not be shown to anybody, now or when the session is loaded
    const message = `session/prompt: ${error instanceof Error ? error.message : "it cannot be shown"}`;
    ticket.refused(
      new RequestError(rpcCodes.invalidParams, message, { reason: "invalid_params", path: "/prompt" }),
    );
    return false;
  }
  // in line behind the message: what is said of the session meanwhile must not call it idle
  if (beginsTurn) session.setState({ state: "running" });
  session.log.append({ kind: "prompt", messageId, prompt });
  try {
    await session.log.flush();
  } catch (error) {
    if (beginsTurn) session.setState({ state: "idle" });
    session.storeFailed(error);
    session.log.takeBack(messageId);
    void release?.(false);
    ticket.refused(unavailable());
    return false;
  }
  ticket.inserted();
  void release?.(true);
  return true;
}

/** Ends a turn whose handler does not: its tools, its history and its prompt. */
export async function abandonTurn(session: AgentSession, turn: Turn, ticket: PromptTicket): Promise<void> {
  if (turn.isOver) return;
  turn.isOver = true;
  await turn.finish();
  await end(session, turn, ticket, { stopReason: "cancelled" });
}

async function end(session: AgentSession, turn: Turn, ticket: PromptTicket, given: Outcome): Promise<void> {
  turn.isOver = true;
  let outcome = given;
  // work that no message asked for has nobody whose outcome it is
  for (const { messageId, run } of [ticket, ...turn.joined])
    if (run === undefined) session.log.append({ kind: "outcome", messageId, outcome });
  try {
    await session.log.flush();
  } catch (error) {
    session.storeFailed(error);
    // an end that is not stored is not acknowledged; a cancelled turn is never an error (A47)
    if (outcome.stopReason !== "cancelled") outcome = { stopReason: "error", error: errorOf(unavailable()) };
  }
  try {
    showIdle(session, outcome);
  } catch (error) {
    outcome = failureOf(error, turn, session.link.log);
    showIdle(session, outcome);
  }
  session.link.saveActivity(session);
  // its last words may wait for the store, or for history to be sent: they come before the answer (A49)
  await session.shown;
  ticket.ended(outcome);
  for (const joined of turn.joined) joined.ended({ ...outcome, joined: true });
}

function showIdle(session: AgentSession, { stopReason, error, usage, meta }: Outcome): void {
  session.setState({
    state: "idle",
    stopReason: stopReason as "error", // an agent may have reasons of its own
    ...(error === undefined ? {} : { error: error as { code: number; message: string } }),
    ...(usage === undefined ? {} : { usage }),
    ...(meta === undefined ? {} : { _meta: meta }),
  });
}

function outcomeOf(end: TurnEnd, turn: Turn): Outcome {
  // a cancelled turn is cancelled, whatever its handler made of it (A47)
  if (turn.signal.aborted) return { stopReason: "cancelled" };
  const outcome = typeof end === "string" ? { stopReason: end } : (end ?? { stopReason: "end_turn" });
  if (typeof outcome.stopReason !== "string")
    throw new TypeError("a prompt handler must return nothing, a stop reason or an outcome");
  checkStopReason(outcome.stopReason);
  return outcome;
}

function failureOf(error: unknown, turn: Turn, log: AgentSession["link"]["log"]): Outcome {
  if (turn.signal.aborted) return { stopReason: "cancelled" };
  if (error instanceof RequestError) return { stopReason: "error", error: errorOf(error) };
  const correlationId = newId();
  log("error", "a prompt handler failed", { correlationId, error });
  const data = { reason: "internal_error", correlationId };
  return { stopReason: "error", error: { code: rpcCodes.internalError, message: "internal error", data } };
}

function errorOf({ code, message, data }: RequestError): NonNullable<Outcome["error"]> {
  return { code, message, ...(data === undefined ? {} : { data }) };
}
