// Builds the options of a permission request.

import type { PermissionOption } from "@parley/acp";
import { extensionIn, modesKey, refusalKey, remembersKey, saidKey } from "@parley/acp/extensions";
import type { Meta } from "@parley/acp/model";
import type { Access } from "../tools/base/tool.ts";

export interface Rejection {
  readonly told: string;
  readonly advice: string;
}

const advice = "Do not try to do the same by other means; continue without it or ask.";

/** What the model is told of a call whose question had no answer. */
export const unanswered: Rejection = {
  told: "This call was not run: the question about it was not answered.",
  advice,
};

/** What the model is told of a call that was rejected. `_meta` is that of the answer. */
export function rejection(_meta?: Meta): Rejection {
  const said = extensionIn(_meta, saidKey);
  const refusal = extensionIn(_meta, refusalKey);
  if (typeof refusal === "string") return { told: `This call was refused: ${refusal}`, advice };
  const told =
    typeof said === "string" ? `The user rejected this call: ${said}` : "The user rejected this call.";
  return { told, advice };
}

/** Without subjects there is no "always" option. `allowedIn` are the modes in which it would not be asked. */
export function permissionOptions(
  access: Access,
  subjects: readonly string[],
  allowedIn: readonly string[],
): PermissionOption[] {
  const elsewhere = allowedIn.length === 0 ? {} : { _meta: { [modesKey]: allowedIn } };
  const once: PermissionOption[] = [
    { optionId: "allow_once", name: "Allow", kind: "allow_once", ...elsewhere },
    { optionId: "reject_once", name: "Reject", kind: "reject_once" },
  ];
  if (subjects.length === 0) return once;
  const _meta = { [remembersKey]: subjects };
  const what = subjectInWords(access);
  const [yes, no] = once as [PermissionOption, PermissionOption]; // both are written above
  return [
    yes,
    { optionId: "allow_always", name: `Always allow ${what}`, kind: "allow_always", _meta },
    no,
    { optionId: "reject_always", name: `Never allow ${what}`, kind: "reject_always", _meta },
  ];
}

export function remembered({ kind, _meta }: PermissionOption): readonly string[] {
  if (kind !== "allow_always" && kind !== "reject_always") return [];
  const subjects = extensionIn(_meta, remembersKey);
  return Array.isArray(subjects) ? subjects.map(String) : [];
}

function subjectInWords(access: Access): string {
  switch (access.type) {
    case "read":
      return access.paths.length === 1 ? "reading this" : "reading these";
    case "write":
      if (access.verb === "delete") return "deleting this";
      if (access.verb === "move") return "moving this there";
      return access.paths.length === 1 ? "changes to this file" : "changes to these files";
    case "run":
      return "exactly this command";
    case "host":
      return access.host;
    case "mcp":
      return `${access.server}/${access.tool}`;
    case "none":
      return "this";
  }
}
