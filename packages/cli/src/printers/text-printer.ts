// Prints `--format text`: text as it arrives, tool calls when they end, and a status line on terminals.

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
import { commandToType } from "../settings/installation.ts";
import type { Paint } from "../terminal/paint.ts";
import { safeLine, safeText, TextSanitiser } from "../terminal/sanitise.ts";
import { WordWrap } from "../terminal/word-wrap.ts";
import { wrapLine, wrapLines } from "../terminal/wrap-line.ts";
import type { Output } from "./output.ts";
import type { RunDecision, RunEnd, RunPrinter, RunStart } from "./run-printer.ts";
import { isWorthShowing, PlanLines, titleLine, toolLines, usageText } from "./tool-lines.ts";

export interface TextPrinterOptions {
  readonly output: Output;
  readonly paint: Paint;
  /** Prints what is not part of the conversation. */
  readonly warn: (text: string) => void;
  /** Draws the status line; absent without a terminal. */
  readonly status?: (text: string | undefined) => void;
  readonly cwd: string;
  /** The width of the terminal, to wrap text. Default: text is not wrapped. */
  readonly columns?: () => number | undefined;
  /** Default false. */
  readonly showsPrompts?: boolean;
  /** The prompts that were sent; an agent may report them differently, or report others. */
  readonly prompts?: ReadonlyMap<string, readonly ContentBlock[]>;
}

const maxRefusals = 100;

/** How much text is kept to compare messages that come as a whole. */
const maxKept = 16 * 1024 * 1024;

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
  readonly #plans: PlanLines;
  #kept = 0;
  #safe = new TextSanitiser();
  #wrap: WordWrap;
  #block: Block = "none";
  #messageId: string | undefined;
  #atLineStart = true;
  #start: RunStart | undefined;

  constructor(options: TextPrinterOptions) {
    this.#options = options;
    this.#plans = new PlanLines(options.paint);
    this.#wrap = this.#newWrap(0);
  }

  #newWrap(prefix: number): WordWrap {
    return new WordWrap(() => {
      const columns = this.#options.columns?.();
      return columns === undefined ? undefined : columns - prefix;
    });
  }

  get showsProgress(): boolean {
    return this.#options.status !== undefined;
  }

  progress(text: string): void {
    const { status } = this.#options;
    if (status === undefined || this.#isPaused) return;
    this.#endLine();
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
        return this.#prompt(changed.messageId, changed.content);
      case "agent_message":
      case "agent_thought":
        return this.#whole(changed, before);
      case "tool_call":
        return this.#call(changed.toolCallId);
      case "plan": {
        const lines = this.#plans.changed(changed.plan);
        return lines.length === 0 ? undefined : this.#event(lines.join("\n"));
      }
      case "notice": {
        const { title, description } = changed.notice;
        const more = safeText(description ?? "")
          .split("\n")
          .map((line) => line.trim());
        const lines = [safeLine(title), ...more.filter((line) => line !== "").map((line) => `  ${line}`)];
        return this.#event(`${this.#options.paint("warning", "!")} ${lines.join("\n")}`);
      }
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

  #compaction({ compactionId, status, error }: CompactionItem): void {
    const { paint, status: draw } = this.#options;
    if (status === "in_progress") return draw?.("compacting the conversation");
    if (this.#shownCompactions.has(compactionId)) return;
    this.#shownCompactions.add(compactionId);
    const text =
      status === "completed"
        ? "conversation compacted"
        : `conversation not compacted (${safeLine(status)})${error ? `: ${safeLine(error)}` : ""}`;
    this.#event(`${paint("warning", "!")} ${text}`);
  }

  /** A prompt comes twice, in either order: when it is sent, and when the agent reports it. */
  #prompt(messageId: string, content: readonly ContentBlock[]): void {
    if (this.#options.showsPrompts !== true || this.#shownPrompts.has(messageId)) return;
    this.#shownPrompts.add(messageId);
    this.#begin("message");
    this.#messageId = undefined;
    const { prompts } = this.#options;
    const isReported = prompts !== undefined && !prompts.has(messageId);
    const text = (prompts?.get(messageId) ?? content).map(textOf).join("\n");
    const lines = safeText(text).trimEnd().split("\n");
    if (isReported) lines.unshift("(as reported by the agent)");
    this.#write(`${lines.map((line) => this.#options.paint("user", `> ${line}`)).join("\n")}\n`);
  }

  /** Prints refusals by rules; the user knows their own answers, and tool calls show what was allowed. */
  decision({ what, effect, by, reason }: RunDecision): void {
    if ((effect !== "deny" && effect !== "violation") || by === "user") return;
    const { paint } = this.#options;
    const why = paint("dim", ` (${safeLine(reason)})`);
    // once each, up to a limit; the end of the run has the count
    if (this.#shownRefusals.has(what) || this.#shownRefusals.size >= maxRefusals) return;
    this.#shownRefusals.add(what);
    const how = effect === "deny" ? "refused" : "done by the agent although a rule forbids it";
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
    const { output, status, warn, paint } = this.#options;
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
      ...(session === undefined ? [] : [`continue with: ${commandToType()} run --session ${session} "..."`]),
    ];
    const columns = this.#options.columns?.();
    for (const line of lines) process.stderr.write(`${paint("dim", wrapLine(line, columns, "  "))}\n`);
  }

  #say(block: "message" | "thought", messageId: string, text: string): void {
    if (this.#block !== block || this.#messageId !== messageId) {
      if (text.trim() === "") return;
      this.#begin(block);
      this.#messageId = messageId;
      this.#safe = new TextSanitiser();
      this.#wrap = this.#newWrap(block === "thought" ? 2 : 0);
    }
    this.#print(block, this.#wrap.push(this.#safe.push(text)));
  }

  #print(block: Block, text: string): void {
    if (block !== "thought") return this.#write(text);
    for (const line of text.split(/(?<=\n)/)) {
      const shown = line.replace("\n", "");
      if (shown !== "") this.#write(this.#options.paint("dim", `${this.#atLineStart ? "| " : ""}${shown}`));
      if (line.endsWith("\n")) this.#write("\n");
    }
  }

  #call(toolCallId: string): void {
    const call = this.#view.toolCalls.get(toolCallId);
    if (call === undefined) return;
    if (call.open) {
      if (call.status !== "pending") this.progress(titleLine(call.label));
      return;
    }
    // a refused call ends for us first; the agent may still add to it
    if (call.status === call.reportedStatus) this.#ended(call);
  }

  #ended(call: ToolCallItem): void {
    if (this.#shownCalls.has(call.toolCallId)) return;
    this.#shownCalls.add(call.toolCallId);
    if (!isWorthShowing(call)) return;
    this.#calls += 1;
    const { paint, cwd, columns } = this.#options;
    this.#event(toolLines(call, this.#view, { paint, cwd, columns: columns?.() }).join("\n"));
  }

  /** Prints whole lines. */
  #event(lines: string): void {
    this.#begin("event");
    this.#write(`${wrapLines(lines, this.#options.columns?.())}\n`);
  }

  /** Prints the rest of a held-back word and starts a new line. */
  #endLine(): void {
    this.#print(this.#block, this.#wrap.end());
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
