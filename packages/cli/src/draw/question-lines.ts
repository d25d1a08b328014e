// Questions of the agent that were answered or are open: what was asked, and what the answer was.

import { extensionIn, refusalKey, ruleKey, saidKey, scopeKey } from "@parley/acp/extensions";
import type { ElicitationItem, PermissionItem } from "@parley/acp/view";
import { nearText } from "../terminal/near-text.ts";
import type { Role } from "../terminal/paint.ts";
import { safeLine } from "../terminal/sanitise.ts";
import type { Drawing } from "./draw-options.ts";
import { clipped, widthOf, wrappedWords } from "./text-lines.ts";

const longestQuestion = 2_000;

interface Answer {
  readonly text: string;
  readonly role: Role;
}

export function permissionLines({ ask, answer }: PermissionItem, drawing: Drawing): string[] {
  return questionLines(ask.title, permissionAnswer(ask, answer, drawing.cwd), drawing);
}

function permissionAnswer(ask: PermissionItem["ask"], answer: PermissionItem["answer"], cwd: string): Answer {
  if (answer === undefined) return { text: "waits for an answer", role: "warning" };
  if (answer.outcome !== "selected") return { text: "cancelled", role: "dim" };
  const option = ask.options.find(({ optionId }) => optionId === answer.optionId);
  const isAllowed = option !== undefined && String(option.kind).startsWith("allow");
  const how = permissionWords(isAllowed, answer._meta ?? {}, cwd);
  const name = option === undefined ? "" : ` (${shortLine(option.name)})`;
  return {
    text: how ?? `${isAllowed ? "allowed" : "refused"}${name}`,
    role: isAllowed ? "success" : "error",
  };
}

/** How far an answer reaches. */
const reaches: Readonly<Record<string, string>> = {
  once: "once",
  session: "for this session",
  workspace: "always here, for 30 days",
  always: "always and everywhere, for 90 days",
};

/** What was chosen, as far as our own gate says it: the option of the agent does not tell. */
function permissionWords(
  isAllowed: boolean,
  meta: Readonly<Record<string, unknown>>,
  cwd: string,
): string | undefined {
  const [scope, rule, said, refusal] = ([scopeKey, ruleKey, saidKey, refusalKey] as const).map((key) =>
    extensionIn(meta, key),
  );
  const reach = typeof scope === "string" && Object.hasOwn(reaches, scope) ? reaches[scope] : undefined;
  const why = said ?? refusal;
  if (reach === undefined && rule === undefined && why === undefined) return undefined;
  // a no is for once unless it says more
  const far = reach === undefined || (scope === "once" && !isAllowed) ? "" : ` ${reach}`;
  const by =
    rule === undefined ? "" : ` by the rule "${nearText(shortLine(rule), cwd)}"${far === "" ? "" : ","}`;
  return `${isAllowed ? "allowed" : "refused"}${by}${far}${why === undefined ? "" : `: ${shortLine(why)}`}`;
}

export function elicitationLines({ ask, answer }: ElicitationItem, drawing: Drawing): string[] {
  const what = ask.mode === "url" ? `${ask.message} ${hostOf(ask.url)}` : ask.message;
  // values are not repeated: a form may have asked for something private
  return questionLines(what, elicitationAnswer(answer?.action, ask.mode === "url"), drawing);
}

function elicitationAnswer(action: string | undefined, isAddress: boolean): Answer {
  switch (action) {
    case undefined:
      return { text: "waits for an answer", role: "warning" };
    case "accept":
      return { text: isAddress ? "opened" : "answered", role: "success" };
    case "decline":
      return { text: "declined", role: "error" };
    case "cancel":
      return { text: "dismissed", role: "dim" };
    default:
      return { text: shortLine(action), role: "dim" };
  }
}

/** The server decides what an address means: its name is shown as it is looked up. */
function hostOf(url: unknown): string {
  try {
    return `(${new URL(String(url)).host})`;
  } catch {
    return "(not an address)";
  }
}

function questionLines(question: string, { text, role }: Answer, drawing: Drawing): string[] {
  const { width, paint, marks, isExpanded } = drawing;
  const words = shortLine(question);
  const answer = clipped(text, width - 4, marks.more);
  const line = `${marks.question} ${words}`;
  const end = `: ${answer}`;
  if (widthOf(line) + widthOf(end) <= width)
    return [`${paint("warning", marks.question)} ${words}: ${paint(role, answer)}`];
  const lines = wrappedWords(words, width - 2);
  const shown = isExpanded ? lines : lines.slice(0, 2);
  if (shown.length < lines.length)
    shown[shown.length - 1] = clipped(
      `${shown.at(-1)} ${marks.more}${" ".repeat(width)}`,
      width - 2,
      marks.more,
    );
  return [
    ...shown.map((each, at) => (at === 0 ? `${paint("warning", marks.question)} ${each}` : `  ${each}`)),
    `  ${paint(role, answer)}`,
  ];
}

function shortLine(text: unknown): string {
  return safeLine(String(text ?? "").slice(0, longestQuestion));
}
