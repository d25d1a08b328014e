// Runs and reports one tool call. Its status always ends, also when it throws or is cancelled.

import { isObject, optional } from "../../../base/objects.ts";
import { argumentText, RequestError, rpcCodes } from "../../../jsonrpc/errors.ts";
import type { PermissionOption, ToolCallLocation, ToolKind } from "../../../model/content.ts";
import { gitPatch } from "../../../model/git-patch.ts";
import type { Diff, OutgoingUpdate, ToolCallContent, ToolCallUpdate } from "../../../model/update.ts";
import type { SessionUpdates } from "../session/session-updates.ts";
import type { DisplayTerminal } from "./display-terminal.ts";
import type { Permission, Questions } from "./questions.ts";

/** Where a tool call runs: in a turn, or beside the conversation. */
export interface ToolHost {
  readonly updates: SessionUpdates;
  readonly questions: Questions;
  /** Aborts with the host. */
  readonly signal: AbortSignal;
  update(update: OutgoingUpdate): Promise<void> | undefined;
  /** The ids of calls that were announced and not run yet. */
  readonly announced?: Set<string>;
}

export interface ToolCallStart {
  /** As a user would say it. */
  readonly title: string;
  readonly kind?: ToolKind;
  /** The tool's programmatic name. */
  readonly name?: string;
  readonly locations?: readonly ToolCallLocation[];
  readonly rawInput?: unknown;
  readonly content?: readonly ToolCallContent[];
  /** Default: a new one. That of a call which was announced (`turn.announce`) goes on with it. */
  readonly toolCallId?: string;
  /** The user may cancel this call alone (v2): its `signal` aborts. Default false. */
  readonly cancellable?: boolean;
}

export class ToolCall {
  readonly toolCallId: string;
  readonly #host: ToolHost;
  readonly #isCancellable: boolean;
  #title: string;
  #content: ToolCallContent[];
  #own: AbortController | undefined;
  #signal: AbortSignal | undefined;
  #asks = 0;
  #started = false;
  #ended = false;

  /** @internal */
  constructor(host: ToolHost, start: ToolCallStart) {
    const { title, kind, name, locations, rawInput, content = [], cancellable = false } = start;
    const { updates } = host;
    this.#host = host;
    this.#isCancellable = cancellable;
    this.#title = title;
    this.#content = [...content];
    this.toolCallId = start.toolCallId ?? updates.newId();
    if (!host.announced?.has(this.toolCallId) && updates.work.isOpen("tool_call", this.toolCallId)) {
      const got = JSON.stringify(this.toolCallId);
      throw new TypeError(`a tool call with the id ${got} is running: leave toolCallId out, or take another`);
    }
    // a slow client is waited for by what the tool says next
    void this.update({
      title,
      status: "pending",
      ...optional({ kind, name, locations: locations && [...locations], rawInput }),
      ...(content.length === 0 ? {} : { content: [...content] }),
      ...(cancellable ? { capabilities: { cancel: {} } } : {}),
    });
    // one whose start was refused still ends with the turn
    host.announced?.delete(this.toolCallId);
    if (cancellable) updates.work.onCancel("tool_call", this.toolCallId, () => this.#cancelAlone());
  }

  /** Aborts when the call is cancelled: with its turn, or by itself. Pass it to everything that takes one. */
  get signal(): AbortSignal {
    if (!this.#isCancellable) return this.#host.signal;
    this.#own ??= new AbortController();
    this.#signal ??= AbortSignal.any([this.#host.signal, this.#own.signal]);
    return this.#signal;
  }

  get #isCancelled(): boolean {
    return this.#host.signal.aborted || this.#isCancelledAlone;
  }

  /** The user cancelled this call, and the work that it is part of goes on. */
  get #isCancelledAlone(): boolean {
    return this.#own?.signal.aborted === true && !this.#host.signal.aborted;
  }

