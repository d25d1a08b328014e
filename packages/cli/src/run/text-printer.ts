// `--format text`: the conversation as it goes, for people. Text is printed as it comes, tool calls when they are over.
// Nothing is ever drawn again but one status line, and that only on a terminal.

import type { ContentBlock, Entry, Update } from "@parley/acp";
import { applyEntry, createView, type SessionView } from "@parley/acp/view";
import type { Output } from "./output.ts";
import type { Paint } from "./paint.ts";
import type { RunDecision, RunEnd, RunPrinter, RunStart } from "./run-printer.ts";
import { SafeText, safeLine, safeText } from "./safe-text.ts";
import { isWorthShowing, titleLine, toolLines } from "./tool-lines.ts";

export interface TextPrinterOptions {
  readonly output: Output;
  readonly paint: Paint;
  /** For the status line and for what is not part of the conversation. */
  readonly complain: (text: string) => void;
  /** Draws one line that the next output replaces; absent where there is no terminal. */
  readonly status?: (text: string | undefined) => void;
  readonly cwd: string;
  /** Default false: whoever typed a prompt knows it. */
  readonly showsPrompts?: boolean;
}

const maxRefusals = 100;

type Block = "none" | "message" | "thought" | "event";

export function textPrinter(options: TextPrinterOptions): RunPrinter {
  return new TextPrinter(options);
}

class TextPrinter implements RunPrinter {
  readonly #options: TextPrinterOptions;
  readonly #view: SessionView = createView({ terminalBytes: 64 * 1024 });
  readonly #shownCalls = new Set<string>();
  /** How many of them could be seen. */
  #calls = 0;
  readonly #shownRefusals = new Set<string>();
  readonly #shownPrompts = new Set<string>();
  readonly #shownPlan = new Map<string, string>();
  #safe = new SafeText();
  #block: Block = "none";
  #messageId: string | undefined;
  #atLineStart = true;
  #start: RunStart | undefined;

  constructor(options: TextPrinterOptions) {
    this.#options = options;
  }

  get showsProgress(): boolean {
    return this.#options.status !== undefined;
  }

  progress(text: string): void {
    this.#options.status?.(text);
  }

