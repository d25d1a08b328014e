// Encodes tool calls and display terminals for version 1: content is always whole, and terminals are text, unless the
// client shows them.

import { fromBase64 } from "../../base/base64.ts";
import { extraKey } from "../../base/parley-extensions.ts";
import type { PlainToolCall } from "../../model/plain-tool-call.ts";
import type { ToolCallContent, ToolCallUpdate, UpdateOf } from "../../model/update.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type { Lost } from "../agent-edition.ts";
import { bothMeta, lostMeta, metaOf } from "../wire-fields.ts";
import { TerminalReports, type TerminalUpdate } from "./terminal-reports.ts";

class DisplayTerminal {
  /** The end of the decoded output. */
  text = "";
  /** How long all of it is. */
  length = 0;
  readonly decoder = new TextDecoder();
  /** The beginning of an escape sequence that has not ended yet. */
  begun = "";
  /** How long all of it is in JSON. */
  jsonLength = 0;
  /** How long it was when it was last sent. */
  sentLength = 0;
  /** The size of everything that was sent. */
  sentTotal = 0;
  exited = false;
}

/** Nearly always one message. */
type Encoded = wire.SessionUpdate | readonly wire.SessionUpdate[];

type ToolUpdate = ToolCallUpdate & { readonly sessionUpdate: "tool_call_update" };
type ToolOnWire = Extract<wire.SessionUpdate, { sessionUpdate: "tool_call" | "tool_call_update" }>;
type Sendable = wire.ToolCallUpdate & { sessionUpdate: "tool_call" | "tool_call_update" };

/** How much of a terminal's output is shown: its end. */
const shownChars = 64 * 1024;

/** How many ended calls keep their content, for late updates. */
const keptEnded = 64;

/** A call that is open, or one of the last that have ended. */
interface Call {
  readonly toolCallId: string;
  /** Or the JSON of the update that brought it, until somebody needs it. */
  content: readonly ToolCallContent[] | string;
  hasEnded: boolean;
}

export class ToolEncoder {
  /** Every call that was announced. Null for one whose content is no longer kept. */
  readonly #calls = new Map<string, Call | null>();
  /** The last ones that have ended. The oldest is replaced. */
  readonly #ended: Call[] = [];
  #oldest = 0;
  /** Those that show a terminal, or have shown one. */
  readonly #showing = new Set<Call>();
  readonly #terminals = new Map<string, DisplayTerminal>();
  readonly #clientTerminals = new Set<string>();
  /** For a client that shows terminals. */
  readonly #reports: TerminalReports | undefined;

  constructor({ showsTerminals }: { readonly showsTerminals: boolean }) {
    if (showsTerminals) this.#reports = new TerminalReports();
  }

  addClientTerminal(terminalId: string): void {
    this.#clientTerminals.add(terminalId);
  }

  update(update: ToolUpdate, lost?: Lost): Encoded {
    const sent = this.tool(update, lost);
    return this.#reports === undefined || !update.content
      ? sent
      : this.#withTerminals(sent, update.content, this.#reports);
  }

  /** As `update`, for its JSON. Undefined, and nothing has changed, where version 1 says more than another tag. */
  updateJson(update: ToolUpdate, json: string): string | undefined {
    // then it shows no terminals either
    if (!isSameOnV1(update)) return undefined;
    const first = this.#calls.get(update.toolCallId) === undefined;
    if (first && (update.title === undefined || !json.startsWith(tagOfChange))) return undefined;
    this.#follow(update.toolCallId, update.content ?? undefined, isFinal(update.status));
    return first ? announced(json) : json;
  }

  /** As `updateJson`, for what has not been parsed. It has no terminals. */
  plainCall({ json, toolCallId, hasTitle, hasContent, hasEnded }: PlainToolCall): string | undefined {
    if (!hasTitle && this.#calls.get(toolCallId) === undefined) return undefined;
    return this.#follow(toolCallId, hasContent ? json : undefined, hasEnded) ? announced(json) : json;
  }

  /** Keeps what later updates of the call need. Returns whether it is the first one. */
  #follow(toolCallId: string, content: Call["content"] | undefined, hasEnded: boolean): boolean {
    const known = this.#calls.get(toolCallId);
    const call = known ?? this.#begin(toolCallId);
    if (content !== undefined) this.#keep(call, content);
    if (hasEnded && !call.hasEnded) this.#end(call);
    return known === undefined;
  }

  /** One update by itself. */
  tool(update: ToolUpdate, lost?: Lost): ToolOnWire {
    const { toolCallId, content } = update;
    const first = this.#follow(toolCallId, content === null ? [] : content, isFinal(update.status));
    if (!first && isSameOnV1(update)) return update as ToolOnWire; // as: it has only what version 1 has
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
    if (update.kind != null) sent.kind = toolKind(update.kind, lost);
    if (update.status != null) sent.status = toolStatus(update.status, lost);
    if (lost !== undefined && !first) cleared(update, lost);
    if (update.capabilities != null) lostMeta(update.capabilities, "what a tool call can do", lost);
    if (content !== undefined) sent.content = this.#content(content ?? [], lost);
    if (update.locations !== undefined) sent.locations = [...(update.locations ?? [])];
    if (update.rawInput != null) sent.rawInput = update.rawInput;
    if (update.rawOutput != null) sent.rawOutput = update.rawOutput;
    if (update._meta != null) sent._meta = update._meta;
    return sent as ToolOnWire; // an announcement has its title
  }

