// What happens beside the messages: notices, compactions, subagents, messages between sessions, background work.

import type {
  CompactionItem,
  NoticeItem,
  SessionMessageItem,
  SessionView,
  SubagentItem,
  UnknownItem,
} from "@parley/acp/view";
import type { Role } from "../terminal/paint.ts";
import { escapedJson, safeLine, safeText } from "../terminal/sanitise.ts";
import type { Drawing } from "./draw-options.ts";
import { blockLines, indented, plainLines } from "./message-lines.ts";
import { clipped, count, counted, sourceLines, widthOf, wrappedWords } from "./text-lines.ts";

const longestTitle = 2_000;
const foldedLines = 8;

/** The title and the description of an agent's notice. */
export function noticeLines({ notice }: Pick<NoticeItem, "notice">, drawing: Drawing): string[] {
  const { width, paint, marks } = drawing;
  const { severity, title, description } = notice;
  const role: Role = severity === "error" ? "error" : severity === "info" ? "accent" : "warning";
  const more = sourceLines(safeText(String(description ?? "")))
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .flatMap((line) => wrappedWords(line, width - 2));
  return [
    ...headed(paint(role, marks.notice), folded(wrappedWords(short(title), width - 2), drawing)),
    ...indented(folded(more, drawing)),
  ];
}

export function compactionLines(item: CompactionItem, drawing: Drawing): string[] {
  const { status, error, summary } = item;
  const { width, paint, marks, isExpanded } = drawing;
  const why = error === undefined || error === "" ? "" : `: ${short(error)}`;
  const isOpen = status === "in_progress";
  const text = isOpen
    ? `compacting the conversation ${marks.more}`
    : status === "completed"
      ? "conversation compacted"
      : `conversation not compacted (${short(status)})${why}`;
  const mark = isOpen ? marks.running : marks.notice;
  const shown = isExpanded ? blockLines(summary, width - 2, plainLines) : [];
  return [
    ...headed(paint("warning", mark), folded(wrappedWords(text, width - 2), drawing)),
    ...indented(shown.map((line) => paint("dim", line))),
  ];
}

export function subagentLines(item: SubagentItem, drawing: Drawing): string[] {
  const { width, paint, marks, isExpanded } = drawing;
  const { title, description, state } = item;
  const said = clipped(stateText(state), Math.floor(width / 2) - 4, marks.more);
  const name = short(title ?? description ?? item.sessionId);
  const head = clipped(`subagent ${name}`, width - 5 - widthOf(said), marks.more);
  const more = title === undefined || description === undefined ? "" : description;
  const lines = more === "" ? [] : plainLines(more, width - 2);
  return [
    `${paint("accent", marks.subagent)} ${head} ${paint("dim", `${marks.dot} ${said}`)}`,
    ...indented((isExpanded ? lines : folded(lines.slice(0, 1), drawing)).map((line) => paint("dim", line))),
  ];
}

function stateText(state: SubagentItem["state"]): string {
  if (state === undefined) return "started";
  if (state.state === "running") return "working";
  if (state.state === "requires_action") return "needs you";
  if (state.state !== "idle") return short(state.state).slice(0, 30);
  const { stopReason } = state as { stopReason?: unknown }; // of a state that may be of a newer version
  const reason =
    typeof stopReason === "string" ? short(stopReason).replaceAll("_", " ").slice(0, 30) : "idle";
  return reason === "end turn" ? "done" : reason;
}

export function sessionMessageLines(item: SessionMessageItem, view: SessionView, drawing: Drawing): string[] {
  const { width, paint, marks, isExpanded } = drawing;
  const { senderSessionId: from, recipientSessionId: to, content } = item;
  const nameOf = (id: string | undefined) =>
    id === undefined ? "this session" : short(view.subagents.get(id)?.title ?? id);
  const heading = clipped(`message from ${nameOf(from)} to ${nameOf(to)}`, width - 2, marks.more);
  const lines = blockLines(content, width - 2, plainLines);
  return [
    `${paint("accent", marks.message)} ${paint("dim", heading)}`,
    ...indented(isExpanded ? lines : folded(lines, drawing)),
  ];
}

export function unknownLines(item: UnknownItem, { width, paint, marks, isExpanded }: Drawing): string[] {
  const text = `update of an unknown kind: ${short(item.sessionUpdate)}`;
  const raw = isExpanded ? wrappedWords(jsonOf(item.raw), width - 2) : [];
  return [
    paint("dim", `${marks.unknown} ${clipped(text, width - 2, marks.more)}`),
    ...indented(raw.map((line) => paint("dim", line))),
  ];
}

/** What goes on although no prompt is being worked on. Undefined if there is none. */
export function backgroundLine(view: SessionView, { width, paint, marks }: Drawing): string | undefined {
  const work = view.background ?? [];
  if (work.length === 0) return undefined;
  const names = work.map((each) => {
    const { type, toolCallId, terminalId, sessionId } = each as Readonly<Record<string, unknown>>; // an open type
    if (typeof toolCallId === "string") return view.toolCalls.get(toolCallId)?.label ?? toolCallId;
    if (typeof terminalId === "string") return view.terminals.get(terminalId)?.command ?? terminalId;
    if (typeof sessionId === "string") return view.subagents.get(sessionId)?.title ?? sessionId;
    return String(type);
  });
  const text = `${count(work.length)} in the background: ${names.map(short).join(", ")}`;
  return paint("dim", `${marks.running} ${clipped(text, width - 2, marks.more)}`);
}

function folded(lines: readonly string[], { isExpanded, paint, marks, width }: Drawing): string[] {
  const rest = lines.length - foldedLines;
  if (isExpanded || rest <= 0) return [...lines];
  const note = clipped(`${marks.more} ${counted(rest, "more line")}`, width - 2);
  return [...lines.slice(0, foldedLines), paint("dim", note)];
}

function headed(mark: string, lines: readonly string[]): string[] {
  return lines.map((line, at) => `${at === 0 ? mark : " "} ${line}`);
}

function short(text: unknown): string {
  return safeLine(String(text ?? "").slice(0, longestTitle));
}

const longestJson = 20_000;

function jsonOf(value: unknown): string {
  return value === undefined ? "" : escapedJson(value).slice(0, longestJson);
}
