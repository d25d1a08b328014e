// Tracks the tool calls, terminals and compactions of a session: what may be sent about them, what the client may
// cancel, and what may be listed as background work.

import { RequestError } from "../../../jsonrpc/errors.ts";
import { beginsToolCall, finalStatuses } from "../../../log/interrupted-entries.ts";
import type { BackgroundWork } from "../../../model/content.ts";
import type { SessionUpdate, ToolCallContent, UpdateOf } from "../../../model/update.ts";
import { checkCommands, checkOptions } from "./output-rules.ts";

export type PartKind = "tool_call" | "terminal";

interface Part {
  name?: string;
  isCancellable: boolean;
  /** Called by a cancel. Absent for what the agent reported by an update of its own. */
  cancel?: () => void;
}

export class AnnouncedWork {
  readonly #open: Record<PartKind, Map<string, Part>> = { tool_call: new Map(), terminal: new Map() };
  /** Their ids are never used again. */
  readonly #exited = new Set<string>();
  /** Terminals of the client that have been released, and those that a tool call shows. */
  readonly #released = new Set<string>();
  readonly #shown = new Set<string>();
  readonly #compactions = new Map<string, string>();
  readonly #subagents = new Set<string>();
  /** The whole list, once it has been reported. */
  background: readonly BackgroundWork[] | undefined;

