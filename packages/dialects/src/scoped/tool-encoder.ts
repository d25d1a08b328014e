// Says tool calls of version 1 in the dialect. Remembers what the dialect's statuses depend on: open questions,
// refusals, and when a call began.

import type * as v1 from "@parley/acp/v1";
import { withoutMeta } from "../exchange/details.ts";
import type { Fields, Lost } from "../exchange/exchange.ts";
import { detailsKey, isObject, modes, optional } from "../exchange/library.ts";
import type * as scoped from "../wire/scoped/types.gen.ts";
import * as validate from "../wire/scoped/validators.gen.ts";
import { blockToScoped, placeholder } from "./content.ts";
import { booleanOf, countOf, dialectDetails, given, metaWithDetails, numberOf } from "./details.ts";
import { diffText, hunksBetween } from "./diff.ts";
import { type KnownCall, resourceOf } from "./permission.ts";

type ToolUpdate = Extract<v1.SessionUpdate, { sessionUpdate: "tool_call" | "tool_call_update" }>;

/** What an encoder needs to know of its connection. */
export interface ToolSurroundings {
  readonly now: () => number;
  readonly lost: Lost;
  /** False where the client does not show diffs: it gets text. */
  readonly showsDiffs: () => boolean;
  /** What is known of a terminal of the client. */
  readonly terminal: (terminalId: string) => Omit<scoped.TerminalOutput, "terminalId" | "_meta"> | undefined;
}

interface KnownTool {
  status: v1.ToolCallStatus;
  kind: v1.ToolKind | undefined;
  title: string | undefined;
  /** What it works on: questions about it say that. */
  resource: string | undefined;
  readonly began: number;
  /** The status before the question about it. */
  whenAsked: v1.ToolCallStatus;
  questions: number;
  isDenied: boolean;
  /** Content was said, which a raw output must not replace. */
  hasContent: boolean;
  /** The terminal that was shown: what it has printed in the end is said with the last update. */
  terminal: v1.ToolCallContent | undefined;
}

export type Said = { readonly type: string; readonly data: object };

export class ToolEncoder {
  readonly #around: ToolSurroundings;
  readonly #tools = new Map<string, KnownTool>();
  /** The user has cancelled the turn: what fails now was cancelled. */
  isCancelling = false;

  constructor(around: ToolSurroundings) {
    this.#around = around;
  }

  known(toolCallId: string): KnownCall {
    return this.#tools.get(toolCallId) ?? {};
  }

