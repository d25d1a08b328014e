// Logs in to an agent by one of its methods, and restarts it where that is needed.

import { withTimeout } from "@parley/acp/internal";
import type { AgentEntry } from "../agents/agent-entry.ts";
import { agentEnvironment } from "../agents/environment.ts";
import type { LaunchedAgent } from "../launch/launch-agent.ts";
import { LaunchError } from "../launch/launch-error.ts";
import { joinWords } from "../subjects/command-words.ts";
import type { Asker, LoginMethod } from "./asker.ts";
import type { LiveOptions } from "./live-options.ts";
import { loginMethods, usableMethods } from "./login-methods.ts";

/** The agent that a login is for. */
export interface LoginTarget {
  readonly entry: AgentEntry;
  readonly options: LiveOptions;
  restart(reason: string, credentials?: Readonly<Record<string, string>>): Promise<void>;
}

/** The login methods that the agent offers. */
export function methodsOf(target: LoginTarget, { agent }: LaunchedAgent): readonly LoginMethod[] {
  const { entry, options } = target;
  const { environment = process.env, env, cwd = process.cwd() } = options;
  const passed = entry.transport === "stdio" ? agentEnvironment(entry, environment) : {};
  return loginMethods(agent.authMethods, { entry, environment: { ...passed, ...env }, cwd });
}

/** Rejects with a LaunchError of kind `login_needed` when no method is chosen or the login fails. */
export async function logIn(target: LoginTarget, launched: LaunchedAgent, wanted?: string): Promise<void> {
  const { asker = {}, onEvent } = target.options;
  const method = await chosen(target, methodsOf(target, launched), asker, wanted);
  onEvent?.({ kind: "login", method: method.name });
  if (method.kind === "agent") return byAgent(target, launched, method);
  if (method.kind === "terminal") return inTerminal(target, asker, method);
  return byVariables(target, asker, method);
}

async function chosen(
  target: LoginTarget,
  all: readonly LoginMethod[],
  asker: Asker,
  wanted: string | undefined,
): Promise<LoginMethod> {
  const usable = usableMethods(all, asker);
  const needed = (why: string) => loginNeeded(target.entry, why, all);
  if (wanted === undefined && asker.chooseLogin === undefined) throw needed("not logged in");
  if (usable.length === 0) throw needed("none of its login methods can be used here");
  const id = wanted ?? (await asker.chooseLogin?.(usable, target.entry.name));
  if (id === undefined) throw needed("no login method was chosen");
  const method = usable.find((each) => each.id === id);
  if (method === undefined) throw needed(`it has no usable login method ${id}`);
  return method;
}

async function byAgent(target: LoginTarget, { agent }: LaunchedAgent, method: LoginMethod): Promise<void> {
  const { loginTimeoutMs = 300_000 } = target.options;
  const work = agent.login(method.id).then(
    () => "done" as const,
    (error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw loginNeeded(target.entry, why, [method], error);
    },
  );
  if ((await withTimeout(loginTimeoutMs, work)) === "done") return;
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

/** The command line that logs in to an agent. */
export function loginCommandFor(entry: AgentEntry): string {
  const { name, origin, transport } = entry;
  const isTyped = origin === "command" && transport === "stdio";
  return `parley agents login ${isTyped ? `-- ${joinWords([entry.command, ...entry.args])}` : name}`;
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
