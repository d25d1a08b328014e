// The permission question: what a person is shown and may answer.

import type { PermissionRequest } from "@parley/acp";
import type { Verdict } from "../rules/decide.ts";
import { scopesFor } from "../rules/scopes.ts";
import { shownLine } from "../subjects/shown-text.ts";
import type { Scope, Subject } from "../subjects/subject.ts";

export interface PermissionChoice {
  /** What is answered with. */
  readonly id: string;
  readonly name: string;
  readonly effect: "allow" | "deny";
  readonly scope: Scope;
  /** The option of the agent that is sent back; absent: the question is answered as cancelled. */
  readonly optionId?: string;
}

export interface PermissionQuestion {
  readonly sessionId: string;
  /** One line in our own words, from what we know. */
  readonly summary: string;
  readonly subjects: readonly Subject[];
  /** Why it is asked; names the rule where one says so. */
  readonly reason: string;
  /** The agent's own words, safe to show; they may be false. */
  readonly claimed?: { readonly title: string; readonly description?: string };
  readonly choices: readonly PermissionChoice[];
  /** What a write would change. */
  readonly diff?: { readonly path: string; readonly oldText?: string; readonly newText: string };
  /** In its place the agent's own patch, in git's form. */
  readonly patch?: string;
  /** The agent's own question, where it asked one. */
  readonly request?: PermissionRequest;
  /** Variables that the agent sets for a command. */
  readonly env?: Readonly<Record<string, string>>;
  /** Aborts when nobody waits for an answer any more. */
  readonly signal: AbortSignal;
}

export const scopeNames: Readonly<Record<Scope, string>> = {
  once: "once",
  session: "for this session",
  workspace: "in this workspace, for 30 days",
  always: "always, for 90 days",
};

/** The choices for something that we do ourselves. */
export function ownChoices(subjects: readonly Subject[], verdict: Verdict): PermissionChoice[] {
  const scopes = scopesFor(subjects, verdict);
  return (["allow", "deny"] as const).flatMap((effect) =>
    scopes.map((scope) => ({ id: `${effect}:${scope}`, name: nameOf(effect, scope), effect, scope })),
  );
}

/** The choices for what an agent asks: its options, then ours. */
export function choicesFor(
  { options }: PermissionRequest,
  subjects: readonly Subject[],
  verdict: Verdict,
): PermissionChoice[] {
  const theirs = options.map(({ optionId, name, kind }, at): PermissionChoice => {
    const effect = kind.startsWith("allow") ? "allow" : "deny";
    // "always" is the agent's to keep; on our side it lasts as long as the session
    const scope = kind.endsWith("_always") && !verdict.always ? "session" : "once";
    return { id: `option:${at}`, name: shownLine(name, 100) || kind, effect, scope, optionId };
  });
  const ours = scopesFor(subjects, verdict)
    .filter((scope) => scope !== "once")
    .flatMap((scope) =>
      (["allow", "deny"] as const).flatMap((effect): PermissionChoice[] => {
        const optionId = optionOf(options, effect);
        if (optionId === undefined && effect === "allow") return [];
        const choice = { id: `${effect}:${scope}`, name: nameOf(effect, scope), effect, scope };
        return [optionId === undefined ? choice : { ...choice, optionId }];
      }),
    );
  const reject: PermissionChoice = { id: "deny:once", name: "Reject", effect: "deny", scope: "once" };
  return [...theirs, ...(theirs.some(({ effect }) => effect === "deny") ? [] : [reject]), ...ours];
}

/** The option that says no more than it must. Undefined: none says just that, or its id is also that of another. */
export function optionOf(
  options: PermissionRequest["options"],
  effect: "allow" | "deny",
): string | undefined {
  const ids = new Map<string, number>();
  for (const { optionId } of options) ids.set(optionId, (ids.get(optionId) ?? 0) + 1);
  const of = (kind: string) =>
    options.find((option) => option.kind === kind && ids.get(option.optionId) === 1)?.optionId;
  return effect === "allow" ? of("allow_once") : (of("reject_once") ?? of("reject_always"));
}

function nameOf(effect: "allow" | "deny", scope: Scope): string {
  return `${effect === "allow" ? "Allow" : "Reject"} ${scopeNames[scope]}`;
}
