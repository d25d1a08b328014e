// Builds the permission request that asks the user about a file access or a command.

import { optional } from "../../../base/objects.ts";
import type { PermissionRequest, PermissionSubject } from "../../../model/ask.ts";
import type { PermissionOption } from "../../../model/content.ts";
import type { EffectRequest } from "./client-policy.ts";

const onceOptions: readonly PermissionOption[] = [
  { optionId: "allow_once", name: "Allow once", kind: "allow_once" },
  { optionId: "reject_once", name: "Reject once", kind: "reject_once" },
];
const lastingOptions: readonly PermissionOption[] = [
  { optionId: "allow_always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject_always", name: "Always reject", kind: "reject_always" },
];

/** `canRemember`: whether the user may give an answer that lasts. `id` names the access or the command. */
export function effectQuestion(effect: EffectRequest, id: string, canRemember: boolean): PermissionRequest {
  const title = titleOf(effect);
  return {
    title,
    ...optional({ description: descriptionOf(effect) }),
    subject: subjectOf(effect, id, title),
    options: canRemember ? [...onceOptions, ...lastingOptions] : [...onceOptions],
  };
}

function titleOf(effect: EffectRequest): string {
  switch (effect.type) {
    case "read":
      return `Read ${effect.path}`;
    case "write":
      return `Write ${effect.path}`;
    case "execute":
      return `Run ${commandLine(effect)}`;
    case "mcp":
      return `Call ${effect.server}/${effect.tool}`;
  }
}

function descriptionOf(effect: EffectRequest): string | undefined {
  if (effect.type !== "execute") return undefined;
  const variables = Object.entries(effect.env).map(([name, value]) => `${name}=${quoted(value)}`);
  return variables.length === 0 ? undefined : `With these variables: ${variables.join(" ")}`;
}

function subjectOf(effect: EffectRequest, id: string, title: string): PermissionSubject {
  if (effect.type === "execute") return { type: "command", command: commandLine(effect), cwd: effect.cwd };
  if (effect.type === "mcp") {
    const { server, tool, arguments: rawInput } = effect;
    return {
      type: "tool_call",
      toolCall: {
        toolCallId: id,
        title,
        status: "pending",
        kind: "other",
        name: `${server}/${tool}`,
        rawInput,
      },
    };
  }
  const { path } = effect;
  const call = { toolCallId: id, title, status: "pending", locations: [{ path }] } as const;
  if (effect.type === "read")
    return { type: "tool_call", toolCall: { ...call, kind: "read", locations: [{ path }] } };
  const changes = [{ operation: "modify" as const, path }];
  return {
    type: "tool_call",
    toolCall: {
      ...call,
      kind: "edit",
      locations: [{ path }],
      content: [{ type: "diff", path, newText: effect.content, changes }],
    },
  };
}

function commandLine({ command, args }: Extract<EffectRequest, { type: "execute" }>): string {
  return [command, ...args].map(quoted).join(" ");
}

/** As a shell would read it back. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
