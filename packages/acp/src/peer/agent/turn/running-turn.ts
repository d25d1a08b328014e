// Implements a turn: sends what the handler says, and ends what it leaves open.

import { isObject, optional } from "../../../base/objects.ts";
import { argumentText } from "../../../jsonrpc/errors.ts";
import type { ContentBlock, Meta } from "../../../model/content.ts";
import { textOf } from "../../../model/content-text.ts";
import type { Author } from "../../../model/entry.ts";
import { completeUpdate } from "../../../model/outgoing.ts";
import type { SessionUpdate } from "../../../model/update.ts";
import { type SessionUpdates, sentAtOnce } from "../session/session-updates.ts";
import { Questions } from "./questions.ts";
import { PromptInbox, type ReceivedPrompt } from "./received-prompt.ts";
import { checkTool, RunningToolCall, type ToolHost } from "./running-tool-call.ts";
import { ShownTerminal } from "./shown-terminal.ts";
import type { RunTool, ToolCallStart } from "./tool-call.ts";
import type { AgentSession, Turn } from "./turn.ts";
import { type ServedTurnClient, turnClient } from "./turn-client.ts";
import { type TurnSuccessor, turnSuccessor } from "./turn-successor.ts";

export interface TurnOptions {
  readonly clientTimeoutMs: number | undefined;
  /** Whether the client gets the message of an Error that the handler throws. */
  readonly exposesErrors: boolean;
}

/** What a handler calls works without its turn too, as after `prompt: async ({ say, text }) => …`. */
export class RunningTurn implements Turn, ToolHost {
  readonly session: AgentSession;
  readonly updates: SessionUpdates;
  readonly prompt: readonly ContentBlock[];
  readonly messageId: string;
  readonly _meta: Meta | undefined;
  readonly author: Author | undefined;
  readonly inbox: PromptInbox;
  readonly exposesErrors: boolean;
  readonly announced = new Set<string>();
  readonly denials = new Set<unknown>();
  /** Prompts that were taken from the inbox. */
  readonly joined: ReceivedPrompt[] = [];
  /** Its handler has returned or thrown, or was given up: it says nothing more. */
  hasEnded = false;
  /** Its end has been reported. */
  isOver = false;
  hasReportedEnd = false;
  /** It was ended without its handler, which still runs. */
  isAbandoned = false;
  /** When it was cancelled, by `performance.now()`. */
  cancelledAt: number | undefined;
  readonly #controller = new AbortController();
  readonly #tools = new Set<RunningToolCall>();
  readonly #terminals = new Set<ShownTerminal>();
  readonly #clientTimeoutMs: number | undefined;
  /** Made when they are used: most turns need neither. */
  #client: ServedTurnClient | undefined;
  #questions: Questions | undefined;
  #message: { kind: string; id: string } | undefined;

  constructor(
    session: AgentSession,
    updates: SessionUpdates,
    { prompt, messageId, _meta }: ReceivedPrompt,
    options: TurnOptions & {
      readonly author: Author | undefined;
      taken(prompt: ReceivedPrompt): void;
    },
  ) {
    this.session = session;
    this.updates = updates;
    this.prompt = prompt;
    this.messageId = messageId;
    this._meta = _meta;
    this.author = options.author;
    this.exposesErrors = options.exposesErrors;
    this.inbox = new PromptInbox(options.taken);
    this.#clientTimeoutMs = options.clientTimeoutMs;
  }

  get client(): ServedTurnClient {
    this.#client ??= turnClient(this.updates, this.signal, this.#clientTimeoutMs);
    return this.#client;
  }

  get questions(): Questions {
    this.#questions ??= new Questions(this.updates, this.signal);
    return this.#questions;
  }

