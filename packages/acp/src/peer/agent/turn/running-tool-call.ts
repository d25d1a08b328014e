// Runs and reports one tool call. Its status always ends, also when it throws or is cancelled.

import { checkOptions, type Keys } from "../../../base/known-options.ts";
import { isObject, optional } from "../../../base/objects.ts";
import { toolCallStartKeys } from "../../../base/option-keys.gen.ts";
import { argumentText, RequestError, readableThrown } from "../../../jsonrpc/errors.ts";
import { finalStatuses } from "../../../log/interrupted-entries.ts";
import type { PermissionOption } from "../../../model/content.ts";
import { textDiff } from "../../../model/git-patch.ts";
import type { SessionUpdate, ToolCallContent, ToolCallUpdate } from "../../../model/update.ts";
import type { SessionUpdates } from "../session/session-updates.ts";
import type { Questions } from "./questions.ts";
import { ShownTerminal } from "./shown-terminal.ts";
import type { PermissionOptions, RunTool, ToolCallHandle, ToolCallStart } from "./tool-call.ts";

/** Where a tool call runs: in a turn, or beside the conversation. */
export interface ToolHost {
  readonly updates: SessionUpdates;
  readonly questions: Questions;
  /** Aborts with the host. */
  readonly signal: AbortSignal;
  readonly cwd: string;
  /** Throws when the turn or the session is over. */
  checkOpen(method: string): void;
  send(update: SessionUpdate): Promise<void>;
  /** The ids of calls that were announced and not run yet. */
  readonly announced?: Set<string>;
  /** What calls rejected with because the user did not allow them. */
  readonly denials?: Set<unknown>;
}

/** What its function calls works without the call too, as after `async ({ add, signal }) => …`. */
export class RunningToolCall implements ToolCallHandle {
  readonly toolCallId: string;
  readonly #host: ToolHost;
  readonly #isCancellable: boolean;
  readonly #parent: ToolCallHandle | undefined;
  readonly #permission: PermissionOptions | undefined;
  #title: string;
  #content: ToolCallContent[];
  #terminals: ShownTerminal[] | undefined;
  #own: AbortController | undefined;
  #signal: AbortSignal | undefined;
  #asks = 0;
  #started = false;
  /** Content is shown before the work began: it may be what the user is asked about. */
  #proposes = false;
  #denial: RequestError | undefined;
  hasEnded = false;

