// How the user is asked about one call.

import type { PermissionOption } from "@parley/acp";
import type { Access } from "../tools/base/tool.ts";

/** In `_meta` of an option: what "always" is about. The history has it, so that it is known after a load too. */
export const subjectsKey = "parley/remembers";

/** Without "always" where it is asked every time: there are no subjects then. */
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

/** What an option that was chosen says for the future. */
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
