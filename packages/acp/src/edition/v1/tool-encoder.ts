// Tool calls and the agent's own terminals, as version 1 has them: announced once, content always whole,
// terminals as text.

import type { ToolCallContent, ToolCallUpdate, Update } from "../../model/update.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type { Lost } from "../agent-edition.ts";
import { isV1Content } from "./content.ts";

interface Tool {
  content: readonly ToolCallContent[];
}

interface DisplayTerminal {
  /** Decoded output so far. */
  text: string;
  readonly decoder: TextDecoder;
  /** How long the text is in JSON. */
  jsonLength: number;
  /** How long the text was when it was last sent. */
  sentLength: number;
  /** What all sendings together took. */
  sentTotal: number;
  exited: boolean;
}

type Sendable = wire.ToolCallUpdate & { sessionUpdate: "tool_call" | "tool_call_update" };

/** Version 1 has no display terminals; what a person wants to see is the end of the output. */
const shownChars = 64 * 1024;

export class ToolEncoder {
  readonly #tools = new Map<string, Tool>();
  readonly #terminals = new Map<string, DisplayTerminal>();
  readonly #clientTerminals = new Set<string>();

  addClientTerminal(terminalId: string): void {
    this.#clientTerminals.add(terminalId);
  }

  update(update: ToolCallUpdate & { sessionUpdate: "tool_call_update" }, lost?: Lost): wire.SessionUpdate {
    const { toolCallId, content } = update;
    let tool = this.#tools.get(toolCallId);
    const first = tool === undefined;
    tool ??= { content: [] };
    this.#tools.set(toolCallId, tool);
    if (content !== undefined) tool.content = content ?? [];
    const sent: Sendable = first
      ? {
          sessionUpdate: "tool_call",
          toolCallId,
          title: update.title ?? update.name ?? update.kind ?? "Tool",
        }
      : { sessionUpdate: "tool_call_update", toolCallId };
    // field by field: a spread for each costs more than all the rest of an update
    if (!first && update.title != null) sent.title = update.title;
    if (update.name != null) sent.name = update.name;
    if (update.kind != null) sent.kind = toolKind(update.kind);
    if (update.status != null) sent.status = toolStatus(update.status, lost);
    if (content !== undefined) sent.content = this.#content(tool, lost);
    if (update.locations !== undefined) sent.locations = [...(update.locations ?? [])];
    if (update.rawInput != null) sent.rawInput = update.rawInput;
    if (update.rawOutput != null) sent.rawOutput = update.rawOutput;
    if (update._meta != null) sent._meta = update._meta;
    return sent as wire.SessionUpdate; // an announcement has its title
  }

  /** Version 1 has no chunks of content: the whole of it is sent again. */
  chunk(toolCallId: string, content: ToolCallContent, lost?: Lost): wire.SessionUpdate {
    const known = this.#tools.get(toolCallId)?.content ?? [];
    return this.update({ sessionUpdate: "tool_call_update", toolCallId, content: [...known, content] }, lost);
  }

  terminal(
    update: Extract<Update, { sessionUpdate: "terminal_update" | "terminal_output_chunk" }>,
  ): readonly wire.SessionUpdate[] {
    const { terminalId } = update;
    let terminal = this.#terminals.get(terminalId);
    if (terminal === undefined) {
      terminal = {
        text: "",
        decoder: new TextDecoder(),
        jsonLength: 0,
        sentLength: 0,
        sentTotal: 0,
        exited: false,
      };
      this.#terminals.set(terminalId, terminal);
    }
    if (update.sessionUpdate === "terminal_output_chunk") append(terminal, update.data);
    else {
      if (update.output !== undefined) {
        terminal.text = "";
        terminal.jsonLength = 0;
      }
      if (update.output) append(terminal, update.output.data);
      if (update.exitStatus) terminal.exited = true;
    }
    // now and once more at the end: with what was sent before, at most three times what is shown
    const length = terminal.jsonLength + envelopeLength;
    const due = terminal.exited
      ? terminal.text.length !== terminal.sentLength
      : terminal.sentLength === 0 || terminal.sentTotal + 2 * length <= 3 * terminal.text.length;
    if (!due || terminal.text === "") return [];
    terminal.sentLength = terminal.text.length;
    terminal.sentTotal += Math.min(length, shownChars);
    return this.#toolsShowing(terminalId).map(([toolCallId, tool]) => ({
      sessionUpdate: "tool_call_update",
      toolCallId,
      content: this.#content(tool),
    }));
  }

  #toolsShowing(terminalId: string): [string, Tool][] {
    return [...this.#tools].filter(([, { content }]) =>
      content.some((item) => item.type === "terminal" && item.terminalId === terminalId),
    );
  }

  #content({ content }: Tool, lost?: Lost): wire.ToolCallContent[] {
    const sent: wire.ToolCallContent[] = [];
    for (const item of content) {
      if (item.type === "content") {
        if (isV1Content(item.content)) sent.push(item as wire.ToolCallContent);
        else lost?.(`content of type ${String(item.content.type)}`);
      } else if (item.type === "diff") sent.push(diffToV1(item, lost));
      else if (item.type === "terminal") {
        if (this.#clientTerminals.has(item.terminalId)) sent.push(item);
        else {
          const text = this.#terminals.get(item.terminalId)?.text ?? "";
          if (text !== "")
            sent.push(textContent(text.length > shownChars ? `…${text.slice(-shownChars)}` : text));
        }
      }
    }
    return sent;
  }
}

/** What is around the text of an update. */
const envelopeLength = 250;

function append(terminal: DisplayTerminal, base64: string): void {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const text = plainText(terminal.decoder.decode(bytes, { stream: true }));
  terminal.text += text;
  terminal.jsonLength += text.length + (text.match(/["\\\n\t]/g)?.length ?? 0);
}

/** Escape sequences would be shown as they are, or worse, obeyed. */
function plainText(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
      .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g, "")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")
  );
}

function textContent(text: string): wire.ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** Version 1 shows one file by its texts. Where only a patch is known, the patch is shown. */
function diffToV1(
  diff: Extract<ToolCallContent, { type: "diff" }>,
  lost: Lost | undefined,
): wire.ToolCallContent {
  if (diff.path !== undefined && diff.newText !== undefined) {
    const { path, oldText, newText } = diff;
    return oldText == null ? { type: "diff", path, newText } : { type: "diff", path, newText, oldText };
  }
  lost?.("the texts of a change: its patch is shown");
  const changes = diff.changes.map((change) => `${String(change.operation)} ${String(change.path ?? "")}`);
  return textContent(diff.patch?.text ?? changes.join("\n"));
}

const kinds = new Set([
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
]);

function toolKind(kind: string): wire.ToolKind {
  return kinds.has(kind) ? (kind as wire.ToolKind) : "other";
}

function toolStatus(status: string, lost: Lost | undefined): wire.ToolCallStatus {
  if (status === "pending" || status === "completed" || status === "failed") return status;
  if (status !== "in_progress") lost?.(`that a tool call is ${status}`);
  // a tool that was cancelled did not do its work; paused and unknown ones still may
  return status === "cancelled" ? "failed" : "in_progress";
}
