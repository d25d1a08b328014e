// Starts or reaches an agent by its name, its command or its spec, with a policy and a history.

import { isAbsolute } from "node:path";
import { argumentText } from "@parley/acp/internal";
import { checkOptions, isObject, optional } from "@parley/acp/jsonrpc";
import type { AgentSpec } from "../agents/agent-spec.ts";
import { historyFile } from "../history/history-file.ts";
import { targetEntry } from "../launch/agent-target.ts";
import type { ConnectAgentOptions } from "./connect-options.ts";
import { type ManagedConnection, manageAgent } from "./manage-agent.ts";
import type { ManagedAgent } from "./managed-agent.ts";
import { historyAgent, sessionRecorder } from "./session-recorder.ts";

const optionKeys: Readonly<Record<keyof ConnectAgentOptions, true>> = {
  name: true,
  version: true,
  title: true,
  requestPermission: true,
  policy: true,
  elicit: true,
  elicitationCompleted: true,
  mcp: true,
  proxies: true,
  mcpReceipt: true,
  files: true,
  terminals: true,
  strict: true,
  extensions: true,
  editions: true,
  unstable: true,
  log: true,
  connection: true,
  _meta: true,
  handshakeMeta: true,
  history: true,
  asker: true,
  agents: true,
  cwd: true,
  env: true,
  sandbox: true,
  signal: true,
  onEvent: true,
  setupTimeoutMs: true,
  loginTimeoutMs: true,
  maxRestarts: true,
  cancelTimeoutMs: true,
  quietMs: true,
  maxRetries: true,
  backoffMs: true,
};

/**
 * Starts an agent or connects to one, and restarts it after a crash.
 *
 * @param target - The name of a ready agent or of one in `agents`; a command with its arguments; or a spec.
 * @param options - The name and version of your app, and everything else that `client()` takes.
 * @returns The agent after its handshake. Close it when you are done.
 * @throws {LaunchError} When the agent is unknown, does not start or needs a login. `hint` says what to do.
 * @throws {TypeError} When an option is unknown or wrong.
 *
 * @example
 * import { connectAgent } from "@parley/client";
 *
 * await using agent = await connectAgent(["node", "my-agent.js"], {
 *   name: "my-app",
 *   version: "1.0.0",
 *   requestPermission: ({ options }) => options.find(({ kind }) => kind === "reject_once")?.optionId,
 * });
 * const session = await agent.newSession({ cwd: process.cwd() });
 * const { stopReason } = await session.prompt("Explain this project");
 * console.log(stopReason);
 */
export async function connectAgent(
  target: string | readonly string[] | AgentSpec,
  options: ConnectAgentOptions,
): Promise<ManagedAgent> {
  checkGiven(options);
  const { history, agents, signal, ...rest } = options;
  const entry = targetEntry(target, agents);
  const started: { agent?: ManagedConnection } = {};
  const warn = (message: string) => options.onEvent?.({ kind: "warning", message });
  const recorder =
    history && sessionRecorder(historyFile(history), () => historyAgent(entry, started.agent), warn);
  // the signal is for the start alone: a restart much later is none of its business
  const start = new AbortController();
  const abort = () => start.abort();
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  try {
    started.agent = await manageAgent(entry, {
      ...rest,
      signal: start.signal,
      ...optional({ recorder }),
    });
    return started.agent;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

function checkGiven(options: ConnectAgentOptions): void {
  const given: unknown = options; // callers may have no types
  if (!isObject(given))
    throw new TypeError(`connectAgent: expected an object of options, got ${argumentText(given)}`);
  checkOptions("connectAgent", options, optionKeys);
  const { cwd, policy, sandbox } = options;
  if (cwd !== undefined && (typeof cwd !== "string" || !isAbsolute(cwd)))
    throw new TypeError(`connectAgent: cwd must be absolute, got ${argumentText(cwd)}`);
  if (sandbox !== undefined && typeof sandbox !== "boolean" && !isObject(sandbox))
    throw new TypeError(
      `connectAgent: sandbox must be true, false or an object, got ${argumentText(sandbox)}`,
    );
  if (policy !== undefined && typeof policy.decide !== "function")
    throw new TypeError("connectAgent: policy must have a method decide; permissionPolicy() makes one");
}
