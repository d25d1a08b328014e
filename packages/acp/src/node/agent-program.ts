// Starts an agent's program, for connections and for logins in the user's terminal.

import { spawn } from "node:child_process";
import { optional } from "../base/optional.ts";
import { ConnectionError } from "../jsonrpc/errors.ts";
import type { Transport } from "../jsonrpc/transport.ts";
import type { AuthMethod } from "../model/content.ts";
import type { AgentProcess, ProcessExit } from "./spawn.ts";
import { checkCommand, exitMessage, processExit, spawnFailure } from "./spawn-errors.ts";
import { type SpawnTransportOptions, spawnTransport } from "./transports.ts";

type TerminalMethod = Extract<AuthMethod, { type: "terminal" }>;

/** The command of a login: the agent's program with the arguments and variables of the login method. */
export interface LoginCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface AgentProgramOptions extends SpawnTransportOptions {
  /**
   * Runs a login where the user can see it and type. Default: in the terminal of this process.
   */
  readonly runLogin?: (login: LoginCommand) => Promise<ProcessExit>;
}

/** For the definition of `client()`: pass `terminalLogin`, and `start` as `restart`. */
export interface AgentProgram {
  /** Starts the agent and returns its transport. */
  readonly start: () => Transport;
  /** Resolves when the login exits with 0, else rejects with a ConnectionError. */
  readonly terminalLogin: (method: TerminalMethod) => Promise<void>;
  /** The process of the last start. */
  readonly process: AgentProcess | undefined;
}

export function agentProgram(
  command: string,
  args: readonly string[],
  options: AgentProgramOptions = {},
): AgentProgram {
  checkCommand(command, args);
  const { runLogin = runInOurTerminal, ...spawnOptions } = options;
  let latest: AgentProcess | undefined;
  const start = (): Transport => {
    const { transport, process } = spawnTransport(command, args, spawnOptions);
    latest = process;
    return transport;
  };
  return {
    start,
    async terminalLogin({ methodId, args: more = [], env = [] }) {
      const login: LoginCommand = {
        command,
        args: [...args, ...more],
        ...optional({ cwd: options.cwd }),
        env: {
          ...process.env,
          ...options.env,
          ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
          PARLEY_WIRE_FD: undefined,
        },
      };
      checkCommand(command, login.args);
      const exit = await runLogin(login);
      if (exit.exitCode === 0) return;
      const message = `the login ${JSON.stringify(methodId)} did not succeed: ${exitMessage(command, exit)}`;
      throw new ConnectionError("exited", message, exit);
    },
    get process() {
      return latest;
    },
  };
}

/** Runs the login in the foreground, so that it can read from the terminal and Ctrl-C reaches it. */
function runInOurTerminal({ command, args, cwd, env }: LoginCommand): Promise<ProcessExit> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: "inherit" });
    const end = (): void => {
      child.kill("SIGKILL");
    };
    process.once("exit", end);
    child.once("error", (cause: NodeJS.ErrnoException) => {
      process.off("exit", end);
      reject(new ConnectionError("spawn_failed", spawnFailure(command, cwd, cause), { cause }));
    });
    child.once("exit", (code, signal) => {
      process.off("exit", end);
      resolve(processExit(code, signal));
    });
  });
}
