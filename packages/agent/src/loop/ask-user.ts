// Asks the user a question: with a form if the client has forms, else with the buttons of a permission request.

import type { ToolCallHandle, Turn } from "@parley/acp";
import { oneLine, unlinked } from "../text/safe-text.ts";

/** Resolves with undefined when the user does not answer. */
export async function askUser(
  turn: Turn,
  { call, title }: { readonly call: ToolCallHandle; readonly title: string },
  question: string,
  options: readonly string[],
): Promise<string | undefined> {
  if (turn.client.capabilities.elicitationForm) {
    const answer = await turn.elicit({
      mode: "form",
      message: question,
      requestedSchema: {
        type: "object",
        properties: {
          answer: options.length === 0 ? { type: "string" } : { type: "string", ...choicesOf(options) },
        },
        required: ["answer"],
      },
    });
    const given = answer.action === "accept" ? answer.content?.["answer"] : undefined;
    return typeof given === "string" ? given : undefined;
  }
  if (options.length === 0) return undefined;
  const answers = options.map((name, i) => ({ optionId: `option-${i}`, name, kind: "allow_once" as const }));
  const none = { optionId: "none", name: "No answer", kind: "reject_once" as const };
  // a question that was cut in the title is repeated in full
  const isInTitle = oneLine(title) === question;
  const chosen = await call.requestPermission({
    options: [...answers, none],
    description: isInTitle ? undefined : question,
  });
  return options.find((_, i) => `option-${i}` === chosen?.optionId);
}

function choicesOf(options: readonly string[]) {
  if (options.every((option) => unlinked(option) === option)) return { enum: [...options] };
  return { oneOf: options.map((option) => ({ const: option, title: unlinked(option) })) };
}