  #cancelAlone(): void {
    this.#own ??= new AbortController();
    this.#own.abort(new DOMException("the tool call was cancelled", "AbortError"));
  }

  /** Reports that the work has begun. Called for you: when your function runs, or when the permission it asks for is given. */
  start(): void {
    if (this.#started || this.#ended) return;
    void this.update({ status: "in_progress" });
  }

  /** Changes any field. */
  update(patch: Omit<ToolCallUpdate, "toolCallId">): Promise<void> | undefined {
    // first: an update that is refused must change nothing here
    const sent = this.#host.update({
      sessionUpdate: "tool_call_update",
      toolCallId: this.toolCallId,
      ...patch,
    });
    const { status, title } = patch;
    if (status != null && status !== "pending") this.#started = true;
    if (status === "completed" || status === "failed" || status === "cancelled") this.#ended = true;
    if (title != null) this.#title = title;
    if (patch.content !== undefined) this.#content = [...(patch.content ?? [])];
    return sent;
  }

  /** Adds text, a content block, a diff or a terminal to what is shown. */
  add(content: string | ToolCallContent): Promise<void> | undefined {
    if (typeof content !== "string" && !isObject(content))
      throw new TypeError(`tool.add: expected text or content of a tool call, got ${argumentText(content)}`);
    this.start();
    const item: ToolCallContent =
      typeof content === "string" ? { type: "content", content: { type: "text", text: content } } : content;
    return this.update({ content: [...this.#content, item] });
  }

  /** Shows a change of one text file. `oldText` is absent for a new file. */
  diff(path: string, newText: string, oldText?: string): Promise<void> | undefined {
    return this.add({ type: "diff", ...textDiff(path, newText, oldText) });
  }

  terminal(terminal: Pick<DisplayTerminal, "terminalId">): Promise<void> | undefined {
    return this.add({ type: "terminal", terminalId: terminal.terminalId });
  }

  /** Asks for permission for this call, with what it shows so far. */
  async requestPermission(
    options: readonly PermissionOption[] = [],
    description?: string,
  ): Promise<Permission> {
    this.#asks++;
    try {
      const permission = await this.#host.questions.permission({
        title: this.#title,
        ...optional({ description }),
        subject: { type: "tool_call", toolCall: { toolCallId: this.toolCallId, content: this.#content } },
        options: [...options],
      });
      if (permission.allowed) this.start();
      return permission;
    } finally {
      this.#asks--;
    }
  }

  /** Ends the call: the end is stored, then shown. Later calls change nothing. */
  async finish(
    status: "completed" | "failed" | "cancelled",
    patch: Omit<ToolCallUpdate, "toolCallId" | "status"> = {},
  ): Promise<void> {
    if (this.#ended) return;
    if (status === "completed") this.start();
    const { toolCallId } = this;
    // a patch that is refused throws here, and the status can still end
    const stored = this.#host.updates.updateStored({
      sessionUpdate: "tool_call_update",
      toolCallId,
      ...patch,
      status,
      // a call that has ended cannot be cancelled (A109)
      ...(this.#isCancellable ? { capabilities: null } : {}),
    });
    this.#ended = true;
    await stored;
  }

  /** @internal Runs the call to its end, whatever the callback does. */
  async run<Result>(run: (tool: ToolCall) => Promise<Result> | Result): Promise<Result> {
    try {
      // stored before it starts: a call that is forgotten would be run again
      await this.#host.updates.log.flush();
      if (this.#isCancelled) this.signal.throwIfAborted();
      if (this.#ended) throw new Error("the turn ended before the tool call began: await turn.tool()");
      const running = run(this);
      // it runs, unless it waits for a permission
      if (this.#asks === 0) this.start();
      const result = await running;
      await this.finish(this.#isCancelled ? "cancelled" : "completed");
      return result;
    } catch (error) {
      await this.#fail(error);
      throw this.#isCancelledAlone
        ? new RequestError(rpcCodes.cancelled, "the user cancelled the tool call", {
            reason: "tool_cancelled",
          })
        : error;
    }
  }

  /** A failure is shown to the user, not sent as an error; never with a stack. */
  async #fail(error: unknown): Promise<void> {
    if (this.#isCancelled) return this.finish("cancelled");
    const message = error instanceof Error ? error.message : "the tool failed";
    const item: ToolCallContent = { type: "content", content: { type: "text", text: message } };
    try {
      await this.finish("failed", { content: [...this.#content, item] });
    } catch {
      // the message cannot be shown, whatever the tool put into it: the call ends all the same
      await this.finish("failed");
    }
  }
}

/** Checks the arguments before anything is shown. */
export function checkTool(where: string, start: unknown, run: unknown): void {
  if (!isObject(start))
    throw new TypeError(
      `${where}: expected an object such as { title: "Read it" }, got ${argumentText(start)}`,
    );
  if (typeof run !== "function")
    throw new TypeError(`${where}: expected a function that does the work, got ${argumentText(run)}`);
}

/** One file's change as both versions say it: version 1 by its texts, version 2 by a patch. */
export function textDiff(path: string, newText: string, oldText?: string): Diff {
  return {
    path,
    newText,
    ...optional({ oldText }),
    changes: [{ operation: oldText === undefined ? "add" : "modify", path, fileType: "text" }],
    patch: { format: "git_patch", text: gitPatch(path, oldText, newText) },
  };
}