  get successor(): TurnSuccessor | undefined {
    const { successor } = this.updates.sender;
    return successor && turnSuccessor(successor, this);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get cwd(): string {
    return this.session.cwd;
  }

  get text(): string {
    return textOf(this.prompt);
  }

  readonly say: Turn["say"] = (content) => {
    if (this.hasEnded) return this.#late("turn.say");
    return this.#chunk("agent_message_chunk", content);
  };

  readonly think: Turn["think"] = (content) => {
    if (this.hasEnded) return this.#late("turn.think");
    return this.#chunk("agent_thought_chunk", content);
  };

  readonly plan: Turn["plan"] = (entries, planId = "main") => {
    if (this.hasEnded) return this.#late("turn.plan");
    if (!Array.isArray(entries))
      throw new TypeError(`turn.plan: expected a list of all entries, got ${argumentText(entries)}`);
    return this.#show({
      sessionUpdate: "plan_update",
      plan: { type: "items", planId, entries: [...entries] },
    });
  };

  readonly tool: Turn["tool"] = (start, run) => {
    if (this.hasEnded) return this.#late("turn.tool");
    checkTool("turn.tool", start, run);
    const running = this.#tool(start, run);
    // its status says how it ended: a call that nobody awaits must not end the process
    running.catch(() => undefined);
    return running;
  };

  readonly announce: Turn["announce"] = ({ title, kind, name }) => {
    this.checkOpen("turn.announce");
    const toolCallId = this.updates.newId();
    const shown = { title, ...optional({ kind, name }) };
    void this.send({ sessionUpdate: "tool_call_update", toolCallId, ...shown, status: "pending" });
    this.announced.add(toolCallId);
    return toolCallId;
  };

  async #tool<Result>(start: ToolCallStart, run: RunTool<Result>): Promise<Result> {
    const tool = new RunningToolCall(this, start);
    this.#tools.add(tool);
    try {
      return await tool.run(run);
    } finally {
      this.#tools.delete(tool);
    }
  }

  readonly terminal: Turn["terminal"] = (options = {}) => {
    this.checkOpen("turn.terminal");
    const terminal = new ShownTerminal(this.updates, { ...options, cwd: options.cwd ?? this.cwd });
    this.#terminals.add(terminal);
    return terminal;
  };

  readonly requestPermission: Turn["requestPermission"] = (question) => {
    if (this.hasEnded) return this.#late("turn.requestPermission");
    return handled(this.questions.permission(typeof question === "string" ? { title: question } : question));
  };

  readonly elicit: Turn["elicit"] = (request) => {
    if (this.hasEnded) return this.#late("turn.elicit");
    return handled(this.questions.elicit(request));
  };

  readonly notice: Turn["notice"] = (severity, title, description) => {
    if (this.hasEnded) return this.#late("turn.notice");
    return this.#show({
      sessionUpdate: "notice",
      severity,
      title,
      ...optional({ description }),
    });
  };

  readonly usage: Turn["usage"] = (usage) => {
    if (this.hasEnded) return this.#late("turn.usage");
    return this.#show({ sessionUpdate: "usage_update", ...usage });
  };

  readonly update: Turn["update"] = (update) => {
    if (this.hasEnded) return this.#late("turn.update");
    return this.send(completeUpdate(update));
  };

  /** Sends an update that ends the message before it. */
  send(update: SessionUpdate): Promise<void> {
    this.#message = undefined;
    return this.#show(update);
  }

  checkOpen(method: string): void {
    if (this.hasEnded) throw turnEnded(method);
  }

  #late(method: string): Promise<never> {
    return this.updates.late(turnEnded(method));
  }

  cancel(): void {
    if (!this.signal.aborted) {
      this.cancelledAt = performance.now();
      this.#controller.abort(new DOMException("the turn was cancelled", "AbortError"));
    }
  }

  /** Ends whatever is still open. A handler that returned should have awaited it. */
  async finish({ hasReturned }: { readonly hasReturned: boolean }): Promise<void> {
    const isCancelled = this.signal.aborted;
    const tools = [...this.#tools].filter((tool) => !tool.hasEnded);
    const isLeft = hasReturned && !isCancelled;
    if (isLeft && tools.length > 0) this.updates.warnOnce(leftTool);
    else if (isLeft && this.#questions?.isOpen) this.updates.warnOnce(leftQuestion);
    this.questions.close();
    const status = isCancelled ? "cancelled" : "failed";
    for (const toolCallId of this.announced)
      await this.updates.updateStored({ sessionUpdate: "tool_call_update", toolCallId, status });
    for (const tool of tools) await tool.leave(isLeft ? leftTool : undefined);
    for (const terminal of this.#terminals) terminal.leave({ isCancelled });
    this.client.close();
  }

  #show(update: SessionUpdate): Promise<void> {
    return this.updates.update(update) ?? sentAtOnce;
  }

  #chunk(kind: "agent_message_chunk" | "agent_thought_chunk", content: string | ContentBlock): Promise<void> {
    if (this.#message?.kind !== kind) this.#message = { kind, id: this.updates.newId() };
    return this.#show({
      sessionUpdate: kind,
      messageId: this.#message.id,
      content: typeof content === "string" ? { type: "text", text: content } : checkedBlock(kind, content),
    });
  }
}

/** A question that nobody awaits yet must not end the process when the client answers with an error. */
function handled<Answer>(asking: Promise<Answer>): Promise<Answer> {
  asking.catch(() => undefined);
  return asking;
}

const leftTool = "the turn ended while this tool call was open: await turn.tool()";
const leftQuestion =
  "the turn ended while a question was open: await turn.requestPermission() and turn.elicit()";

function turnEnded(method: string): Error {
  const awaited = method.startsWith("tool.") ? "turn.tool" : method;
  return new Error(
    `the turn has ended: ${method}() has no effect; await ${awaited}() before the prompt handler returns, or use session.update() or session.runTurn()`,
  );
}

function checkedBlock(kind: string, content: ContentBlock): ContentBlock {
  if (isObject(content)) return content;
  const verb = kind === "agent_message_chunk" ? "say" : "think";
  throw new TypeError(`turn.${verb}: expected text or a content block, got ${argumentText(content)}`);
}
