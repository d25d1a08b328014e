// Reads the login methods of an agent, in all shapes that agents use.

import type { AuthMethod } from "@parley/acp";
import { isObject, optional } from "@parley/acp/internal";
import type { AgentEntry, CommandEntry } from "../agents/agent-entry.ts";
import type { Asker, LoginCommand, LoginMethod, LoginVariable } from "./asker.ts";

/** A terminal login runs like the agent itself. */
export interface LoginContext {
  readonly entry: AgentEntry;
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** The methods that this client can perform. */
export function usableMethods(methods: readonly LoginMethod[], asker: Asker): readonly LoginMethod[] {
  return methods.filter(({ kind }) => {
    if (kind === "terminal") return asker.terminalLogin !== undefined;
    return kind === "agent" || asker.credential !== undefined;
  });
}

export function loginMethods(methods: readonly AuthMethod[], context: LoginContext): readonly LoginMethod[] {
  return methods.map((method) => loginMethod(method as unknown as Raw, context)); // as the wire has it
}

/** A method in the shapes that agents send. */
interface Raw {
  readonly methodId: string;
  readonly name: string;
  readonly description?: string | null;
  readonly type: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly vars?: unknown;
  readonly _meta?: Readonly<Record<string, unknown>> | null;
}

function loginMethod(raw: Raw, context: LoginContext): LoginMethod {
  const { methodId, name, description } = raw;
  const common = { id: methodId, name, ...optional({ description: description ?? undefined }) };
  const command = commandOf(raw, context);
  if (command !== undefined) return { ...common, kind: "terminal", command };
  const variables = variablesOf(raw);
  return variables.length > 0 ? { ...common, kind: "variables", variables } : { ...common, kind: "agent" };
}

function commandOf(raw: Raw, { entry, environment, cwd }: LoginContext): LoginCommand | undefined {
  if (entry.transport !== "stdio") return undefined;
  const own = raw._meta?.["terminal-auth"];
  if (isObject(own) && typeof own["command"] === "string") {
    const env = { ...environment, ...textsOf(own["env"]) };
    return { command: own["command"], args: listOf(own["args"]), env, cwd };
  }
  if (raw.type !== "terminal" && raw._meta?.["type"] !== "terminal") return undefined;
  return appended(entry, raw, { environment, cwd });
}

/** The agent's own program and arguments, followed by those of the method (C12). */
function appended(
  entry: CommandEntry,
  raw: Raw,
  { environment, cwd }: Pick<LoginContext, "environment" | "cwd">,
): LoginCommand {
  const added = raw.args ?? listOf(raw._meta?.["args"]);
  const env = Object.fromEntries((raw.env ?? []).map(({ name, value }) => [name, value]));
  return { command: entry.command, args: [...entry.args, ...added], env: { ...environment, ...env }, cwd };
}

function variablesOf(raw: Raw): readonly LoginVariable[] {
  if (raw.type !== "env_var") return [];
  const list: readonly unknown[] = Array.isArray(raw.vars) ? raw.vars : [];
  return list.flatMap((each): LoginVariable[] => {
    const variable = typeof each === "string" ? { name: each } : each;
    if (!isObject(variable) || typeof variable["name"] !== "string") return [];
    const { name, label, secret, optional } = variable;
    // it becomes the name of an environment variable
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,200}$/.test(name as string)) return [];
    return [
      {
        name: name as string,
        label: typeof label === "string" ? label : (name as string),
        isSecret: secret !== false,
        isOptional: optional === true,
      },
    ];
  });
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function textsOf(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
  );
}
