// How the user is asked about one call.

import type { PermissionOption } from "@parley/acp";
import type { Access } from "../tools/tool.ts";

/** Without "always" where it is asked every time. */
export function permissionOptions(access: Access, canRemember: boolean): PermissionOption[] {
  const once: PermissionOption[] = [
    { optionId: "allow_once", name: "Allow", kind: "allow_once" },
    { optionId: "reject_once", name: "Reject", kind: "reject_once" },
  ];
  if (!canRemember) return once;
  const what = subjectInWords(access);
  const [yes, no] = once as [PermissionOption, PermissionOption]; // both are written above
  return [
    yes,
    { optionId: "allow_always", name: `Always allow ${what}`, kind: "allow_always" },
    no,
    { optionId: "reject_always", name: `Never allow ${what}`, kind: "reject_always" },
  ];
}

function subjectInWords(access: Access): string {
  switch (access.type) {
    case "read":
      return access.paths.length === 1 ? "reading this" : "reading these";
    case "write":
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
