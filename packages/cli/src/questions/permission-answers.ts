// The answers to a permission question: letters for the usual ones, numbers for the others.

import {
  commandText,
  type PermissionChoice,
  parseRule,
  RuleError,
  type ShownPermission,
  shownSource,
} from "@parley/client/policy";
import { nearText } from "../terminal/near-text.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import type { ShownAnswer } from "./answer-rows.ts";

/** Where the question is asked: who asks, and in which directory. */
export interface QuestionSource {
  readonly agent: string;
  readonly cwd: string;
}

/** The letters of the usual answers, by what they choose. */
const letters = [
  { letter: "y", id: "allow:once" },
  { letter: "s", id: "allow:session" },
  { letter: "w", id: "allow:edits" },
  { letter: "a", id: "allow:workspace" },
  { letter: "n", id: "deny:once" },
] as const;

export function usualAnswers({ choices }: ShownPermission) {
  return letters.flatMap(({ letter, id }) => {
    const choice = choices.find((each) => each.id === id);
    return choice === undefined ? [] : [{ letter, id, rules: choice.rules ?? [] }];
  });
}

/** The longest command that is named in an answer. */
const longestCommand = 30;

/** What an answer covers that is remembered: exactly what was shown. */
function covered({ subjects }: ShownPermission): string {
  const [only, another] = subjects;
  const files = subjects.every(({ operation }) => operation === "write" || operation === "read");
  if (only === undefined || another !== undefined) {
    const { size } = new Set(subjects.map(({ path }) => path));
    return files && size > 1 ? `these ${size} files` : files ? "this file" : "exactly these things";
  }
  const { operation, deletes, host, tool } = only;
  switch (operation) {
    case "read":
      return "reading this file";
    case "write":
      return deletes ? "deleting this file" : "this file";
    case "exec": {
      const command = shownSource(escapedLine(commandText(only) ?? ""));
      return command === "" || command.length > longestCommand ? "this command" : `\`${command}\``;
    }
    case "net":
      return escapedLine(host ?? "this host");
    case "mcp":
      return tool === undefined ? "this tool" : escapedLine(`${tool.server}/${tool.name}`);
    default:
      return "exactly this";
  }
}

/**
 * The usual answers, each with what it covers. `no` are the keys that say no. Of something that is asked every time there is
 * only yes and no.
 */
export function shownAnswers(
  question: ShownPermission,
  { cwd }: Pick<QuestionSource, "cwd">,
  no = "n/Enter",
): readonly ShownAnswer[] {
  const what = covered(question);
  const texts: Readonly<Record<(typeof letters)[number]["id"], Omit<ShownAnswer, "keys">>> = {
    "allow:once": { text: "yes, this once", short: "once" },
    "allow:session": { text: `${what}, this session`, short: "this session" },
    "allow:edits": { text: "all edits, this session", short: "all edits" },
    "allow:workspace": { text: `${what}, always in this folder (30 days)`, short: "this folder, 30 days" },
    "deny:once": { text: "no" },
  };
  const usual = usualAnswers(question).map(({ letter, id, rules }): ShownAnswer => {
    const rule = escapedLine(nearText(rules.join("; "), cwd));
    const isListed = letter !== "n";
    return { keys: isListed ? letter : no, ...texts[id], isListed, ...(rule === "" ? {} : { rule }) };
  });
  const more = [
    { keys: "e", text: "no, say why" },
    { keys: "?", text: "more" },
  ];
  return [...usual, ...(question.isAlwaysAsked ? [] : more)];
}

/** Whatever the agent calls its options, a no is a no. */
export function noOf({ choices }: ShownPermission): string {
  return choices.find(({ effect, scope }) => effect === "deny" && scope === "once")?.id ?? "deny:once";
}

export function notAnAnswer(typed: string): string {
  return `${JSON.stringify(escapedLine(typed)).slice(0, 60)} is not an answer; type one of those shown`;
}

/** Whether the rule that is remembered can be edited. */
export function isEditable({ allowedBy, choices }: ShownPermission): boolean {
  return allowedBy?.length === 1 && choices.some(({ id }) => id === `allow:${editedScope}`);
}

/** How far an edited rule reaches. */
export const editedScope = "workspace";

/** The rule that was typed, or why it cannot be meant. Nothing typed means `usual`. */
export function editedRule(
  typed: string,
  usual: string,
): { readonly rule: string } | { readonly problem: string } {
  const rule = typed === "" ? usual : typed.replace(/^allow\s+/, "");
  try {
    parseRule(rule, { effect: "allow", origin: "remembered" });
    return { rule };
  } catch (error) {
    if (!(error instanceof RuleError)) throw error;
    return { problem: escapedLine(error.message) };
  }
}

/** The answers without a letter. */
export function listed(choices: readonly PermissionChoice[]): readonly PermissionChoice[] {
  return choices.filter(({ id }) => !letters.some((each) => each.id === id));
}

/** By its number, or by the name or the id of one alone. */
export function listedChoice(
  answer: string,
  choices: readonly PermissionChoice[],
): PermissionChoice | undefined {
  const all = listed(choices);
  const chosen = all[Number(answer) - 1];
  if (chosen !== undefined) return chosen;
  const [named, another] = all.filter(({ name, optionId }) => name === answer || optionId === answer);
  return another === undefined ? named : undefined;
}
