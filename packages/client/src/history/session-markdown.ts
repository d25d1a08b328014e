// Renders a session as Markdown, with all foreign text quoted or fenced.

import type { ContentBlock, Entry } from "@parley/acp";
import { extensionIn, nameKey } from "@parley/acp/extensions";
import {
  gitPatch,
  type MessageItem,
  type PlanItem,
  type SessionView,
  type TimelineItem,
  type ToolCallItem,
  viewFrom,
} from "@parley/acp/view";
import { costText } from "./cost-text.ts";
import type { HistorySession } from "./history-record.ts";
import { separateCalls } from "./separate-calls.ts";

const longestOutput = 4_000;

type Diff = Extract<ToolCallItem["content"][number], { type: "diff" }>;

export function sessionMarkdown(session: HistorySession, entries: readonly Entry[]): string {
  const view = viewFrom(entries.map(separateCalls()));
  const facts = [
    `- agent: ${oneLine(session.agent.name)}`,
    `- directory: ${code(session.cwd)}`,
    `- begun: ${new Date(session.createdAt).toISOString()}`,
    `- last used: ${new Date(session.updatedAt).toISOString()}`,
    `- session: ${session.id}${session.name === undefined ? "" : ` (${session.name})`}`,
    ...(view.usage === undefined ? [] : [`- context: ${view.usage.used} of ${view.usage.size} tokens`]),
    ...(view.cost === undefined
      ? []
      : [`- cost: ${costText({ ...view.cost, currency: oneLine(view.cost.currency) })}`]),
  ];
  const title = oneLine(session.title ?? view.title ?? "Session");
  const prompts: Prompts = new Map(
    entries.flatMap((entry) => (entry.kind === "prompt" ? [[entry.messageId, entry.prompt]] : [])),
  );
  const parts = view.timeline.map((item) => itemMarkdown(item, view, prompts)).filter((part) => part !== "");
  const plans = [...view.plans.values()].map(({ plan }) => planMarkdown(plan)).filter((part) => part !== "");
  const plan = plans.length === 0 ? [] : [`## Plan, as it was last\n\n${plans.join("\n\n")}`];
  return `${[`# ${title}`, facts.join("\n"), ...parts, ...plan].join("\n\n")}\n`.replaceAll(acting, byNumber);
}

/** Control characters, and marks that reorder text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

function byNumber(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The prompt that was sent, since an agent may echo it differently. */
type Prompts = ReadonlyMap<string, readonly ContentBlock[]>;

function itemMarkdown(item: TimelineItem, view: SessionView, prompts: Prompts): string {
  switch (item.kind) {
    case "user_message": {
      const sent = prompts.get(item.messageId);
      const heading = sent === undefined ? "## User, as reported by the agent" : "## User";
      return `${heading}\n\n${quoted(content(sent ?? item.content))}${ending(item)}`;
    }
    case "agent_message":
      return `## Agent\n\n${quoted(content(item.content))}`;
    case "agent_thought":
      return `*Thought:*\n\n${quoted(content(item.content))}`;
    case "tool_call":
      return toolCall(item, view);
    case "permission": {
      const { ask, answer } = item;
      const chosen =
        answer?.outcome === "selected"
          ? ask.options.find(({ optionId }) => optionId === answer.optionId)?.name
          : answer?.outcome;
      return `*Asked:* ${oneLine(ask.title)}. *Answered:* ${oneLine(String(chosen ?? "nothing"))}`;
    }
    case "elicitation":
      return `*Asked:* ${oneLine(item.ask.message)}. *Answered:* ${item.answer?.action ?? "nothing"}`;
    case "notice": {
      const { severity, title, description } = item.notice;
      return `*${oneLine(severity)}:* ${oneLine(title)}${description ? `: ${oneLine(description)}` : ""}`;
    }
    case "compaction": {
      const why = item.error === undefined ? "" : `: ${oneLine(item.error)}`;
      const summary = quoted(content(item.summary));
      return `*The conversation was compacted (${oneLine(String(item.status))})${why}.*${summary && `\n\n${summary}`}`;
    }
    default:
      return "";
  }
}

/** Only endings that a reader would not expect. */
function ending({ result }: MessageItem): string {
  if (result === undefined || result.stopReason === "end_turn") return "";
  const why = result.error === undefined ? "" : `: ${oneLine(result.error.message)}`;
  return `\n\n*Ended: ${oneLine(result.stopReason)}${why}*`;
}

