// Builds the options of a permission request.

import type { PermissionOption } from "@parley/acp";
import type { Meta } from "@parley/acp/model";
import type { Access } from "../tools/base/tool.ts";

/** The `_meta` key for the subjects of "always"; it is stored with the history and read when a session is loaded. */
export const subjectsKey = "parley.dev/remembers";

/** In `_meta` of an answer: what the user said beside a no. */
const saidKey = "parley.dev/said";

export interface Rejection {
  readonly told: string;
  readonly advice: string;
}

/** What the model is told of a call that the user rejected. `_meta` is that of the answer. */
export function rejection(_meta?: Meta): Rejection {
  const said = _meta?.[saidKey];
  const told =
    typeof said === "string" ? `The user rejected this call: ${said}` : "The user rejected this call.";
  return { told, advice: "Do not try the same by other means; go on without it or ask." };
}

/** Without subjects there is no "always" option. */
export function permissionOptions(access: Access, subjects: readonly string[]): PermissionOption[] {
  const once: PermissionOption[] = [
    { optionId: "allow_once", name: "Allow", kind: "allow_once" },
    { optionId: "reject_once", name: "Reject", kind: "reject_once" },
  ];
  if (subjects.length === 0) return once;
  const _meta = { [subjectsKey]: subjects };
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
  const subjects = _meta?.[subjectsKey];
  return Array.isArray(subjects) ? subjects.map(String) : [];
}

function subjectInWords(access: Access): string {
  switch (access.type) {
    case "read":
      return access.paths.length === 1 ? "reading this" : "reading these";
    case "write":
      if (access.verb === "delete") return "deleting this";
      if (access.verb === "move") return "moving this there";
      return access.paths.length === 1 ? "changes of this file" : "changes of these files";
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
