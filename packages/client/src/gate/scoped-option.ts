// Chooses the option that reaches as far as the answer, where an agent offers one for each scope.

import type { PermissionRequest } from "@parley/acp";
import { operationSubject } from "@parley/acp/internal";
import type { PermissionChoice } from "./permission-question.ts";

/**
 * The agent remembers as long as we do: "session", "workspace" or "always". Undefined for an answer that is for once, and for
 * questions without such options.
 */
export function scopedOption(
  { subject, options }: PermissionRequest,
  choice: PermissionChoice | undefined,
): string | undefined {
  if (choice === undefined || choice.scope === "once" || choice.id.startsWith("option:")) return undefined;
  if (operationSubject(subject) === undefined) return undefined;
  const isYes = choice.effect === "allow";
  const wanted = isYes ? choice.scope : "reject_always";
  const kind = isYes ? "allow_always" : "reject_always";
  return options.find((option) => option.optionId === wanted && option.kind === kind)?.optionId;
}
