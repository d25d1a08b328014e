// Implements a turn: sends what the handler says, and ends what it leaves open.

import { isObject, optional } from "../../../base/objects.ts";
import { argumentText } from "../../../jsonrpc/errors.ts";
import type { ElicitationRequest, ElicitationResponse, PermissionRequest } from "../../../model/ask.ts";
import type { ContentBlock, Cost, Meta, PlanEntry, Usage } from "../../../model/content.ts";
import { completeUpdate, type OutgoingCommand, type OutgoingUpdate } from "../../../model/outgoing.ts";
import type { SessionUpdates } from "../session/session-updates.ts";
import { DisplayTerminal, type DisplayTerminalOptions } from "./display-terminal.ts";
import { type Permission, Questions } from "./questions.ts";
import { Inbox, type ReceivedPrompt } from "./received-prompt.ts";
import { checkTool, ToolCall, type ToolCallStart, type ToolHost } from "./tool-call.ts";
import type { AgentSession, Turn } from "./turn.ts";
import { TurnClient } from "./turn-client.ts";

export class RunningTurn implements Turn, ToolHost {
  readonly session: AgentSession;
  readonly updates: SessionUpdates;
  readonly prompt: readonly ContentBlock[];
  readonly messageId: string;
  readonly _meta: Meta | undefined;
  readonly client: TurnClient;
  readonly inbox: Inbox;
  readonly questions: Questions;
  readonly announced = new Set<string>();
  /** Prompts that were taken from the inbox. */
  readonly joined: ReceivedPrompt[] = [];
  /** Its end has been reported. */
  isOver = false;
  hasReportedEnd = false;
  readonly #controller = new AbortController();
  readonly #tools = new Set<ToolCall>();
  readonly #terminals = new Set<DisplayTerminal>();
  #message: { kind: string; id: string } | undefined;
  #usage: Usage | undefined;

  constructor(
    session: AgentSession,
    updates: SessionUpdates,
    { prompt, messageId, _meta }: ReceivedPrompt,
    options: { readonly clientTimeoutMs: number | undefined; taken(prompt: ReceivedPrompt): void },
  ) {
    this.session = session;
    this.updates = updates;
    this.prompt = prompt;
    this.messageId = messageId;
    this._meta = _meta;
    this.inbox = new Inbox(options.taken);
    this.client = new TurnClient(updates, this.signal, options.clientTimeoutMs);
    this.questions = new Questions(updates, this.signal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get text(): string {
    return this.prompt.map((block) => (block.type === "text" ? block.text : "")).join("");
  }

  say(content: string | ContentBlock): Promise<void> | undefined {
    return this.#chunk("agent_message_chunk", content);
  }

  think(content: string | ContentBlock): Promise<void> | undefined {
    return this.#chunk("agent_thought_chunk", content);
  }

  plan(entries: readonly PlanEntry[], planId = "main"): Promise<void> | undefined {
    if (!Array.isArray(entries))
      throw new TypeError(`turn.plan: expected a list of all entries, got ${argumentText(entries)}`);
    return this.updates.update({
      sessionUpdate: "plan_update",
      plan: { type: "items", planId, entries: [...entries] },
    });
  }

  tool<Result>(start: ToolCallStart, run: (tool: ToolCall) => Promise<Result> | Result): Promise<Result> {
    const running = this.#tool(start, run);
    // its status says how it ended: a call that nobody awaits must not end the process
    running.catch(() => undefined);
    return running;
  }

  announce(start: Pick<ToolCallStart, "title" | "kind" | "name">): string {
    const toolCallId = this.updates.newId();
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
    const tool = new ToolCall(this, start);
    this.#tools.add(tool);
    try {
      return await tool.run(run);
    } finally {
      this.#tools.delete(tool);
    }
  }

  terminal(options: DisplayTerminalOptions = {}): DisplayTerminal {
    const terminal = new DisplayTerminal(this.updates, { ...options, cwd: options.cwd ?? this.session.cwd });
    this.#terminals.add(terminal);
    return terminal;
  }

  requestPermission(ask: string | PermissionRequest): Promise<Permission> {
    return this.questions.permission(typeof ask === "string" ? { title: ask, options: [] } : ask);
  }

  elicit(ask: ElicitationRequest): Promise<ElicitationResponse> {
    return this.questions.elicit(ask);
  }

  notice(
    severity: "info" | "warning" | "error",
    title: string,
    description?: string,
  ): Promise<void> | undefined {
    return this.updates.update({
      sessionUpdate: "notice",
      severity,
      title,
      ...optional({ description }),
    });
  }

  usage(usage: {
    readonly used: number;
    readonly size: number;
    readonly cost?: Cost;
  }): Promise<void> | undefined {
    return this.updates.update({ sessionUpdate: "usage_update", ...usage });
  }

  setTokens(usage: Usage): void {
    this.#usage = usage;
  }

  title(title: string): void {
    this.session.setTitle(title);
  }

  commands(commands: readonly OutgoingCommand[]): void {
    this.session.setAvailableCommands(commands);
  }

  update(update: OutgoingUpdate): Promise<void> | undefined {
    this.#message = undefined;
    return this.updates.update(completeUpdate(update));
  }

  cancel(): void {
    if (!this.signal.aborted) {
      this.#controller.abort(new DOMException("the turn was cancelled", "AbortError"));
    }
  }

  /** Ends whatever is still open, and returns the tokens that were reported. */
  async finish(): Promise<Usage | undefined> {
    this.questions.close();
    const status = this.signal.aborted ? "cancelled" : "failed";
    for (const toolCallId of this.announced)
      await this.updates.updateStored({ sessionUpdate: "tool_call_update", toolCallId, status });
    for (const tool of this.#tools) await tool.finish(status);
    for (const terminal of this.#terminals) terminal.close();
    this.client.close();
    return this.#usage;
  }

  #chunk(
    kind: "agent_message_chunk" | "agent_thought_chunk",
    content: string | ContentBlock,
  ): Promise<void> | undefined {
    if (this.#message?.kind !== kind) this.#message = { kind, id: this.updates.newId() };
    return this.updates.update({
      sessionUpdate: kind,
      messageId: this.#message.id,
      content: typeof content === "string" ? { type: "text", text: content } : checkedBlock(kind, content),
    });
  }
}

function checkedBlock(kind: string, content: ContentBlock): ContentBlock {
  if (isObject(content)) return content;
  const verb = kind === "agent_message_chunk" ? "say" : "think";
  throw new TypeError(`turn.${verb}: expected text or a content block, got ${argumentText(content)}`);
}
