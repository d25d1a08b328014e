// For tests: the questions that `run` asks line by line and chat asks in a sheet.

import type { ElicitationQuestion } from "@parley/client";
import type { PermissionChoice, RuleSubject } from "@parley/client/policy";

/** The id has the form `effect:scope`. */
export const choice = (id: string, more: Partial<PermissionChoice> = {}): PermissionChoice => {
  const [effect, scope] = id.split(":") as [PermissionChoice["effect"], PermissionChoice["scope"]]; // of that form
  return { id, name: id, effect, scope, ...more };
};

const rules = ["allow exec (/project) npm test"];

export const usualChoices = [
  choice("allow:once"),
  choice("allow:session", { rules }),
  choice("allow:workspace", { rules }),
  choice("allow:always", { isExtra: true }),
  choice("deny:once"),
  choice("option:0", { effect: "allow", scope: "session", name: "No", optionId: "yes", isExtra: true }),
];

export const commandSubject: RuleSubject = {
  origin: "op",
  operation: "exec",
  argv: ["npm", "test"],
  cwd: "/project",
};

/** Those of a change of one file. */
export const editChoices = [
  choice("allow:once"),
  choice("allow:session", { rules: ["allow write /project/src/a.ts"] }),
  choice("allow:edits", { effect: "allow", scope: "session", rules: ["allow write"] }),
  choice("allow:workspace", { rules: ["allow write /project/src/a.ts"] }),
  choice("deny:once"),
];

export const editSubject: RuleSubject = { origin: "claim", operation: "write", path: "/project/src/a.ts" };

export type FormQuestion = Extract<ElicitationQuestion, { mode: "form" }>;
export type FormProperties = FormQuestion["requestedSchema"]["properties"];

export const formQuestion = (properties: FormProperties, required: string[] = []): FormQuestion => ({
  mode: "form",
  message: "Tell me more",
  requestedSchema: { type: "object", properties, required },
});

export const visitQuestion = (
  url: string,
  completed = new AbortController().signal,
): ElicitationQuestion => ({
  mode: "url",
  message: "Log in there",
  elicitationId: "e",
  url,
  host: new URL(url).host,
  completed,
});