  constructor(host: ToolHost, start: ToolCallStart) {
    const { title, kind, name, locations, rawInput, content = [], cancellable = false, parent } = start;
    const { updates } = host;
    this.#host = host;
    this.#isCancellable = cancellable;
    this.#parent = parent;
    // false and undefined: none
    this.#permission = start.permission === true ? {} : start.permission || undefined;
    this.#title = title;
    this.#content = [...content];
    this.toolCallId = start.toolCallId ?? updates.newId();
    if (!host.announced?.has(this.toolCallId) && updates.work.isOpen("tool_call", this.toolCallId)) {
      const got = JSON.stringify(this.toolCallId);
      throw new TypeError(`a tool call with the id ${got} is running: omit toolCallId, or use another id`);
    }
    // a slow client is waited for by what the tool says next
    void this.#send({
      title,
      status: "pending",
      ...optional({ kind, name, locations: locations && [...locations], rawInput }),
      ...(content.length === 0 ? {} : { content: [...content] }),
      ...(cancellable ? { capabilities: { cancel: {} } } : {}),
      // the protocol has no field for a parent; claude-agent-acp and its clients know this one
      ...optional({
        _meta: parent ? { ...start._meta, claudeCode: { parentToolUseId: parent.toolCallId } } : start._meta,
      }),
    });
    // one whose start was refused still ends with the turn
    host.announced?.delete(this.toolCallId);
    if (cancellable) updates.work.onCancel("tool_call", this.toolCallId, () => this.#cancelAlone());
  }

  get signal(): AbortSignal {
    const above = this.#parent?.signal ?? this.#host.signal;
    if (!this.#isCancellable) return above;
    this.#own ??= new AbortController();
    this.#signal ??= AbortSignal.any([above, this.#own.signal]);
    return this.#signal;
  }

  readonly start: ToolCallHandle["start"] = () => {
    this.#host.checkOpen("tool.start");
    this.#begin();
  };

  readonly update: ToolCallHandle["update"] = (patch) => {
    const late = this.#late("tool.update");
    if (late !== undefined) return late;
    return this.#send(patch);
  };

  readonly add: ToolCallHandle["add"] = (content) => {
    const late = this.#late("tool.add");
    if (late !== undefined) return late;
    if (typeof content !== "string" && !isObject(content))
      throw new TypeError(`tool.add: expected text or content of a tool call, got ${argumentText(content)}`);
    const item = typeof content === "string" ? textItem(content) : content;
    // one text may be what the user is asked about; more are output of work that runs
    if (item.type === "diff" || (item.type === "content" && !this.#proposes)) this.#propose();
    else this.#begin();
    return this.#append(item);
  };

  readonly diff: ToolCallHandle["diff"] = (change) => {
    const late = this.#late("tool.diff");
    if (late !== undefined) return late;
    const item: ToolCallContent = { type: "diff", ...textDiff(checkedChange(change)) };
    this.#propose();
    return this.#append(item);
  };

  readonly terminal: ToolCallHandle["terminal"] = (options = {}) => {
    this.#host.checkOpen("tool.terminal");
    const given: object = options;
    if (!isObject(given) || "terminalId" in given)
      throw new TypeError(
        'tool.terminal: this creates a new terminal; to show an existing one, use tool.add({ type: "terminal", terminalId })',
      );
    const { updates, cwd } = this.#host;
    const terminal = new ShownTerminal(updates, { ...options, cwd: options.cwd ?? cwd });
    this.#terminals ??= [];
    this.#terminals.push(terminal);
    void this.add({ type: "terminal", terminalId: terminal.terminalId });
    return terminal;
  };

  readonly requestPermission: ToolCallHandle["requestPermission"] = (options = {}) => {
    const late = this.#late("tool.requestPermission");
    if (late !== undefined) return late;
    if (!isObject(options))
      throw new TypeError(
        `tool.requestPermission: expected an object such as { description }, got ${argumentText(options)}`,
      );
    return this.#ask(options);
  };

  readonly finish: ToolCallHandle["finish"] = (status, patch = {}) => {
    const late = this.#late("tool.finish");
    if (late !== undefined) return late;
    return this.#end(status, patch);
  };

  /** Runs the call to its end, whatever the function does. */
  async run<Result>(run: RunTool<Result>): Promise<Result> {
    try {
      // stored before it starts: a call that is forgotten would be run again
      await this.#host.updates.log.flush();
      this.#checkRunnable();
      if (this.#permission !== undefined) await this.#demand(this.#permission);
      const running = run(this);
      // it runs, unless it waits for a permission
      if (this.#asks === 0 && !this.#proposes) this.#begin();
      const result = await running;
      await this.#end(this.#isCancelled ? "cancelled" : "completed");
      return result;
    } catch (error) {
      await this.#fail(error);
      throw this.#isCancelledAlone
        ? new RequestError("cancelled", "the user cancelled the tool call", {
            data: { reason: "tool_cancelled" },
          })
        : error;
    }
  }

  /** Ends a call that its turn leaves behind. */
  leave(problem: string | undefined): Promise<void> {
    if (problem !== undefined) return this.#fail(new Error(problem));
    return this.#end(this.#isCancelled ? "cancelled" : "failed");
  }

  /** The rejection of a call that comes after the turn. One after the end of this call alone is sent, and logged. */
  #late(method: string): Promise<never> | undefined {
    const { updates } = this.#host;
    try {
      this.#host.checkOpen(method);
    } catch (error) {
      return updates.late(error as Error); // what it throws
    }
    if (this.hasEnded && method !== "tool.finish")
      updates.warnOnce(
        `${method}() was called after the tool call had ended, so clients see a change of an ended call: await everything in the function of turn.tool(), and call tool.finish() last`,
      );
    return undefined;
  }

  get #isCancelled(): boolean {
    return this.#host.signal.aborted || this.#isCancelledAlone;
  }

  /** The user cancelled this call or the one that it is part of, and the turn goes on. */
  get #isCancelledAlone(): boolean {
    const isCancelled = this.#own?.signal.aborted === true || this.#parent?.signal.aborted === true;
    return isCancelled && !this.#host.signal.aborted;
  }

  #cancelAlone(): void {
    this.#own ??= new AbortController();
    this.#own.abort(new DOMException("the tool call was cancelled", "AbortError"));
  }

  #checkRunnable(): void {
    if (this.#isCancelled) this.signal.throwIfAborted();
    if (this.hasEnded) throw new Error("the turn ended before the tool call began: await turn.tool()");
  }

  #begin(): void {
    if (!this.#started && !this.hasEnded) void this.#send({ status: "in_progress" });
  }

  #propose(): void {
    this.#proposes ||= !this.#started;
  }

  #append(item: ToolCallContent): Promise<void> {
    return this.#send({ content: [...this.#content, item] });
  }

  #send(patch: Omit<ToolCallUpdate, "toolCallId">): Promise<void> {
    // first: an update that is refused must change nothing here
    const sent = this.#host.send({
      sessionUpdate: "tool_call_update",
      toolCallId: this.toolCallId,
      ...patch,
    });
    const { status, title } = patch;
    if (status != null) this.#started = status !== "pending";
    if (finalStatuses.has(status)) this.hasEnded = true;
    if (title != null) this.#title = title;
    if (patch.content !== undefined) this.#content = [...(patch.content ?? [])];
    return sent;
  }

  /** Asks for the permission that the call was started with. Anything but a yes throws. */
  async #demand(permission: PermissionOptions): Promise<void> {
    let option: PermissionOption | undefined;
    try {
      option = await this.#ask(permission);
    } catch (error) {
      this.#checkRunnable();
      // the client answered with an error, which is not a yes
      if (!(error instanceof RequestError) || error.method === undefined) throw error;
      const message = `it was not run: the user could not be asked (${error.message})`;
      throw new RequestError("unavailable", message, { data: { reason: "unavailable" } });
    }
    // a cancel while the question was open counts, whatever the answer was
    this.#checkRunnable();
    if (option !== undefined) return;
    this.#denial = RequestError.permissionDenied("this tool call was not allowed");
    this.#host.denials?.add(this.#denial);
    throw this.#denial;
  }

  async #ask({ options, description, onAnswer }: PermissionOptions): Promise<PermissionOption | undefined> {
    this.#asks++;
    // a call that waits for the user does not run
    if (this.#started && !this.hasEnded) void this.#send({ status: "pending" });
    try {
      const question = {
        title: this.#title,
        subject: {
          type: "tool_call" as const,
          toolCall: { toolCallId: this.toolCallId, content: this.#content },
        },
        ...optional({ options, description, onAnswer }),
      };
      const option = await this.#host.questions.permission(question, this.signal);
      if (option !== undefined) this.#begin();
      return option;
    } finally {
      this.#asks--;
    }
  }

  async #end(
    status: "completed" | "failed" | "cancelled",
    patch: Omit<ToolCallUpdate, "toolCallId" | "status"> = {},
  ): Promise<void> {
    if (this.hasEnded) return;
    if (status === "completed") this.#begin();
    for (const terminal of this.#terminals ?? []) terminal.leave({ isCancelled: this.#isCancelled });
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
    this.hasEnded = true;
    await stored;
  }

  /** A failure is shown to the user, not sent as an error; never with a stack. */
  async #fail(error: unknown): Promise<void> {
    if (this.#isCancelled) return this.#end("cancelled");
    const status = error === this.#denial ? "cancelled" : "failed";
    const shown = readableThrown(error);
    const message = shown instanceof Error ? shown.message : "the tool failed";
    try {
      await this.#end(status, { content: [...this.#content, textItem(message)] });
    } catch {
      // the message cannot be shown, whatever the tool put into it: the call ends all the same
      await this.#end(status);
    }
  }
}