  encode(update: ToolUpdate): Said[] {
    const before = this.#tools.get(update.toolCallId);
    const tool = this.#note(update);
    if (update.sessionUpdate === "tool_call" && before === undefined) {
      const content = update.content ?? [];
      const call = { type: "tool_call", data: this.#call(update, tool) };
      // the announcement has no place for output
      return content.length === 0 ? [call] : [call, this.#update(update, tool)];
    }
    return [this.#update(update, tool)];
  }

  /** A question about the call is open: the call waits. What it is about is said first. */
  asked(toolCall: v1.ToolCallUpdate): Said[] {
    const { toolCallId, title, content } = toolCall;
    const before = this.#tools.get(toolCallId);
    const isNew = before === undefined;
    const update: ToolUpdate = isNew
      ? { ...withoutNulls(toolCall), sessionUpdate: "tool_call", title: title ?? toolCallId }
      : { ...toolCall, sessionUpdate: "tool_call_update" };
    const tool = this.#note(update);
    tool.questions += 1;
    tool.isDenied = false;
    tool.whenAsked = tool.status;
    tool.status = "pending";
    const waiting: ToolUpdate = { ...update, status: "pending" };
    if (!isNew) return [this.#update(waiting, tool)];
    const call = { type: "tool_call", data: { ...this.#call(waiting, tool), requiresPermission: true } };
    return content == null || content.length === 0 ? [call] : [call, this.#update(waiting, tool)];
  }

  /** The question is answered. A refusal is said at once: agents of version 1 may say nothing more. */
  answered(toolCallId: string, isGranted: boolean): Said[] {
    const tool = this.#tools.get(toolCallId);
    if (tool === undefined) return [];
    tool.questions = Math.max(0, tool.questions - 1);
    // nobody refused what was cancelled
    tool.isDenied = !isGranted && !this.isCancelling;
    if (isGranted) tool.status = tool.whenAsked;
    const status = isGranted ? tool.status : tool.isDenied ? "denied" : "pending";
    // an agent says itself when a call begins
    return status === "pending" ? [] : [{ type: "tool_call_update", data: { id: toolCallId, status } }];
  }

  /** Nobody could be asked about the call, which is then denied. */
  refused(toolCallId: string): void {
    const tool = this.#tools.get(toolCallId);
    if (tool !== undefined) tool.isDenied = true;
  }

  /** The turn is over. Calls that a cancel left open are cancelled. */
  ended(isCancelled: boolean): Said[] {
    const open = [...this.#tools].filter(([, { status, isDenied }]) => isOpen(status) && !isDenied);
    this.#tools.clear();
    this.isCancelling = false;
    if (!isCancelled) return [];
    return open.map(([id]) => ({ type: "tool_call_update", data: { id, status: "cancelled" } }));
  }

  #note(update: ToolUpdate): KnownTool {
    const tool = this.#tools.get(update.toolCallId) ?? {
      status: "pending",
      kind: undefined,
      title: undefined,
      resource: undefined,
      began: this.#around.now(),
      whenAsked: "pending",
      questions: 0,
      isDenied: false,
      hasContent: false,
      terminal: undefined,
    };
    tool.status = update.status ?? tool.status;
    tool.kind = update.kind ?? tool.kind;
    tool.title = update.title ?? tool.title;
    const resource = resourceOf(update, tool.kind);
    // where a command runs says less than the command
    const isLess = tool.kind === "execute" && tool.resource !== undefined && !isObject(update.rawInput);
    if (resource !== undefined && !isLess) tool.resource = resource;
    if (update.content != null) {
      tool.hasContent = update.content.length > 0;
      tool.terminal = update.content.find(
        (item) => item.type === "terminal" && this.#isKnown(item.terminalId),
      );
    }
    this.#tools.set(update.toolCallId, tool);
    return tool;
  }

  #isKnown(terminalId: string): boolean {
    return this.#around.terminal(terminalId) !== undefined;
  }

  #call(update: ToolUpdate, tool: KnownTool): object {
    const { toolCallId, name, kind, title, rawInput, status } = update;
    const details = dialectDetails(update);
    const isOwn = details === undefined;
    const said = status ?? undefined;
    return {
      id: toolCallId,
      tool: name ?? kind ?? "other",
      ...(rawInput === undefined && !isOwn ? {} : { input: rawInput ?? {} }),
      ...(said === undefined && !isOwn ? {} : { status: this.#status(said ?? tool.status, details, tool) }),
      ...optional({ requiresPermission: booleanOf(details?.["requiresPermission"]) }),
      ...this.#location(update),
      ...(details === undefined
        ? metaWithDetails(update, { title, kind })
        : withoutMeta(update, [detailsKey])),
    };
  }

  #update(update: ToolUpdate, tool: KnownTool): Said {
    const details = dialectDetails(update);
    const isOwn = details === undefined;
    const { toolCallId, title, kind, rawInput } = update;
    const status =
      update.status == null && !isOwn ? undefined : this.#status(update.status ?? tool.status, details, tool);
    const isOver = status !== undefined && status !== "pending" && status !== "in_progress";
    const measured =
      isOwn && isOver && status !== "awaiting_permission" ? this.#around.now() - tool.began : undefined;
    const more =
      isOwn && update.sessionUpdate === "tool_call_update"
        ? metaWithDetails(update, { title, kind, input: rawInput })
        : withoutMeta(update, [detailsKey]);
    const data = {
      id: toolCallId,
      ...optional({ status, duration: numberOf(details?.["duration"]) ?? measured }),
      ...this.#output(update, status, tool, isOwn && isOver ? lastContent(update, tool) : update.content),
      ...(update.sessionUpdate === "tool_call_update" ? this.#location(update) : {}),
      ...more,
    };
    return { type: "tool_call_update", data };
  }

  #status(status: v1.ToolCallStatus, details: Fields | undefined, tool: KnownTool): scoped.ToolCallStatus {
    const said = details?.["status"];
    if (status === "pending" && (said === "awaiting_permission" || tool.questions > 0))
      return "awaiting_permission";
    if (status !== "failed") return status;
    if (said === "denied" || said === "cancelled") return said;
    if (details !== undefined) return status;
    return tool.isDenied ? "denied" : this.isCancelling ? "cancelled" : status;
  }

  #location({ locations }: ToolUpdate): { location?: scoped.Location } {
    const [first, ...others] = locations ?? [];
    if (others.length > 0) this.#around.lost("all locations of a tool call but the first");
    if (first === undefined) return {};
    const details = dialectDetails(first) ?? {};
    const columns = given({
      line: first.line,
      column: countOf(details["column"]),
      endLine: countOf(details["endLine"]),
      endColumn: countOf(details["endColumn"]),
    });
    return { location: { path: first.path, ...columns, ...withoutMeta(first, [detailsKey]) } };
  }

  /** There is one output: a diff or a terminal, else the texts together. */
  #output(
    update: ToolUpdate,
    status: scoped.ToolCallStatus | undefined,
    { hasContent }: KnownTool,
    said: readonly v1.ToolCallContent[] | null | undefined,
  ): { output?: object; error?: string } {
    const content = said ?? [];
    const { rawOutput } = update;
    const { lost } = this.#around;
    if (rawOutput != null && hasContent) lost("the raw output of a tool call beside its content");
    if (content.length === 0) {
      if (rawOutput == null || hasContent) return {};
      const text = typeof rawOutput === "string" ? rawOutput : JSON.stringify(rawOutput);
      return status === "failed" ? { error: text } : { output: { type: "text", text } };
    }
    const errors = content.filter((item) => dialectDetails(item)?.["error"] === true);
    const rest = content.filter((item) => !errors.includes(item));
    // what is said beside the output of a call that failed is why
    const isReason = (item: v1.ToolCallContent): boolean =>
      item.type === "content" && item.content.type === "text" && dialectDetails(item) === undefined;
    const isMixed = !rest.every(isReason);
    const isFailure = status === "failed" || (isMixed && (status === "denied" || status === "cancelled"));
    const shown = errors.length > 0 ? errors : isFailure ? rest.filter(isReason) : [];
    const output = rest.filter((item) => !shown.includes(item));
    return {
      ...(output.length === 0 ? {} : { output: this.#one(output) }),
      ...(shown.length === 0 ? {} : { error: shown.map(textOfItem).join("\n") }),
    };
  }

  #one(content: readonly v1.ToolCallContent[]): object {
    const [first] = content;
    if (content.length === 1 && first !== undefined) return this.#item(first);
    const whole = content.find(({ type }) => type !== "content");
    if (whole === undefined) return { type: "text", text: content.map(textOfItem).join("\n") };
    this.#around.lost("all content of a tool call but one");
    return this.#item(whole);
  }

  #item(item: v1.ToolCallContent): object {
    const said = dialectDetails(item)?.["output"];
    const isDiff = isObject(said) && said["type"] === "diff" && !this.#around.showsDiffs();
    // `_meta` is anybody's: only what the dialect knows is said
    if (isObject(said) && !isDiff && validate.ToolOutput(said, modes.checks | modes.strict) === undefined)
      return said;
    const meta = withoutMeta(item, [detailsKey]);
    switch (item.type) {
      case "diff": {
        const { path, oldText, newText } = item;
        const diff = { path, hunks: hunksBetween(path, oldText ?? undefined, newText) };
        if (!this.#around.showsDiffs()) return { type: "text", text: diffText(diff), ...meta };
        return { type: "diff", ...diff, ...meta };
      }
      case "terminal": {
        const { terminalId } = item;
        return { type: "terminal", terminalId, ...this.#around.terminal(terminalId), ...meta };
      }
      default: {
        const { content } = item;
        if (content.type === "text") return { ...blockToScoped(content, this.#around.lost), ...meta };
        const text = textOfItem(item);
        if (content.type === "resource" && "text" in content.resource) {
          const { uri, mimeType } = content.resource;
          return { type: "text", text, ...metaWithDetails(meta, { uri, mimeType }) };
        }
        this.#around.lost(`content of type ${String(content.type)} in a tool call`);
        return { type: "text", text, ...meta };
      }
    }
  }
}

/** The content of the last update of a call, which shows its terminal once more. */
function lastContent({ content }: ToolUpdate, { terminal }: KnownTool): ToolUpdate["content"] {
  return content == null && terminal !== undefined ? [terminal] : content;
}

function isOpen(status: v1.ToolCallStatus): boolean {
  return status === "pending" || status === "in_progress";
}

function textOfItem(item: v1.ToolCallContent): string {
  if (item.type !== "content") return placeholder(item);
  const { content } = item;
  if (content.type === "text") return content.text;
  // the text of a resource says more than its name
  if (content.type === "resource" && "text" in content.resource) return content.resource.text;
  return placeholder(content);
}

/** The fields of an announcement have no null. */
function withoutNulls(toolCall: v1.ToolCallUpdate): { toolCallId: string } {
  return given({ ...toolCall }) as { toolCallId: string }; // the id is there
}