  pause(): void {
    if (!this.#atLineStart) this.#write("\n");
    this.#options.output.flush();
    this.#options.status?.(undefined);
  }

  started(start: RunStart): void {
    this.#start = start;
  }

  entry(entry: Entry): void {
    if (entry.kind === "update") return this.#update(entry.update, entry);
    if (entry.kind === "ask") applyEntry(this.#view, entry);
    if (entry.kind === "prompt") this.#prompt(entry.messageId, entry.prompt);
  }

  /** It is told twice, in either order: by whoever sent it, and by the agent that took it in. */
  #prompt(messageId: string, content: readonly ContentBlock[]): void {
    if (this.#options.showsPrompts !== true || this.#shownPrompts.has(messageId)) return;
    this.#shownPrompts.add(messageId);
    this.#begin("message");
    this.#messageId = undefined;
    const lines = safeText(content.map(textOf).join("\n")).trimEnd().split("\n");
    this.#write(`${lines.map((line) => this.#options.paint("cyan", `> ${line}`)).join("\n")}\n`);
  }

  /** What is allowed goes without saying, the tool call shows it; and who was asked knows the answer. */
  decision({ what, effect, by, reason }: RunDecision): void {
    if (effect !== "deny" || by === "user") return;
    const { paint } = this.#options;
    const why = paint("dim", ` (${safeLine(reason)})`);
    // once each, and not without end: the end of the run counts them
    if (this.#shownRefusals.has(what) || this.#shownRefusals.size >= maxRefusals) return;
    this.#shownRefusals.add(what);
    this.#event(`${paint("yellow", "?")} ${safeLine(what)}: ${paint("red", "refused")}${why}`);
  }

  notice(text: string): void {
    const { status } = this.#options;
    // where people watch, what the agent says and what we say do not share a line
    if (status !== undefined && !this.#atLineStart) this.#write("\n");
    status?.(undefined);
    this.#options.output.flush();
    this.#options.complain(text);
  }

  end({ error, outcome, durationMs }: RunEnd): void {
    const { output, status, complain, paint } = this.#options;
    status?.(undefined);
    for (const { toolCallId, open, label } of this.#view.toolCalls.values()) {
      if (open && !this.#shownCalls.has(toolCallId))
        this.#event(`${paint("yellow", "…")} ${titleLine(label)} (not finished)`);
    }
    if (!this.#atLineStart) this.#write("\n");
    output.flush();
    if (error !== undefined) {
      complain(error.message);
      if (error.hint !== undefined) complain(error.hint);
    }
    // a footer is for people who watch
    if (status === undefined || this.#start === undefined) return;
    const { session } = this.#start;
    const parts = [
      outcome === undefined ? "not finished" : outcome.stopReason.replaceAll("_", " "),
      `${(durationMs / 1000).toFixed(1)} s`,
      ...(this.#calls > 0 ? [`${this.#calls} tool call${this.#calls === 1 ? "" : "s"}`] : []),
      ...(outcome?.usage ? [`${outcome.usage.totalTokens} tokens`] : []),
    ];
    const goOn = session === undefined ? "" : `; go on with: parley run --session ${session} "..."`;
    process.stderr.write(`${paint("dim", `(${parts.join(", ")}${goOn})`)}\n`);
  }

  #update(update: Update, entry: Entry): void {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        return this.#say("message", update.messageId, update.content);
      case "agent_thought_chunk":
        return this.#say("thought", update.messageId, update.content);
      case "agent_message":
        for (const content of update.content ?? []) this.#say("message", update.messageId, content);
        return;
      case "user_message":
        if (update.content != null) this.#prompt(update.messageId, update.content);
        return;
      case "tool_call_update":
      case "tool_call_content_chunk":
        applyEntry(this.#view, entry);
        return this.#call(update.toolCallId);
      case "terminal_update":
      case "terminal_output_chunk":
        return applyEntry(this.#view, entry);
      case "plan_update":
        return this.#plan(update.plan);
      case "notice":
        return this.#event(
          `${this.#options.paint("yellow", "!")} ${safeLine(update.title)}${update.description ? `: ${safeLine(update.description)}` : ""}`,
        );
      default:
        return;
    }
  }

  #say(
    block: "message" | "thought",
    messageId: string | undefined,
    content: { readonly type: string },
  ): void {
    const text = textOf(content);
    if (this.#block !== block || this.#messageId !== messageId) {
      if (text.trim() === "") return;
      this.#begin(block);
      this.#messageId = messageId;
      this.#safe = new SafeText();
    }
    const safe = this.#safe.push(text);
    if (block === "message") return this.#write(safe);
    for (const line of safe.split(/(?<=\n)/)) {
      const words = line.replace("\n", "");
      if (words !== "") this.#write(this.#options.paint("dim", `${this.#atLineStart ? "| " : ""}${words}`));
      if (line.endsWith("\n")) this.#write("\n");
    }
  }

  #call(toolCallId: string): void {
    const call = this.#view.toolCalls.get(toolCallId);
    if (call === undefined) return;
    if (call.open) {
      if (call.status !== "pending" && this.#options.status !== undefined) {
        // the status line needs a line of its own
        if (!this.#atLineStart) this.#write("\n");
        this.#options.status(titleLine(call.label));
      }
      return;
    }
    if (this.#shownCalls.has(toolCallId)) return;
    this.#shownCalls.add(toolCallId);
    if (!isWorthShowing(call)) return;
    this.#calls += 1;
    const { paint, cwd } = this.#options;
    this.#event(toolLines(call, this.#view, { paint, cwd }).join("\n"));
  }

  /** The whole plan when its items change, else what has been done since. */
  #plan(plan: Extract<Update, { sessionUpdate: "plan_update" }>["plan"]): void {
    if (plan.type !== "items" || !Array.isArray(plan.entries)) return;
    const { paint } = this.#options;
    const entries: readonly { content: string; status: string }[] = plan.entries;
    const isNew = entries.some(({ content }) => !this.#shownPlan.has(content));
    const lines = entries
      .filter(
        ({ content, status }) => isNew || (status === "completed" && this.#shownPlan.get(content) !== status),
      )
      .map(
        ({ content, status }) => `${status === "completed" ? paint("green", "☑") : "☐"} ${safeLine(content)}`,
      );
    this.#shownPlan.clear();
    for (const { content, status } of entries) this.#shownPlan.set(content, status);
    if (lines.length > 0) this.#event(lines.join("\n"));
  }

  /** Something that is not streamed: whole lines. */
  #event(lines: string): void {
    this.#begin("event");
    this.#write(`${lines}\n`);
  }

  #begin(block: Block): void {
    if (!this.#atLineStart) this.#write("\n");
    // events stand together; prose has air around it
    if (this.#block !== "none" && !(this.#block === "event" && block === "event")) this.#write("\n");
    this.#block = block;
  }

  #write(text: string): void {
    if (text === "") return;
    this.#options.output.write(text);
    this.#atLineStart = text.endsWith("\n");
  }
}

function textOf(content: { readonly type: string; readonly text?: unknown; readonly uri?: unknown }): string {
  if (content.type === "text" && typeof content.text === "string") return content.text;
  const name = typeof content.uri === "string" ? ` ${content.uri}` : "";
  return `[${content.type}${name}]`;
}
