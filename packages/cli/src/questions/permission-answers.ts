// The answers to a permission question: letters for the usual ones, numbers for the others.

import { parseRule } from "@parley/client/internal";
import { type PermissionChoice, type PermissionQuestion, RuleError } from "@parley/client/policy";
import { escapedLine } from "../terminal/sanitise.ts";

/** The letters of the usual answers, by what they choose. */
const letters = [
  { letter: "y", effect: "allow", scope: "once", name: "once" },
  { letter: "s", effect: "allow", scope: "session", name: "this session" },
  { letter: "a", effect: "allow", scope: "workspace", name: "this folder, 30 days" },
  { letter: "n", effect: "deny", scope: "once", name: "no" },
] as const;

export function usualAnswers({ choices }: PermissionQuestion) {
  return letters.flatMap(({ letter, effect, scope, name }) => {
    const id = `${effect}:${scope}`;
    return choices.some((choice) => choice.id === id) ? [{ letter, name, id }] : [];
  });
}

/** Whatever the agent calls its options, a no is a no. */
export function noOf({ choices }: PermissionQuestion): string {
  return choices.find(({ effect, scope }) => effect === "deny" && scope === "once")?.id ?? "deny:once";
}

/** The letters and what they mean. `no` are the keys that say no. Of something that is asked every time there is only yes and no. */
export function answerWords(question: PermissionQuestion, no = "n/Enter"): readonly string[] {
  const shown = usualAnswers(question).map(({ letter, name }) => `${letter === "n" ? no : letter} ${name}`);
  return [...shown, ...(question.always ? [] : ["e no, say why", "? more"])];
}

export function notAnAnswer(typed: string): string {
  return `${JSON.stringify(escapedLine(typed)).slice(0, 60)} is not an answer; type one of those shown`;
}

/** Whether the rule that is remembered can be edited. */
export function isEditable({ allowedBy, choices }: PermissionQuestion): boolean {
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
  return choices.filter(({ id }) => !letters.some(({ effect, scope }) => id === `${effect}:${scope}`));
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
