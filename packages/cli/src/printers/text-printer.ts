// Prints `--format text`: text as it arrives, tool calls when they end, and a status line on terminals. At a terminal
// it is drawn as in chat; programs and files get plain text.

import type { ContentBlock, Entry, SessionUpdate } from "@parley/acp";
import {
  applyEntry,
  type Changed,
  type CompactionItem,
  changesSince,
  createView,
  type MessageItem,
  type SessionView,
  type ToolCallItem,
} from "@parley/acp/view";
import { type Drawing, drawing } from "../draw/draw-options.ts";
import { compactionLines, noticeLines } from "../draw/event-lines.ts";
import { type Marks, unicodeMarks } from "../draw/marks.ts";
import { userLines } from "../draw/message-lines.ts";
import { attachedName } from "../draw/placeholders.ts";
import { PlanChanges } from "../draw/plan-lines.ts";
import { isWorthShowing, titleLine, toolCard } from "../draw/tool-card.ts";
import { usageText } from "../draw/usage-text.ts";
import { howToContinue } from "../settings/installation.ts";
import type { Paint } from "../terminal/paint.ts";
import { safeLine, safeText } from "../terminal/sanitise.ts";
import { wrapLine, wrapLines } from "../terminal/wrap-line.ts";
import { waitNote } from "./model-wait.ts";
import type { Output } from "./output.ts";
import type { RunDecision, RunEnd, RunPrinter, RunStart } from "./run-printer.ts";
import { PlainMessage, PlainThought, type SpokenText } from "./spoken-text.ts";

export interface TextPrinterOptions {
  readonly output: Output;
  readonly paint: Paint;
  /** Prints what is not part of the conversation. */
  readonly warn: (text: string) => void;
  /** Draws the status line; absent without a terminal. */
  readonly status?: (text: string | undefined) => void;
  readonly cwd: string;
  /** The width of the terminal. Absent for anything else, which gets plain text. */
  readonly columns?: () => number | undefined;
  /** Those of the terminal. Default: unicode. */
  readonly marks?: Marks;
  /** The options with which the session is continued. Default: none. */
  readonly again?: readonly string[] | undefined;
  /** Default false. */
  readonly showsPrompts?: boolean;
  /** The prompts that were sent; an agent may report them differently, or report others. */
  readonly prompts?: ReadonlyMap<string, readonly ContentBlock[]>;
}

const maxRefusals = 100;

/** How much text is kept to compare messages that come as a whole. */
const maxKept = 16 * 1024 * 1024;

/** The end of a text that is not drawn yet. */
const mostPending = 500;
const pendingMs = 100;

type NewText = typeof import("./drawn-text.ts").drawnMessage;

type Block = "none" | "message" | "thought" | "event";

type AgentMessage = "agent_message" | "agent_thought";

export class TextPrinter implements RunPrinter {
  readonly #options: TextPrinterOptions;
  /** A question is open, and its line must stay. */
  #isPaused = false;
  readonly #view: SessionView = createView({ terminalBytes: 64 * 1024 });
  readonly #shownCalls = new Set<string>();
  /** The number of tool calls that were printed. */
  #calls = 0;
  readonly #shownRefusals = new Set<string>();
  readonly #shownPrompts = new Set<string>();
  readonly #shownCompactions = new Set<string>();
  readonly #plans: PlanChanges;
  #kept = 0;
  #text: SpokenText | undefined;
  #loading: Promise<void> | undefined;
  #draws: { readonly message: NewText; readonly thought: NewText } | undefined;
  #pending = "";
  #pendingShownAt = Number.NEGATIVE_INFINITY;
  #block: Block = "none";
  #messageId: string | undefined;
  #atLineStart = true;
  #start: RunStart | undefined;

  constructor(options: TextPrinterOptions) {
    this.#options = options;
    this.#plans = new PlanChanges(options.paint, options.marks);
  }