function toolCall(call: ToolCallItem, view: SessionView): string {
  const parts = [`**${oneLine(call.label)}** (${oneLine(call.toolKind)}, ${oneLine(call.status)})`];
  for (const part of call.content) {
    if (part.type === "diff") {
      const patch =
        part.path !== undefined && part.newText !== undefined
          ? gitPatch(part.path, part.oldText ?? undefined, part.newText)
          : part.patch?.text;
      if (patch !== undefined) parts.push(fenced(patch, "diff"));
      else if (part.changes !== undefined) parts.push(part.changes.map(changeLine).join("\n"));
    } else if (part.type === "terminal" && typeof part.terminalId === "string") {
      const output = view.terminals.get(part.terminalId)?.output.text() ?? "";
      if (output !== "") parts.push(fenced(output));
    } else if (part.type === "content") {
      const text = content([part.content as ContentBlock]); // checked by its tag
      if (text !== "") parts.push(fenced(text));
    }
  }
  const why = parts.length === 1 && call.status === "failed" ? rawWords(call.rawOutput) : "";
  if (why !== "") parts.push(fenced(why));
  return parts.join("\n\n");
}

/** A change without its text: at least which file, and what became of it. */
function changeLine(change: NonNullable<Diff["changes"]>[number]): string {
  const { operation, path, oldPath } = change as Readonly<Record<string, unknown>>; // an operation may be of any kind
  const from = typeof oldPath === "string" ? `${code(oldPath)} to ` : "";
  return `- ${oneLine(String(operation))} ${from}${code(String(path ?? "?"))}`;
}

/** Why a call failed, where it has no content to say so. */
function rawWords(output: unknown): string {
  const { error, message, stderr } = (output ?? {}) as Readonly<Record<string, unknown>>; // whatever it is
  const words = [output, error, message, stderr].find((each) => typeof each === "string" && each !== "");
  return String(words ?? (output == null ? "" : JSON.stringify(output)));
}

function planMarkdown(plan: PlanItem["plan"]): string {
  if (plan.type === "items" && Array.isArray(plan.entries)) {
    const lines = plan.entries.map(
      ({ content: what, status }) => `- [${status === "completed" ? "x" : " "}] ${oneLine(String(what))}`,
    );
    return lines.join("\n");
  }
  if ("content" in plan && typeof plan.content === "string") return quoted(plan.content.trim());
  return "uri" in plan && typeof plan.uri === "string" ? `[plan](${oneLine(plan.uri)})` : "";
}

/** Nothing inside ends a quote, be it a heading, a fence or a comment that has no end. */
function quoted(text: string): string {
  if (text === "") return "";
  const lines = text.split(/\r\n?|[\n\u2028\u2029]/);
  return lines.map((line) => (line === "" ? ">" : `> ${line}`)).join("\n");
}

function content(blocks: readonly ContentBlock[]): string {
  return blocks.map(block).join("").trim();
}

function block(part: ContentBlock): string {
  switch (part.type) {
    case "text":
      return String(part.text);
    case "resource_link":
      return `\n\n[${oneLine(String(part.name))}](${String(part.uri)})\n\n`;
    case "resource": {
      const name = extensionIn(part._meta, nameKey);
      if (typeof name === "string") return `\n\n*(told: ${oneLine(name)})*\n\n`;
      return `\n\n*(with ${code(String((part.resource as { uri?: unknown }).uri))})*\n\n`; // any kind of resource has one
    }
    default:
      return `\n\n*(${oneLine(part.type)})*\n\n`;
  }
}

/** A fence that nothing inside can end. Long texts lose their middle. */
function fenced(text: string, language = ""): string {
  const half = longestOutput / 2;
  const shown =
    text.length > longestOutput
      ? `${text.slice(0, half)}\n… ${text.length - longestOutput} characters …\n${text.slice(-half)}`
      : text;
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${shown.trimEnd()}\n${fence}`;
}

function code(text: string): string {
  return text.includes("`") ? oneLine(text) : `\`${flat(text)}\``;
}

/** Words in a line of ours; no tag of theirs is left open. */
function oneLine(text: string): string {
  return flat(text).replaceAll("<", "\\<");
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
