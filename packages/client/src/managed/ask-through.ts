// Lets the app's `requestPermission` answer the questions of a permission policy that has nobody to ask.

import type { ClientDefinition, ClientSession, PermissionRequest } from "@parley/acp";
import { isObject } from "@parley/acp/jsonrpc";
import type { PermissionAsker } from "../gate/gate-options.ts";
import type { PermissionChoice, PermissionQuestion } from "../gate/question.ts";

type RequestPermission = NonNullable<ClientDefinition["requestPermission"]>;

export interface AskThroughOptions {
  /** The session that the app has. */
  sessionOf(sessionId: string): ClientSession | undefined;
  warn(message: string): void;
}

export function askThrough(
  requestPermission: RequestPermission,
  { sessionOf, warn }: AskThroughOptions,
): PermissionAsker {
  return {
    async permission(question) {
      const { choices, request, sessionId, signal } = question;
      const context = { session: sessionOf(sessionId), signal };
      const answer: unknown = await requestPermission(request ?? requestFor(question), context);
      const id = selected(answer);
      const isChosen = ({ id: own, optionId }: PermissionChoice) =>
        request === undefined ? own === id : own.startsWith("option:") && optionId === id;
      const [chosen, another] = choices.filter(isChosen);
      if (chosen !== undefined && another === undefined) return chosen.id;
      if (answer !== undefined && !isCancelled(answer))
        warn("requestPermission answered with no id of an option, so the answer counts as no");
      return undefined;
    },
  };
}

/** The question about something that the agent has us do. */
function requestFor({ summary, reason, choices, subjects }: PermissionQuestion): PermissionRequest {
  const [subject] = subjects;
  const command = subject?.shellLine ?? subject?.argv?.join(" ");
  return {
    title: summary,
    description: reason,
    ...(command === undefined ? {} : { subject: { type: "command", command, cwd: subject?.cwd ?? "" } }),
    options: choices.map(({ id, name, effect, scope }) => ({
      optionId: id,
      name,
      kind: `${effect === "allow" ? "allow" : "reject"}_${scope === "once" ? "once" : "always"}`,
    })),
  };
}

/** The id of an answer: an id, an outcome, or an outcome as other libraries nest it. */
function selected(answer: unknown): string | undefined {
  if (typeof answer === "string") return answer;
  if (!isObject(answer)) return undefined;
  const { outcome, optionId } = answer;
  if (isObject(outcome)) return selected(outcome);
  return outcome === "selected" && typeof optionId === "string" ? optionId : undefined;
}

function isCancelled(answer: unknown): boolean {
  if (!isObject(answer)) return false;
  const { outcome } = answer;
  return outcome === "cancelled" || isCancelled(outcome);
}
