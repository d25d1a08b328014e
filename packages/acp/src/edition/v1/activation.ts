// Translates directories, MCP servers, login methods and commands between version 1 and the model.

import { type Immutable, optional } from "../../base/objects.ts";
import { storedCwdKey } from "../../base/parley-extensions.ts";
import type { AuthMethod, AvailableCommand, McpServer, SystemPrompt } from "../../model/content.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type { Activation, Lost } from "../agent-edition.ts";
import { lostMeta, nonEmpty } from "../wire-fields.ts";

type TextInput = Extract<NonNullable<Command["input"]>, { type: "text" }>;
type Command = Extract<AvailableCommand, { type: "command" }>;

interface V1Activation {
  cwd: string;
  additionalDirectories?: string[];
  mcpServers?: wire.McpServer[];
  systemPrompt?: wire.SystemPrompt | null;
  _meta?: wire.Meta | null;
}

export function activationFromV1(params: V1Activation): Activation {
  return {
    cwd: params.cwd,
    additionalDirectories: params.additionalDirectories ?? [],
    mcpServers: (params.mcpServers ?? []).map(serverFromV1),
    // as: validated by the method's row
    ...optional({ systemPrompt: (params.systemPrompt ?? undefined) as SystemPrompt | undefined }),
    ...placeFromV1(params),
  };
}

/** In a dialect a session is loaded without its place. */
function placeFromV1({ _meta }: V1Activation): Pick<Activation, "hasStoredPlace" | "_meta"> {
  if (_meta?.[storedCwdKey] !== true) return optional({ _meta: _meta ?? undefined });
  const { [storedCwdKey]: _, ...meta } = _meta;
  return { hasStoredPlace: true, ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) };
}

export function activationToV1(
  activation: Activation,
): Immutable<V1Activation & { mcpServers: wire.McpServer[] }> {
  return {
    cwd: activation.cwd,
    mcpServers: activation.mcpServers.map(serverToV1),
    ...optional({
      additionalDirectories: nonEmpty(activation.additionalDirectories),
      // the content of a system prompt is text, which both versions write alike
      systemPrompt: activation.systemPrompt as Immutable<wire.SystemPrompt> | undefined,
      _meta: activation._meta,
    }),
  };
}

/** In version 1 a server on stdio has no type. */
function serverFromV1(server: wire.McpServer): McpServer {
  const named = server.type === undefined ? { ...server, type: "stdio" } : server;
  return named as McpServer; // validated by the method's row
}

function serverToV1(server: McpServer): Immutable<wire.McpServer> {
  switch (server.type) {
    case "stdio": {
      const { type: _, ...rest } = server;
      return { ...rest, args: rest.args ?? [], env: rest.env ?? [] };
    }
    case "http":
    case "sse":
      return { ...server, headers: server.headers ?? [] };
    default:
      return server as Immutable<wire.McpServer>; // checked again before it is sent
  }
}

export function authMethodFromV1(method: wire.AuthMethod): AuthMethod {
  const { id, ...rest } = method;
  const { type = "agent" } = rest;
  // as: validated by the method's row; seen in the wild: "agent", which means the same as none, and "env_var"
  if (rest.type !== "terminal") return { ...rest, type, methodId: id } as AuthMethod;
  const env = Object.entries(rest.env ?? {}).map(([name, value]) => ({ name, value }));
  return { ...rest, methodId: id, env } as AuthMethod; // as above
}

/** The fields that methods of every type have. */
interface KnownFields {
  readonly methodId: string;
  readonly name: string;
  readonly description?: string;
  readonly _meta?: wire.Meta;
}

export function authMethodToV1(method: AuthMethod, lost?: Lost): Immutable<wire.AuthMethod> {
  const { methodId, name, description, _meta } = method as KnownFields;
  const common = { id: methodId, name, ...optional({ description, _meta }) };
  if (method.type !== "terminal") return common;
  if (lost !== undefined) lostMeta(method.env, "variables of a login method", lost);
  const env = Object.fromEntries((method.env ?? []).map((variable) => [variable.name, variable.value]));
  return { ...common, type: "terminal", args: method.args ?? [], env };
}

/** Makes commands that were just decoded the model's, in place. */
export function commandsFromV1(commands: readonly wire.AvailableCommand[]): void {
  for (const command of commands) {
    (command as { type?: string }).type = "command";
    // the validator has removed a null
    if (command.input != null) (command.input as { type?: string }).type = "text";
  }
}

function inputToV1({ type: _, ...input }: TextInput): wire.AvailableCommandInput {
  return input;
}

/** Kinds of command that version 1 does not know are left out. */
export function commandsToV1(commands: readonly AvailableCommand[]): wire.AvailableCommand[] {
  return commands.flatMap((command): wire.AvailableCommand[] => {
    if (command.type !== "command") return [];
    const { type: _, input, ...rest } = command;
    return [{ ...rest, ...optional({ input: input?.type === "text" ? inputToV1(input) : undefined }) }];
  });
}