function textItem(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

type TextChange = Parameters<typeof textDiff>[0];

function checkedChange(change: TextChange): TextChange {
  const { path, oldText, newText } = isObject(change) ? (change as TextChange) : {};
  const isRight =
    typeof path === "string" &&
    typeof newText === "string" &&
    (oldText === undefined || typeof oldText === "string");
  if (isRight) return change;
  const got = isObject(change) ? "an object whose fields are not all texts" : argumentText(change);
  throw new TypeError(`tool.diff: expected { path, oldText, newText }, got ${got}`);
}

const permissionKeys: Keys<PermissionOptions> = { options: true, description: true, onAnswer: true };
/** Checks the arguments before anything is shown. */
export function checkTool(where: string, start: unknown, run: unknown): void {
  if (!isObject(start))
    throw new TypeError(
      `${where}: expected an object such as { title: "Read it" }, got ${argumentText(start)}`,
    );
  if (typeof run !== "function")
    throw new TypeError(`${where}: expected a function that does the work, got ${argumentText(run)}`);
  // a misspelt `permission` must not run the call without asking
  checkOptions(where, start, toolCallStartKeys);
  const { permission, parent } = start;
  if (parent !== undefined && !(isObject(parent) && parent["signal"] instanceof AbortSignal))
    throw new TypeError(`${where}: parent must be a running tool call, got ${argumentText(parent)}`);
  if (permission !== undefined && typeof permission !== "boolean" && !isObject(permission))
    throw new TypeError(
      `${where}: permission must be true, false or an object with options, got ${argumentText(permission)}`,
    );
  if (isObject(permission)) checkOptions(`${where}: permission`, permission, permissionKeys);
}
