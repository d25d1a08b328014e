// Starts the agent and opens the session that a run works in.

import { fileURLToPath } from "node:url";
import {
  type ClientDefinition,
  type ClientSession,
  type ConnectedAgent,
  ConnectionError,
  client,
  type Entry,
  RequestError,
} from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";
import { exitCodes, RunError } from "./run-ending.ts";
import type { RunOptions } from "./run-options.ts";
import { safeLine, safeText } from "./safe-text.ts";

export interface OpenedSession {
  readonly agent: ConnectedAgent;
  readonly session: ClientSession;
}

const launcher = fileURLToPath(new URL("../../bin/parley", import.meta.url));

export async function openSession(
  options: RunOptions,
  hooks: {
    readonly permission: NonNullable<ClientDefinition["permission"]>;
    readonly onEntry: (entry: Entry) => void;
    readonly connected: (agent: ConnectedAgent) => void;
  },
): Promise<OpenedSession> {
  const [command = launcher, ...args] = options.command.length > 0 ? options.command : [launcher, "agent"];
  const { transport } = spawnTransport(command, args, {
    cwd: options.cwd,
    ...(options.showsStderr ? { onStderr: (text) => process.stderr.write(safeText(text)) } : {}),
  });
  let agent: ConnectedAgent;
  try {
    agent = await client({ name: "parley", version: "0.1.0", permission: hooks.permission }).connect(
      transport,
    );
  } catch (error) {
    throw notStarted(command, error);
  }
  hooks.connected(agent);
  try {
    const { cwd, mcpServers } = options;
    return { agent, session: await agent.open({ cwd, mcpServers, onEntry: hooks.onEntry }) };
  } catch (error) {
    throw notOpened(error);
  }
}

function notStarted(command: string, error: unknown): RunError {
  const stderr = error instanceof ConnectionError ? (error.stderr ?? "") : "";
  const said = stderr.trim() === "" ? "" : `\n${safeText(stderr).trimEnd()}`;
  const message = `${command} could not be started: ${(error as Error).message}${said}`; // what connect rejects with
  return new RunError(exitCodes.notStarted, "not_started", message, "check that this command serves ACP");
}

function notOpened(error: unknown): RunError {
  if (error instanceof RequestError && error.code === -32000) {
    return new RunError(
      exitCodes.loginNeeded,
      "login_needed",
      `the agent wants a login: ${safeLine(error.message)}`,
    );
  }
  const message = `the agent opened no session: ${safeLine((error as Error).message)}`; // what open rejects with
  return new RunError(exitCodes.agentError, "no_session", message);
}
