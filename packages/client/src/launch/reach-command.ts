// Starts an agent that is a program of this machine.

import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import type { Transport } from "@parley/acp";
import { leaveAgent, noiseOf } from "@parley/acp/internal/node";
import { optional } from "@parley/acp/jsonrpc";
import { spawnTransport } from "@parley/acp/node";
import type { CommandEntry } from "../agents/agent-spec.ts";
import { type AgentSandbox, type LeftBehind, sandboxedAgent } from "./agent-sandbox.ts";
import { findAgentProgram } from "./find-program.ts";
import { LaunchError } from "./launch-error.ts";

/** An agent that was started or reached, without a connection. */
export interface ReachedAgent {
  /** The transport to it. */
  readonly transport: Transport;
  /** The process id of a program. */
  readonly pid: number | undefined;
  /** Returns the end of its stderr. */
  stderrTail(): string;
  /** Returns the first line of a program's stdout that is not a message. */
  noise?(): string | undefined;
  /** Lets it outlive this process; the watchdog ends it then. False if it cannot be left. */
  leave?(): boolean;
  /** For an agent in a sandbox, resolves when its process has ended and nothing of the sandbox is left. */
  readonly released?: Promise<void>;
  /** For a remote agent, resolves when everything that was sent has left, or cannot. */
  sent?(): Promise<void>;
  /** Examines a failure that the error itself does not explain. */
  explain?(error: unknown): Promise<Explanation>;
}

/** Why an agent could not be reached. */
export interface Explanation {
  /** The reason. Default: the message of the error. */
  readonly message?: string;
  /** A fix for the user to try. */
  readonly hint: string;
  /** The HTTP status with which the server refused. */
  readonly status?: number;
}

interface ReachOptions {
  readonly cwd?: string;
  readonly onStderr?: (text: string) => void;
  readonly kill?: AbortSignal;
  readonly sandbox?: AgentSandbox;
  /** The environment of the user, for the sandbox. */
  readonly user?: Readonly<Record<string, string | undefined>>;
  onLeftBehind?(left: LeftBehind): void;
}

/** The time for an agent to exit after its stdin has ended, and then after SIGTERM. */
const graceMs = 1_500;
const killMs = 1_500;

/** `environment` is the whole environment of the program. Rejects with a LaunchError when there is no such program. */
export async function reachCommand(
  entry: CommandEntry,
  environment: Readonly<Record<string, string>>,
  options: ReachOptions,
): Promise<ReachedAgent> {
  const { onStderr, kill, sandbox } = options;
  const cwd = options.cwd ?? process.cwd();
  const { path, folder } = program(entry, environment, cwd);
  // the interpreter of a script is usually in the same folder
  const reachable =
    folder === undefined ? {} : { PATH: [environment["PATH"], folder].filter(Boolean).join(delimiter) };
  const plain = { command: path, args: entry.args, cwd, env: { ...environment, ...reachable } };
  const sandboxed =
    sandbox &&
    (await sandboxedAgent(entry, plain, sandbox, options.user ?? process.env).catch(notStarted(plain)));
  const { command, args, env } = sandboxed ?? plain;
  const transport = spawnTransport(command, args, {
    env: { ...withoutOurs(), ...env },
    name: path,
    ...optional({ cwd: sandboxed?.cwd ?? options.cwd, onStderr }),
    graceMs: entry.traits?.graceMs ?? graceMs,
    killMs,
    ...optional({ signal: kill }),
  });
  const reached = {
    transport,
    pid: transport.pid,
    stderrTail: () => transport.stderrTail(),
    noise: () => noiseOf(transport),
  };
  if (sandboxed === undefined) return { ...reached, leave: () => leaveAgent(transport) };
  const released = transport.exited.then(async () => {
    const left = await sandboxed.ended();
    if (left !== undefined) options.onLeftBehind?.(left);
  });
  // whoever closes the agent sees a failure
  released.catch(() => undefined);
  // it cannot be left: bubblewrap ends it with this process
  return { ...reached, released };
}

/** What `spawn` would report. */
function notStarted({ command, cwd }: { readonly command: string; readonly cwd: string }) {
  return (error: unknown): never => {
    const { code, message } = error as NodeJS.ErrnoException; // it may have one
    if (code !== "ENOENT" && code !== "EACCES") throw error;
    const why = existsSync(cwd) ? message : `its working directory ${cwd} does not exist`;
    throw new LaunchError("spawn_failed", `could not start ${JSON.stringify(command)}: ${why}`, {
      hint: "check the path and the working directory",
      cause: error,
    });
  };
}

/** Removes our own variables, which a child inherits otherwise. */
function withoutOurs(): Record<string, undefined> {
  return Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
}

function program(entry: CommandEntry, environment: Readonly<Record<string, string>>, cwd: string) {
  const found = findAgentProgram(entry.command, environment, cwd);
  if ("path" in found) return found;
  const { name, command, install } = entry;
  const what = command === name ? command : `${command}, the program of ${name},`;
  if (found.problem === "missing") {
    const isPath = /[\\/]/.test(command);
    const where = isPath ? "there is no such file" : "it is not on PATH";
    const line = /\s/.test(command) ? "; a command is a program and its arguments, not a shell line" : "";
    const how = isPath ? "check the path, or install it" : "install it, or give the full path";
    throw new LaunchError("not_found", `${what} was not found: ${where}`, {
      hint: install === undefined ? `${how}${line}` : `install it: ${install}`,
    });
  }
  const { why, hint } = unusable[found.problem];
  throw new LaunchError("not_executable", `${what} cannot be started: ${why}`, { hint });
}

const unusable = {
  directory: { why: "it is a folder", hint: "give the program inside the folder" },
  unreachable: {
    why: "a folder of its path cannot be entered",
    hint: "run it as a user who may enter the folder, or install it elsewhere",
  },
  not_executable: {
    why: "it is not executable",
    hint: "chmod +x it, or start it through its interpreter (node, python)",
  },
} as const;
