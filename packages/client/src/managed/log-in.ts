// Logs in to an agent by one of its methods, in all shapes that agents use, and restarts it where that is needed.

import { isObject, optional, withTimeout } from "@parley/acp/jsonrpc";
import type { Meta } from "@parley/acp/model";
import type { AgentEntry } from "../agents/agent-spec.ts";
import { agentEnvironment } from "../agents/environment.ts";
import type { LaunchedAgent } from "../launch/launch-agent.ts";
import { LaunchError } from "../launch/launch-error.ts";
import { joinWords } from "../subjects/command-words.ts";
import type { Asker } from "./asker.ts";
import type { LoginCommand, LoginMethod, LoginVariable } from "./login-method.ts";
import type { ManagedProcess } from "./managed-process.ts";

/** The custom data of a request or of its answer. */
export interface Custom {
  readonly _meta?: Meta;
}

/** What a login is given. Credentials are for agents that speak a dialect. */
export interface LoginGiven extends Custom {
  readonly credentials?: Readonly<Record<string, unknown>>;
}

/** The agent that a login is for. */
type LoginTarget = Pick<ManagedProcess, "entry" | "options" | "restart" | "loggedIn">;

/** The login methods that the agent offers. */
function methodsOf({ entry, options }: LoginTarget, { agent }: LaunchedAgent): readonly LoginMethod[] {
  const { inherited = process.env, env, cwd = process.cwd() } = options;
  const passed = entry.transport === "stdio" ? agentEnvironment(entry, inherited) : {};
  const context = { entry, env: { ...passed, ...env }, cwd };
  return agent.authMethods.map((method) => loginMethod(method as unknown as Raw, context)); // as the wire has it
}

/** Rejects with a LaunchError of kind `login_needed` when no method is chosen or the login fails. */
export async function logIn(
  target: LoginTarget,
  launched: LaunchedAgent,
  wanted: string | undefined,
  custom: LoginGiven,
  why = "not logged in",
): Promise<Custom> {
  const { asker = {}, onEvent } = target.options;
  const method = await chosen(target, methodsOf(target, launched), asker, { wanted, why });
  onEvent?.({ kind: "login", method: method.name });
  if (method.kind === "agent") return byAgent(target, launched, method, custom);
  if (method.kind === "terminal") await inTerminal(target, asker, method);
  else await byVariables(target, asker, method);
  return {};
}

async function chosen(
  target: LoginTarget,
  all: readonly LoginMethod[],
  asker: Asker,
  { wanted, why }: { readonly wanted: string | undefined; readonly why: string },
): Promise<LoginMethod> {
  const usable = usableMethods(all, asker);
  const needed = (reason: string) => loginNeeded(target.entry, reason, all);
  if (wanted === undefined && asker.chooseLogin === undefined) throw needed(why);
  if (usable.length === 0) throw needed("none of its login methods can be used here");
  const id = wanted ?? (await asker.chooseLogin?.(usable, target.entry.name, { why }));
  if (id === undefined) throw needed("no login method was chosen");
  const method = usable.find((each) => each.id === id);
  if (method === undefined) throw needed(`it has no usable login method ${id}`);
  return method;
}

async function byAgent(
  target: LoginTarget,
  { agent }: LaunchedAgent,
  method: LoginMethod,
  custom: LoginGiven,
): Promise<Custom> {
  const { loginTimeoutMs = 300_000 } = target.options;
  const work = agent.login(method.id, custom).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw loginNeeded(target.entry, why, [method], error);
  });
  const result = await withTimeout(loginTimeoutMs, work);
  if (result !== undefined) {
    target.loggedIn((again) => again.login(method.id, custom));
    return result;
  }
  // an agent that hangs in its login cannot be used any more
  await target.restart("its login did not end");
  throw loginNeeded(target.entry, `the login did not end within ${loginTimeoutMs} ms`, [method]);
}

async function inTerminal(target: LoginTarget, asker: Asker, method: LoginMethod): Promise<void> {
  const { command } = method;
  if (command === undefined || asker.terminalLogin === undefined)
    throw new TypeError(`${method.id} is not a terminal login`);
  const exitCode = await asker.terminalLogin(command, target.entry.name);
  if (exitCode !== 0) {
    throw loginNeeded(target.entry, `the terminal login exited with code ${exitCode}`, [method]);
  }
  await target.restart("to apply the login");
}

async function byVariables(target: LoginTarget, asker: Asker, method: LoginMethod): Promise<void> {
  const values: Record<string, string> = {};
  for (const variable of method.variables ?? []) {
    const value = await asker.credential?.(variable, target.entry.name);
    if (value === undefined || value === "") {
      if (variable.isOptional) continue;
      throw loginNeeded(target.entry, `${variable.name} was not given`, [method]);
    }
    values[variable.name] = value;
  }
  await target.restart("to apply the credentials", values);
}

/**
 * Returns the command line of `parley` that logs in to an agent.
 *
 * @example
 * import { commandEntry, loginCommandFor } from "@parley/client/launch";
 *
 * console.log(loginCommandFor(commandEntry(["my-agent", "--acp"])));
 */
export function loginCommandFor(entry: AgentEntry): string {
  const { name, origin, transport, edition } = entry;
  const isTyped = origin === "command" && transport === "stdio";
  // a dialect must be named
  const dialect =
    edition !== undefined && edition !== "v1" && edition !== "v2" ? `--edition ${edition} ` : "";
  return `parley agents login ${dialect}${isTyped ? `-- ${joinWords([entry.command, ...entry.args])}` : name}`;
}

function loginNeeded(
  entry: AgentEntry,
  why: string,
  methods: readonly LoginMethod[],
  cause?: unknown,
): LaunchError {
  const names = methods.map((method) => `${method.id} (${method.name})`).join(", ");
  return new LaunchError("login_needed", `${entry.name} wants a login: ${why}`, {
    hint:
      names === ""
        ? "log in with the agent's own command"
        : `log in with: ${loginCommandFor(entry)}\nits methods: ${names}`,
    cause,
  });
}

/** A terminal login runs like the agent itself. */
interface LoginContext {
  readonly entry: AgentEntry;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** The methods that this client can perform. */
function usableMethods(methods: readonly LoginMethod[], asker: Asker): readonly LoginMethod[] {
  return methods.filter(({ kind }) => {
    if (kind === "terminal") return asker.terminalLogin !== undefined;
    return kind === "agent" || asker.credential !== undefined;
  });
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

function commandOf(raw: Raw, { entry, env: given, cwd }: LoginContext): LoginCommand | undefined {
  if (entry.transport !== "stdio") return undefined;
  const own = raw._meta?.["terminal-auth"];
  if (isObject(own) && typeof own["command"] === "string") {
    const env = { ...given, ...textsOf(own["env"]) };
    return { command: own["command"], args: listOf(own["args"]), env, cwd };
  }
  if (raw.type !== "terminal" && raw._meta?.["type"] !== "terminal") return undefined;
  // the agent's own program and arguments, followed by those of the method
  const added = raw.args ?? listOf(raw._meta?.["args"]);
  const env = Object.fromEntries((raw.env ?? []).map(({ name, value }) => [name, value]));
  return { command: entry.command, args: [...entry.args, ...added], env: { ...given, ...env }, cwd };
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
