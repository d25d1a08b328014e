// Reads what a permission handler returned, and picks options for a policy.

import { isObject } from "../../../base/objects.ts";
import { bothMeta, metaOf } from "../../../edition/wire-fields.ts";
import { argumentText } from "../../../jsonrpc/errors.ts";
import type { PermissionOutcome, PermissionRequest } from "../../../model/ask.ts";
import type { PermissionOption } from "../../../model/content.ts";

/**
 * The answer to a permission request: the `optionId` of one of its options, or undefined for no. The forms of the protocol
 * and of the official SDK, `{ outcome: … }`, are taken too.
 */
export type PermissionAnswer =
  | string
  | undefined
  | PermissionOutcome
  | { readonly outcome: PermissionOutcome };

export const cancelled: PermissionOutcome = { outcome: "cancelled" };

/** Anything that is no answer means no, and is described to `complain`. */
export function outcomeFrom(
  { options }: PermissionRequest,
  given: unknown,
  complain: (message: string) => void,
): PermissionOutcome {
  if (given === undefined) return cancelled;
  const outcome = outcomeOf(given);
  if (outcome === undefined) {
    complain(
      `requestPermission returned ${argumentText(given)}, which is not an answer, so the request was denied; ${wanted}`,
    );
    return cancelled;
  }
  if (outcome.outcome !== "selected" || options.some(({ optionId }) => optionId === outcome.optionId))
    return outcome;
  const offered = options.map(({ optionId }) => argumentText(optionId)).slice(0, 10);
  complain(
    `requestPermission chose the option ${argumentText(outcome.optionId)}, which is not one of ${offered.join(", ")}, ` +
      `so the request was denied; ${wanted}`,
  );
  return cancelled;
}

const wanted = "return the optionId of one of request.options, or undefined for no";

function outcomeOf(given: unknown): PermissionOutcome | undefined {
  if (typeof given === "string") return { outcome: "selected", optionId: given };
  if (!isObject(given)) return undefined;
  // the official SDK wraps it
  if (isObject(given["outcome"])) {
    const inner = outcomeOf(given["outcome"]);
    return inner && { ...inner, ...bothMeta(given, inner) };
  }
  const { outcome, optionId } = given;
  if (outcome === "cancelled") return { outcome, ...metaOf(given) };
  if (outcome !== "selected" || typeof optionId !== "string") return undefined;
  return given as PermissionOutcome; // checked above
}

export function chosenOption(
  { options }: PermissionRequest,
  outcome: PermissionOutcome,
): PermissionOption | undefined {
  return options.find(({ optionId }) => outcome.outcome === "selected" && optionId === outcome.optionId);
}

export function optionOfKind(
  { options }: PermissionRequest,
  kind: "allow_once" | "reject_once",
): PermissionOutcome | undefined {
  const option = options.find((each) => each.kind === kind);
  return option === undefined ? undefined : { outcome: "selected", optionId: option.optionId };
}