  /** Introduces the terminals that a call begins to show, and sends what they have shown so far. */
  #withTerminals(sent: ToolOnWire, content: readonly ToolCallContent[], reports: TerminalReports): Encoded {
    const behind: wire.SessionUpdate[] = [];
    for (const item of content) {
      if (item.type !== "terminal" || this.#clientTerminals.has(item.terminalId)) continue;
      const shown = reports.shown(item.terminalId, sent.toolCallId);
      if (shown === undefined) continue;
      // one call has one terminal in its metadata: a second one is introduced by an update of its own
      if (sent._meta?.["terminal_info"] === undefined) sent._meta = { ...sent._meta, ...shown.info };
      else
        behind.push({
          sessionUpdate: "tool_call_update",
          toolCallId: sent.toolCallId,
          _meta: { ...shown.info },
        });
      behind.push(...shown.behind);
    }
    return behind.length === 0 ? sent : [sent, ...behind];
  }

  /** Version 1 has no chunks of content: the whole of it is sent again. */
  chunk({ content, ...rest }: UpdateOf<"tool_call_content_chunk">, lost?: Lost): Encoded {
    const call = this.#calls.get(rest.toolCallId);
    const known = call ? contentOf(call) : [];
    return this.update({ ...rest, sessionUpdate: "tool_call_update", content: [...known, content] }, lost);
  }

  terminal(update: TerminalUpdate, lost?: Lost): readonly wire.SessionUpdate[] {
    if (this.#reports !== undefined) return this.#reports.update(update, lost);
    const { terminalId } = update;
    lostMeta(update, "a terminal, which is shown as text", lost);
    const terminal = this.#terminals.get(terminalId) ?? new DisplayTerminal();
    this.#terminals.set(terminalId, terminal);
    if (update.sessionUpdate === "terminal_output_chunk") append(terminal, update.data, lost);
    else {
      if (update.output !== undefined) {
        terminal.text = "";
        terminal.length = 0;
        terminal.jsonLength = 0;
        terminal.begun = "";
      }
      if (update.output) append(terminal, update.output.data, lost);
      if (update.exitStatus) terminal.exited = true;
    }
    // all sendings together are at most three times the output
    const length = terminal.jsonLength + envelopeLength;
    const due = terminal.exited
      ? terminal.length !== terminal.sentLength
      : terminal.sentLength === 0 || terminal.sentTotal + 2 * length <= 3 * terminal.length;
    if (!due || terminal.text === "") return [];
    terminal.sentLength = terminal.length;
    terminal.sentTotal += Math.min(length, shownChars);
    const showing = [...this.#showing].filter((call) =>
      contentOf(call).some((item) => item.type === "terminal" && item.terminalId === terminalId),
    );
    return showing.map((call) => ({
      sessionUpdate: "tool_call_update",
      toolCallId: call.toolCallId,
      content: this.#content(contentOf(call)),
    }));
  }

  #begin(toolCallId: string): Call {
    const call: Call = { toolCallId, content: [], hasEnded: false };
    this.#calls.set(toolCallId, call);
    return call;
  }

  #keep(call: Call, content: Call["content"]): void {
    call.content = content;
    if (typeof content !== "string" && content.some(({ type }) => type === "terminal"))
      this.#showing.add(call);
  }

  #end(call: Call): void {
    call.hasEnded = true;
    const oldest = this.#ended[this.#oldest];
    if (oldest !== undefined) {
      this.#calls.set(oldest.toolCallId, null);
      this.#showing.delete(oldest);
    }
    this.#ended[this.#oldest] = call;
    this.#oldest = (this.#oldest + 1) % keptEnded;
  }

  #content(content: readonly ToolCallContent[], lost?: Lost): wire.ToolCallContent[] {
    const sent: wire.ToolCallContent[] = [];
    for (const item of content) {
      if (item.type === "content") {
        const content = contentToV1(item.content);
        if (content !== undefined)
          sent.push((content === item.content ? item : { ...item, content }) as wire.ToolCallContent);
        else lost?.(`content of type ${String(item.content.type)}`);
      } else if (item.type === "diff") sent.push(diffToV1(item, lost));
      else if (item.type === "terminal") {
        if (this.#reports !== undefined || this.#clientTerminals.has(item.terminalId)) sent.push(item);
        else {
          const text = this.#terminals.get(item.terminalId)?.text ?? "";
          const shown = text.length > shownChars ? `…${text.slice(-shownChars)}` : text;
          if (text !== "") sent.push({ ...textContent(shown), ...metaOf(item) });
          else lostMeta(item, "a terminal without output", lost);
        }
      }
    }
    return sent;
  }
}

function contentOf(call: Call): readonly ToolCallContent[] {
  // as: the JSON of a plain tool call
  if (typeof call.content === "string") call.content = (JSON.parse(call.content) as ToolUpdate).content ?? [];
  return call.content;
}

