// One tool call while it runs. Its status always ends, also on a throw and on cancel.

import type { PermissionOption, ToolCallLocation, ToolKind } from "../model/content.ts";
import { gitPatch } from "../model/git-patch.ts";
import type { Diff, ToolCallContent, ToolCallUpdate } from "../model/update.ts";
import type { DisplayTerminal } from "./display-terminal.ts";
import type { Permission, Questions } from "./questions.ts";
import type { Turn } from "./turn.ts";

export interface ToolCallStart {
  /** As a user would say it. */
  readonly title: string;
  readonly kind?: ToolKind;
  /** The tool's programmatic name. */
  readonly name?: string;
  readonly locations?: readonly ToolCallLocation[];
  readonly rawInput?: unknown;
  readonly content?: readonly ToolCallContent[];
  /** Default: a new one. */
  readonly toolCallId?: string;
}

export class ToolCall {
  readonly toolCallId: string;
  readonly #turn: Turn;
  readonly #questions: Questions;
  #title: string;
  #content: ToolCallContent[];
  #started = false;
  #ended = false;

  /** @internal */
  constructor(turn: Turn, start: ToolCallStart, questions: Questions) {
    const { title, kind, name, locations, rawInput, content = [] } = start;
    this.#turn = turn;
    this.#questions = questions;
    this.#title = title;
    this.#content = [...content];
    this.toolCallId = start.toolCallId ?? turn.session.newId();
    // a slow client is waited for by what the tool says next
    void this.update({
      title,
      status: "pending",
      ...(kind === undefined ? {} : { kind }),
      ...(name === undefined ? {} : { name }),
      ...(locations === undefined ? {} : { locations: [...locations] }),
      ...(rawInput === undefined ? {} : { rawInput }),
      ...(content.length === 0 ? {} : { content: [...content] }),
    });
  }

  /** The work has begun. Called for you by the first content, and by the end. */
  start(): void {
    if (this.#started || this.#ended) return;
    this.#started = true;
    void this.update({ status: "in_progress" });
  }

  /** Changes any field. */
  update(patch: Omit<ToolCallUpdate, "toolCallId">): Promise<void> | undefined {
    const { status, title } = patch;
    if (status != null && status !== "pending") this.#started = true;
    if (status === "completed" || status === "failed" || status === "cancelled") this.#ended = true;
    if (title != null) this.#title = title;
    if (patch.content !== undefined) this.#content = [...(patch.content ?? [])];
    return this.#turn.update({ sessionUpdate: "tool_call_update", toolCallId: this.toolCallId, ...patch });
  }

  /** Adds text, a content block, a diff or a terminal to what is shown. */
  add(content: string | ToolCallContent): Promise<void> | undefined {
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
  ask(options: readonly PermissionOption[] = [], description?: string): Promise<Permission> {
    return this.#questions.permission({
      title: this.#title,
      ...(description === undefined ? {} : { description }),
      subject: { type: "tool_call", toolCall: { toolCallId: this.toolCallId, content: this.#content } },
      options: [...options],
    });
  }

  /** Ends it: stored first, then shown. Later calls change nothing. */
  async finish(
    status: "completed" | "failed" | "cancelled",
    patch: Omit<ToolCallUpdate, "toolCallId" | "status"> = {},
  ): Promise<void> {
    if (this.#ended) return;
    if (status === "completed") this.start();
    const { toolCallId } = this;
    const stored = this.#turn.session.updateStored({
      sessionUpdate: "tool_call_update",
      toolCallId,
      ...patch,
      status,
    });
    this.#ended = true;
    try {
      await stored;
    } catch (error) {
      // a patch that is not valid: the status can still end
      this.#ended = false;
      throw error;
    }
  }

  /** @internal A failure is shown, not thrown at the client (A113); never with a stack. */
  fail(error: unknown, cancelled: boolean): Promise<void> {
    if (cancelled) return this.finish("cancelled");
    const message = error instanceof Error ? error.message : "the tool failed";
    const item: ToolCallContent = { type: "content", content: { type: "text", text: message } };
    return this.finish("failed", { content: [...this.#content, item] });
  }
}

/** One file's change as both versions say it: version 1 by its texts, version 2 by a patch. */
export function textDiff(path: string, newText: string, oldText?: string): Diff {
  return {
    path,
    newText,
    ...(oldText === undefined ? {} : { oldText }),
    changes: [{ operation: oldText === undefined ? "add" : "modify", path, fileType: "text" }],
    patch: { format: "git_patch", text: gitPatch(path, oldText, newText) },
  };
}
