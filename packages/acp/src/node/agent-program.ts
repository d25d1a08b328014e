// An agent as a program that is started more than once: for its connections, and for its own login in the user's
// terminal (C12).

import { spawn } from "node:child_process";
import { ConnectionError } from "../jsonrpc/errors.ts";
import type { Transport } from "../jsonrpc/transport.ts";
import type { AuthMethod } from "../model/content.ts";
import type { AgentProcess, ProcessExit } from "./spawn.ts";
import { checkCommand, exitMessage, spawnFailure } from "./spawn-message.ts";
import { type SpawnTransportOptions, spawnTransport } from "./transports.ts";

type TerminalMethod = Extract<AuthMethod, { type: "terminal" }>;

/** What a login runs: the agent's own program, with what its method adds. */
export interface LoginCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** All of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface AgentProgramOptions extends SpawnTransportOptions {
  /**
   * Runs a login where the user can see it and type. Default: in our own terminal, whose input, output and errors the
   * program gets until it exits.
   */
  readonly runLogin?: (login: LoginCommand) => Promise<ProcessExit>;
}

/** For `client()`: `terminalLogin` and, as its `restart`, `start` are parts of its definition. */
export interface AgentProgram {
  /** Starts the agent; connect to what it gives. */
  readonly start: () => Transport;
  /** Resolves when the login exited with 0; rejects with a ConnectionError in any other case. */
  readonly terminalLogin: (method: TerminalMethod) => Promise<void>;
  /** The process that was started last. */
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
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
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

/** In the foreground, so that it may read from the terminal, and an interrupt that is typed reaches it. */
function runInOurTerminal({ command, args, cwd, env }: LoginCommand): Promise<ProcessExit> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: "inherit" });
    const end = (): void => {
      child.kill("SIGKILL");
    };
    process.once("exit", end);
    child.once("error", (cause: NodeJS.ErrnoException) => {
      process.off("exit", end);
      const where = cwd === undefined ? {} : { cwd };
      reject(new ConnectionError("spawn_failed", spawnFailure(command, where, cause), { cause }));
    });
    child.once("exit", (code, signal) => {
      process.off("exit", end);
      resolve({ ...(code === null ? {} : { exitCode: code }), ...(signal === null ? {} : { signal }) });
    });
  });
}