/** The beginning of the JSON of a change, as JSON.stringify writes it. */
const tagOfChange = '{"sessionUpdate":"tool_call_update"';

/** The same as the announcement of a call. */
function announced(json: string): string {
  return `{"sessionUpdate":"tool_call"${json.slice(tagOfChange.length)}`;
}

/** The envelope around the text of an update. */
const envelopeLength = 250;

/** An escape sequence may come in two pieces, but not in a hundred. */
const maxBegun = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const unfinished = /\u001b(?:\[[0-?]*[ -/]*|\][^\u0007\u001b]*\u001b?)?$/;

function append(terminal: DisplayTerminal, base64: string, lost?: Lost): void {
  const bytes = fromBase64(base64);
  if (bytes === undefined) return lost?.("output of a terminal that is not base64");
  const all = terminal.begun + terminal.decoder.decode(bytes, { stream: true });
  const [begun = ""] = unfinished.exec(all.slice(-maxBegun)) ?? [];
  terminal.begun = begun;
  const text = plainText(all.slice(0, all.length - begun.length));
  terminal.text += text;
  if (terminal.text.length > 4 * shownChars) terminal.text = terminal.text.slice(-2 * shownChars);
  terminal.length += text.length;
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
function diffToV1(diff: Extract<ToolCallContent, { type: "diff" }>, lost?: Lost): wire.ToolCallContent {
  lostMeta([diff.changes, diff.patch], "a change and its patch", lost);
  const { path, oldText, newText, changes, patch, ...rest } = diff;
  if (path !== undefined && newText !== undefined)
    return oldText == null ? { ...rest, path, newText } : { ...rest, path, newText, oldText };
  lost?.("the texts of a change: its patch is shown");
  const operations = changes.map((change) => `${String(change.operation)} ${String(change.path ?? "")}`);
  return { ...textContent(patch?.text ?? operations.join("\n")), ...metaOf(diff) };
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

/** Whether the JSON of a change is the same in version 1. */
function isSameOnV1(update: ToolCallUpdate): boolean {
  const { title, name, kind, status, content, locations, rawInput, rawOutput, capabilities, _meta } = update;
  const hasNull =
    title === null ||
    name === null ||
    kind === null ||
    status === null ||
    content === null ||
    locations === null ||
    rawInput === null ||
    rawOutput === null ||
    _meta === null;
  if (hasNull || capabilities !== undefined) return false;
  if (kind !== undefined && kind !== "other" && !kinds.has(kind)) return false;
  if (status !== undefined && status !== "in_progress" && toolStatus(status, undefined) !== status)
    return false;
  return (
    content === undefined ||
    content.every((item) => item.type === "content" && contentToV1(item.content) === item.content)
  );
}

function isFinal(status: string | null | undefined): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

function toolKind(kind: string, lost?: Lost): wire.ToolKind {
  if (kinds.has(kind)) return kind as wire.ToolKind;
  if (kind !== "other") lost?.(`the kind ${kind} of a tool call`);
  return "other";
}

/** Version 1 has no way to take a single value back. */
function cleared(update: ToolCallUpdate, lost: Lost): void {
  for (const field of ["title", "name", "kind", "status", "rawInput", "rawOutput"] as const)
    if (update[field] === null) lost(`the cleared ${field} of a tool call`);
}

function toolStatus(status: string, lost?: Lost): wire.ToolCallStatus {
  if (status === "pending" || status === "completed" || status === "failed") return status;
  if (status !== "in_progress") lost?.(`the status ${status} of a tool call`);
  // a tool that was cancelled did not do its work; paused and unknown ones still may
  return status === "cancelled" ? "failed" : "in_progress";
}

const v1Content = new Set<unknown>(["text", "image", "audio", "resource_link", "resource"]);

/** Undefined for a kind that version 1 does not know. What else it does not know moves into `_meta`. */
export function contentToV1(block: { readonly type: unknown }): wire.ContentBlock | undefined {
  if (!v1Content.has(block.type)) return undefined;
  const known = "annotations" in block ? withKnownAudience(block) : block;
  if (known.type !== "resource_link" || !("icons" in known)) return known as wire.ContentBlock; // of a known kind
  const { icons, ...link } = known as { icons: unknown } & Extract<
    wire.ContentBlock,
    { type: "resource_link" }
  >;
  return { ...link, ...bothMeta(link, { _meta: { [extraKey]: { icons } } }) };
}

const roles: ReadonlySet<unknown> = new Set(["assistant", "user"]);

function withKnownAudience<Block extends { readonly type: unknown }>(block: Block): Block {
  const { annotations } = block as { annotations?: { audience?: readonly unknown[] | null } | null };
  const { audience } = annotations ?? {};
  if (annotations == null || audience == null || audience.every((role) => roles.has(role))) return block;
  const meta = bothMeta(annotations, { _meta: { [extraKey]: { audience } } });
  const known = { ...annotations, audience: audience.filter((role) => roles.has(role)), ...meta };
  return { ...block, annotations: known };
}
