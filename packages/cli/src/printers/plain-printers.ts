// Prints `--format quiet` and `--format json`.

import type { Entry } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import { applyEntry, createView } from "@parley/acp/view";
import { escapedJson, safeLine, safeText } from "../terminal/sanitise.ts";
import type { Output } from "./output.ts";
import type { RunPrinter } from "./run-printer.ts";

/** The end contains at most this much of the last message, which was printed before. */
const longestText = 4 * 1024 * 1024;

export function jsonPrinter(output: Output): RunPrinter {
  const last = new LastMessage(longestText);
  // only usage is folded, for the end
  const view = createView();
  const print = (type: string, fields: object) => output.write(`${escapedJson({ v: 1, type, ...fields })}\n`);
  let ids: { readonly session?: string; readonly sessionId?: string } = {};
  return {
    showsProgress: false,
    progress: () => undefined,
    pause: () => output.flush(),
    resume: () => undefined,
    started({ session, sessionId, ...rest }) {
      ids = { ...optional({ session }), sessionId };
      print("start", { ...ids, ...rest });
    },
    entry(entry) {
      last.entry(entry);
      if (entry.kind === "update" && entry.update.sessionUpdate === "usage_update") applyEntry(view, entry);
      const fields = fieldsOf(entry);
      if (fields !== undefined) print(entry.kind, fields);
    },
    decision: (decision) => print("decision", decision),
    notice: (message) => print("notice", { message }),
    end({ exitCode, outcome, refused, error, durationMs }) {
      const { stopReason, usage } = outcome ?? {};
      print("end", {
        exitCode,
        ...optional({ stopReason }),
        ...ids,
        text: last.text,
        ...optional({
          textTruncated: last.isTruncated || undefined,
          usage,
          context: view.usage,
          cost: view.cost,
          refused: refused || undefined,
          error,
        }),
        durationMs: Math.round(durationMs),
      });
      output.flush();
    },
  };
}

/** The result is part of the end. */
function fieldsOf(entry: Entry): object | undefined {
  if (entry.kind === "result") return undefined;
  const { format: _format, seq: _, kind: _kind, ...fields } = entry;
  return fields;
}

export function quietPrinter(output: Output, warn: (text: string) => void, isTerminal: boolean): RunPrinter {
  const last = new LastMessage();
  return {
    showsProgress: false,
    progress: () => undefined,
    pause: () => output.flush(),
    resume: () => undefined,
    started: () => undefined,
    entry(entry) {
      last.entry(entry);
      const warning = warningOf(entry);
      if (warning !== undefined) warn(warning);
    },
    decision: () => undefined,
    notice: warn,
    end({ error }) {
      // files and programs get the text unchanged
      const text = isTerminal ? safeText(last.text) : last.text;
      if (text !== "") output.write(text.endsWith("\n") ? text : `${text}\n`);
      output.flush();
      if (error === undefined) return;
      warn(error.message);
      if (error.hint !== undefined) warn(error.hint);
    },
  };
}

/** Warnings of the agent may concern the message that is printed. */
function warningOf(entry: Entry): string | undefined {
  if (entry.kind !== "update" || entry.update.sessionUpdate !== "notice") return undefined;
  const { severity, title, description } = entry.update;
  if (severity !== "warning" && severity !== "error") return undefined;
  return [title, description]
    .flatMap((each) => (typeof each === "string" ? [safeLine(each)] : []))
    .join(": ");
}

export class LastMessage {
  readonly #longest: number;
  #messageId: string | undefined;
  #text = "";
  #isTruncated = false;

  /** A longer message is truncated. */
  constructor(longest = Number.POSITIVE_INFINITY) {
    this.#longest = longest;
  }

  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  get text(): string {
    return this.#text;
  }

  entry(entry: Entry): void {
    if (entry.kind !== "update") return;
    const { update } = entry;
    if (update.sessionUpdate === "agent_message_chunk") {
      if (update.messageId !== this.#messageId) this.#begin(update.messageId);
      if (update.content.type === "text") this.#add(update.content.text);
    } else if (update.sessionUpdate === "agent_message" && update.content != null) {
      this.#begin(update.messageId);
      for (const block of update.content) if (block.type === "text") this.#add(block.text);
    }
  }

  #begin(messageId: string): void {
    this.#messageId = messageId;
    this.#text = "";
    this.#isTruncated = false;
  }

  #add(text: string): void {
    const room = this.#longest - this.#text.length;
    this.#isTruncated ||= text.length > room;
    if (room > 0) this.#text += text.length > room ? text.slice(0, room) : text;
  }
}