  load(): Promise<void> {
    this.#loading ??= this.#isPlain ? Promise.resolve() : this.#load();
    return this.#loading;
  }

  async #load(): Promise<void> {
    const [{ drawnMessage, drawnThought }, { loadDrawing }] = await Promise.all([
      import("./drawn-text.ts"),
      import("../draw/load-drawing.ts"),
    ]);
    await loadDrawing();
    this.#draws = { message: drawnMessage, thought: drawnThought };
  }

  get #isPlain(): boolean {
    return this.#options.columns === undefined;
  }

  /** Some terminals report no width. */
  get #width(): number {
    return this.#isPlain ? Number.POSITIVE_INFINITY : (this.#options.columns?.() ?? 80);
  }

  get #drawing(): Drawing {
    const { paint, cwd, marks = unicodeMarks } = this.#options;
    return drawing({ width: this.#width, paint, cwd, marks, isExpanded: this.#isPlain });
  }

  get showsProgress(): boolean {
    return this.#options.status !== undefined;
  }

  progress(text: string): void {
    const { status } = this.#options;
    if (status === undefined || this.#isPaused) return;
    if (!this.#atLineStart) this.#write("\n");
    status(text);
  }

  pause(): void {
    this.#endLine();
    this.#options.output.flush();
    this.#options.status?.(undefined);
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
  }

  started(start: RunStart): void {
    this.#start = start;
  }

  entry(entry: Entry): void {
    const { update } = entry.kind === "update" ? entry : {};
    if (update?.sessionUpdate === "agent_message_chunk") return this.#chunk("message", update, entry);
    if (update?.sessionUpdate === "agent_thought_chunk") return this.#chunk("thought", update, entry);
    const wait = waitNote(entry, Date.now());
    if (wait !== undefined) (this.showsProgress ? this.progress : this.notice).call(this, wait);
    const before = isWhole(update) ? this.#currentText(update.sessionUpdate, update.messageId) : "";
    const { version } = this.#view;
    applyEntry(this.#view, entry);
    for (const changed of changesSince(this.#view, version)) this.#changed(changed, before);
  }

  /** Prints the new part of a message. */
  #chunk(block: "message" | "thought", { messageId, content }: Chunk, entry: Entry): void {
    this.#kept += sizeOf(content);
    if (this.#kept <= maxKept) applyEntry(this.#view, entry);
    this.#say(block, messageId, textOf(content));
  }

  /** The text of a message so far. */
  #currentText(kind: AgentMessage, messageId: string): string {
    const item = this.#view.timeline.findLast(
      (each): each is MessageItem => each.kind === kind && each.messageId === messageId,
    );
    return item === undefined ? "" : item.content.map(textOf).join("");
  }

  #changed(changed: Changed, before: string): void {
    switch (changed.kind) {
      case "user_message":
        return this.#prompt(changed);
      case "agent_message":
      case "agent_thought":
        return this.#whole(changed, before);
      case "tool_call":
        return this.#call(changed.toolCallId);
      case "plan": {
        const lines = this.#plans.changed(changed.plan, this.#width);
        return lines.length === 0 ? undefined : this.#lines(lines);
      }
      case "notice":
        return this.#lines(noticeLines(changed, this.#drawing));
      case "compaction":
        return this.#compaction(changed);
      default:
        return;
    }
  }

  /** Prints what is new in a message that came as a whole, or all of it if earlier text changed. */
  #whole({ kind, messageId, content }: MessageItem, before: string): void {
    const block = kind === "agent_message" ? "message" : "thought";
    const now = content.map(textOf).join("");
    const isKept = this.#kept <= maxKept;
    if (isKept && now.trimEnd() === before.trimEnd()) return;
    if (isKept && now.startsWith(before)) return this.#say(block, messageId, now.slice(before.length));
    this.#messageId = undefined;
    this.#say(block, messageId, before.trim() === "" ? now : `↻ ${now}`);
  }

  #compaction(item: CompactionItem): void {
    if (item.status === "in_progress") return this.#options.status?.("compacting the conversation");
    if (this.#shownCompactions.has(item.compactionId)) return;
    this.#shownCompactions.add(item.compactionId);
    // the summary is for the agent
    this.#lines(compactionLines({ ...item, summary: [] }, this.#drawing));
  }

  /** A prompt comes twice, in either order: when it is sent, and when the agent reports it. */
  #prompt(item: MessageItem): void {
    const { messageId } = item;
    if (this.#options.showsPrompts !== true || this.#shownPrompts.has(messageId)) return;
    this.#shownPrompts.add(messageId);
    this.#begin("message");
    this.#messageId = undefined;
    const { prompts, paint, cwd } = this.#options;
    const content = prompts?.get(messageId) ?? item.content;
    const isReported = prompts !== undefined && !prompts.has(messageId);
    const note = isReported ? ["(as reported by the agent)"] : [];
    const lines = this.#isPlain
      ? [
          ...note,
          ...safeText(content.map((each) => attachedName(each, cwd) ?? textOf(each)).join("\n"))
            .trimEnd()
            .split("\n"),
        ].map((line) => paint("user", `> ${line}`))
      : [...userLines({ ...item, content }, this.#drawing), ...note.map((line) => paint("dim", `  ${line}`))];
    this.#write(`${lines.join("\n")}\n`);
  }

  /** Prints refusals by rules; the user knows their own answers, and tool calls show what was allowed. */
  decision({ what, effect, by, reason }: RunDecision): void {
    if ((effect !== "deny" && effect !== "violation") || by === "user") return;
    const { paint } = this.#options;
    const why = paint("dim", ` (${safeLine(reason)})`);
    // once each, up to a limit; the end of the run has the count
    if (this.#shownRefusals.has(what) || this.#shownRefusals.size >= maxRefusals) return;
    this.#shownRefusals.add(what);
    const how = effect === "deny" ? "refused" : "done by the agent without asking, against a rule";
    this.#event(`${paint("warning", "?")} ${safeLine(what)}: ${paint("error", how)}${why}`);
  }

  notice(text: string): void {
    const { status } = this.#options;
    // on a terminal, a notice starts on its own line
    if (status !== undefined) this.#endLine();
    status?.(undefined);
    this.#options.output.flush();
    this.#options.warn(text);
  }

  end({ error, outcome, durationMs }: RunEnd): void {
    const { output, status, warn, paint, columns, again = [] } = this.#options;
    status?.(undefined);
    for (const call of this.#view.toolCalls.values()) {
      if (!call.open) this.#ended(call);
      else this.#event(`${paint("warning", "…")} ${titleLine(call.label)} (not finished)`);
    }
    this.#endLine();
    output.flush();
    if (error !== undefined) {
      warn(error.message);
      if (error.hint !== undefined) warn(error.hint);
    }
    const used = usageText(outcome?.usage, this.#view);
    // the footer is for terminals; others get only the usage
    if (status === undefined || this.#start === undefined) {
      if (outcome?.usage !== undefined || this.#view.cost !== undefined) warn(used.join(", "));
      return;
    }
    const { session } = this.#start;
    const parts = [
      outcome === undefined ? "not finished" : safeLine(outcome.stopReason).replaceAll("_", " "),
      `${(durationMs / 1000).toFixed(1)} s`,
      ...(this.#calls > 0 ? [`${this.#calls} tool call${this.#calls === 1 ? "" : "s"}`] : []),
      ...used,
    ];
    const lines = [
      `(${parts.join(", ")})`,
      ...(session === undefined ? [] : [howToContinue(["run", "--session", session, ...again], ' "..."')]),
    ];
    for (const line of lines) process.stderr.write(`${paint("dim", wrapLine(line, columns?.(), "  "))}\n`);
  }

  #say(block: "message" | "thought", messageId: string, text: string): void {
    if (this.#block !== block || this.#messageId !== messageId) {
      if (text.trim() === "") return;
      this.#begin(block);
      this.#messageId = messageId;
      this.#text = this.#newText(block);
    }
    const shown = this.#text?.push(text) ?? "";
    this.#write(shown);
    if (this.#draws !== undefined) this.#showPending(shown === "" ? text : "");
  }

  /** Text that is not drawn yet, because its block goes on, is seen in the status line. */
  #showPending(text: string): void {
    const now = performance.now();
    this.#pending = text === "" ? "" : `${this.#pending}${text}`.slice(-mostPending);
    if (this.#pending === "" || this.#isPaused || now - this.#pendingShownAt < pendingMs) return;
    this.#pendingShownAt = now;
    const words = safeLine(this.#pending);
    const room = Math.max(20, this.#width - 6);
    this.#options.status?.(words.length <= room ? words : words.slice(-room).replace(/^\S* /, ""));
  }

  #newText(block: "message" | "thought"): SpokenText {
    const { paint, marks = unicodeMarks } = this.#options;
    if (this.#draws === undefined) return block === "message" ? new PlainMessage() : new PlainThought(paint);
    return this.#draws[block]({ paint, marks, width: () => this.#drawing.width });
  }

  #call(toolCallId: string): void {
    const call = this.#view.toolCalls.get(toolCallId);
    if (call === undefined) return;
    if (call.open) {
      if (call.status === "pending" || this.#options.status === undefined) return;
      // what was said is read while the call runs
      this.#endLine();
      return this.progress(titleLine(call.label));
    }
    // a refused call ends for us first; the agent may still add to it
    if (call.status === call.reportedStatus) this.#ended(call);
  }

  #ended(call: ToolCallItem): void {
    if (this.#shownCalls.has(call.toolCallId)) return;
    this.#shownCalls.add(call.toolCallId);
    if (!isWorthShowing(call, this.#view)) return;
    this.#calls += 1;
    const isPlain = this.#isPlain;
    this.#lines(toolCard(call, this.#view, { ...this.#drawing, isExpanded: false, isPlain }));
  }

  /** Prints lines that fit. */
  #lines(lines: readonly string[]): void {
    this.#begin("event");
    this.#write(`${lines.join("\n")}\n`);
  }

  /** Prints a sentence. */
  #event(lines: string): void {
    this.#begin("event");
    this.#write(`${wrapLines(lines, this.#options.columns?.())}\n`);
  }

  /** Prints the rest of the text and starts a new line. */
  #endLine(): void {
    this.#write(this.#text?.end() ?? "");
    this.#text = undefined;
    this.#messageId = undefined;
    if (!this.#atLineStart) this.#write("\n");
  }

  #begin(block: Block): void {
    this.#endLine();
    // blank lines separate text, but not events
    if (this.#block !== "none" && !(this.#block === "event" && block === "event")) this.#write("\n");
    this.#block = block;
  }

  #write(text: string): void {
    if (text === "") return;
    this.#options.output.write(text);
    this.#atLineStart = text.endsWith("\n");
  }
}

type Chunk = Pick<Extract<SessionUpdate, { sessionUpdate: "agent_message_chunk" }>, "messageId" | "content">;

function isWhole(
  update: SessionUpdate | undefined,
): update is Extract<SessionUpdate, { sessionUpdate: AgentMessage }> {
  return update?.sessionUpdate === "agent_message" || update?.sessionUpdate === "agent_thought";
}

/** The size of its text and data. */
function sizeOf(content: {
  readonly type: string;
  readonly text?: unknown;
  readonly data?: unknown;
}): number {
  const { text, data } = content;
  return (typeof text === "string" ? text.length : 0) + (typeof data === "string" ? data.length : 0);
}

function textOf(content: { readonly type: string; readonly text?: unknown; readonly uri?: unknown }): string {
  if (content.type === "text" && typeof content.text === "string") return content.text;
  const name = typeof content.uri === "string" ? ` ${content.uri}` : "";
  return `[${content.type}${name}]`;
}