  /** Everything that was announced has ended. */
  get isSettled(): boolean {
    const { tool_call, terminal } = this.#open;
    if (tool_call.size > 0 || terminal.size > 0) return false;
    return [...this.#compactions.values()].every((status) => finalStatuses.has(status));
  }

  /** The part of the list that has not ended. */
  get runningBackground(): readonly BackgroundWork[] {
    return (this.background ?? []).filter((item) => this.#isRunning(item));
  }

  /** Throws a TypeError for what breaks a rule; changes nothing. */
  check(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case "tool_call_update":
        this.#checkTool(update);
        return this.#checkContent(update.content ?? []);
      case "tool_call_content_chunk":
        return this.#checkContent([update.content]);
      case "terminal_update":
        if (update.output != null) checkBase64(update.output.data);
        return this.#checkTerminal(update);
      case "terminal_output_chunk":
        return checkBase64(update.data);
      case "config_option_update":
        return checkOptions(update.configOptions);
      case "available_commands_update":
        return checkCommands(update.availableCommands);
      case "compaction_update":
        return this.#checkCompaction(update);
      case "compaction_summary_chunk": // A105
        if (this.#compactions.get(update.compactionId) === "in_progress") return;
        throw new TypeError("a summary grows only after its compaction_update with status in_progress");
      case "state_update":
        // the library reports it: what runs, what waits and what ended follow from turns (A57-A62, A67)
        throw new TypeError(
          "a state cannot be sent: the library derives it from turns; use session.runTurn() for work without a prompt, " +
            "session.runInBackground() for background work",
        );
      default:
    }
  }

  /** Takes note of an update that was sent. */
  apply(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case "tool_call_update": {
        for (const item of update.content ?? []) this.#show(item);
        if (finalStatuses.has(update.status)) return void this.#open.tool_call.delete(update.toolCallId);
        let part = this.#open.tool_call.get(update.toolCallId);
        if (part === undefined) {
          // a late update of a call that has ended does not begin it again
          if (!beginsToolCall(update)) return;
          part = { isCancellable: false };
          this.#open.tool_call.set(update.toolCallId, part);
        }
        if (update.name != null) part.name = update.name;
        if (update.capabilities !== undefined) part.isCancellable = update.capabilities?.cancel != null;
        return;
      }
      case "tool_call_content_chunk":
        return this.#show(update.content);
      case "terminal_update": {
        if (this.#exited.has(update.terminalId)) return;
        const part = this.#part("terminal", update.terminalId);
        if (update.capabilities !== undefined) part.isCancellable = update.capabilities?.cancel != null;
        if (update.exitStatus == null) return;
        this.#open.terminal.delete(update.terminalId);
        this.#exited.add(update.terminalId);
        return;
      }
      case "compaction_update":
        this.#compactions.set(update.compactionId, update.status);
        return;
      case "subagent_update":
        this.#subagents.add(update.sessionId);
        return;
      default:
    }
  }

  isOpen(kind: PartKind, id: string): boolean {
    return this.#open[kind].has(id);
  }

  /** Sets what a cancel calls. */
  onCancel(kind: PartKind, id: string, cancel: () => void): void {
    this.#part(kind, id).cancel = cancel;
  }

  /** Cancels it. Throws -32602 where it is unknown, over or not cancellable. */
  cancel(kind: PartKind, id: string): void {
    const part = this.#open[kind].get(id);
    const field = kind === "tool_call" ? "toolCallId" : "terminalId";
    const refuse = (message: string) =>
      new RequestError("invalid_params", message, { data: { reason: "not_cancellable", path: `/${field}` } });
    if (part === undefined) throw refuse("it is unknown, or has ended");
    if (!part.isCancellable || part.cancel === undefined) throw refuse("it cannot be cancelled");
    part.cancel();
  }

  /** Throws unless what is listed has been announced, and what is no longer listed has ended. */
  setBackground(work: readonly BackgroundWork[]): void {
    for (const item of work) {
      if (!this.#isRunning(item))
        throw new TypeError(
          `background work must be announced before it is listed, got ${JSON.stringify(item)}`,
        );
    }
    const listed = new Set(work.map(keyOf));
    for (const item of this.background ?? []) {
      if (listed.has(keyOf(item)) || !this.#isRunning(item) || item.type === "subagent") continue;
      throw new TypeError(`background work must end before it leaves the list, got ${JSON.stringify(item)}`);
    }
    this.background = [...work];
  }

  /** A terminal of the client has been released. */
  released(terminalId: string): void {
    if (!this.#shown.has(terminalId)) this.#released.add(terminalId);
  }

  #part(kind: PartKind, id: string): Part {
    let part = this.#open[kind].get(id);
    if (part === undefined) {
      part = { isCancellable: false };
      this.#open[kind].set(id, part);
    }
    return part;
  }

  #isRunning(item: BackgroundWork): boolean {
    if (item.type === "tool_call") return this.isOpen("tool_call", String(item.toolCallId));
    if (item.type === "terminal") return this.isOpen("terminal", String(item.terminalId));
    return item.type !== "subagent" || this.#subagents.has(String(item.sessionId));
  }

  #checkTool({ toolCallId, name }: UpdateOf<"tool_call_update">): void {
    if (name == null) return;
    const known = this.#open.tool_call.get(toolCallId)?.name;
    if (known === undefined || name === known) return;
    throw new TypeError(
      `the name of a tool call does not change, got ${JSON.stringify(name)} after "${known}"`,
    );
  }

  /** A client shows nothing for a terminal that was released. */
  #checkContent(content: readonly ToolCallContent[]): void {
    for (const item of content) {
      if (item.type === "terminal" && this.#released.has(String(item.terminalId)))
        throw new TypeError("a terminal must be attached to its tool call before it is released");
    }
  }

  #show(item: ToolCallContent): void {
    if (item.type === "terminal") this.#shown.add(String(item.terminalId));
  }

  /** Output may come late, but a new command needs a new terminal. */
  #checkTerminal({ terminalId, command }: UpdateOf<"terminal_update">): void {
    if (command == null || !this.#exited.has(terminalId)) return;
    throw new TypeError(
      `the terminal ${JSON.stringify(terminalId)} has exited: another one needs another id`,
    );
  }

  /** One final status, and only what belongs to it. */
  #checkCompaction(update: UpdateOf<"compaction_update">): void {
    const { compactionId, status, summary, error } = update;
    const before = this.#compactions.get(compactionId);
    if (finalStatuses.has(before))
      throw new TypeError(`the compaction ended as ${before}: it has one final status`);
    if (summary != null && status !== "completed")
      throw new TypeError(`a compaction has a summary only when it is completed, got ${status}`);
    if (error != null && status !== "failed")
      throw new TypeError(`a compaction has an error only when it failed, got ${status}`);
  }
}

function keyOf(item: BackgroundWork): string {
  if (item.type === "tool_call") return `tool_call ${String(item.toolCallId)}`;
  if (item.type === "terminal") return `terminal ${String(item.terminalId)}`;
  return `${String(item.type)} ${JSON.stringify(item)}`;
}

/** Output is bytes, which need not be text. */
function checkBase64(data: string): void {
  if (data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data)) return;
  const got = JSON.stringify(data.length > 40 ? `${data.slice(0, 40)}…` : data);
  throw new TypeError(`the output of a terminal must be base64, got ${got}: use terminal.write()`);
}
