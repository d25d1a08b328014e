// Starts an agent and opens a session in a temporary folder to learn its features, options, commands and login state.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ClientConnection,
  type ClientSession,
  type EditionName,
  RequestError,
  type SessionConfigOption,
} from "@parley/acp";
import { versionOf } from "@parley/acp/internal";
import { optional, withTimeout } from "@parley/acp/jsonrpc";
import { problemOf } from "@parley/client";
import { type AgentEntry, launchAgent } from "@parley/client/launch";
import { agentCredentials } from "../settings/agent-credentials.ts";
import { ownVersion } from "../settings/installation.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { checkTool, type ToolCheck, type ToolFacts, toolCheck } from "./check-tools.ts";

export interface AgentFacts extends SessionFacts {
  readonly name: string;
  readonly title: string;
  readonly version?: string;
  readonly protocol: number;
  readonly edition: EditionName;
  readonly handshakeMs: number;
  readonly offers: readonly string[];
  /** Whether it opens a session, or why not. */
  readonly session: "ok" | "login_needed" | { readonly error: string; readonly hint?: string };
  readonly loginMethods: readonly { readonly id: string; readonly name: string }[];
  /** Variables that look like keys and were passed to it: they decide whose account is used. */
  readonly keys: readonly string[];
  /** Whether it ran in a sandbox. */
  readonly sandboxed: boolean;
  /** Whether it uses tools of its client. Absent if that was not asked, or no session was opened. */
  readonly tools?: ToolFacts;
}

export interface ProbeOptions {
  readonly handshakeTimeoutMs?: number;
  readonly sessionTimeoutMs?: number;
  /** Where it is started and opens the session. Default: it is started here and opens the session in a temporary folder. */
  readonly cwd?: string;
  /** Whether it runs in a sandbox. Default: what its entry says. */
  readonly isSandboxed?: boolean;
  /** How long to wait for its commands. Default 0. */
  readonly commandsTimeoutMs?: number;
  /** Whether it is given a tool, and it is waited until it uses it. Default: false. */
  readonly checksTools?: boolean;
  /** Says what is waited for, and how long at most. */
  readonly waits?: ((what: string) => void) | undefined;
}

const defaultStartMs = 60_000;
const defaultSessionMs = 30_000;

/** Rejects with a LaunchError when the agent does not start. */
export async function probeAgent(entry: AgentEntry, options: ProbeOptions = {}): Promise<AgentFacts> {
  const { handshakeTimeoutMs, cwd, checksTools = false } = options;
  const { isSandboxed: sandboxed = entry.transport === "stdio" && entry.sandbox === true } = options;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-check-")));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // the command may end early, for example when nobody reads its output
  process.once("exit", remove);
  const check = checksTools
    ? toolCheck({
        isRemote: entry.transport !== "stdio",
        isSandboxed: sandboxed,
        timeoutMs: options.sessionTimeoutMs,
      })
    : undefined;
  let keys: readonly string[] = [];
  const waits = (what: string): void => options.waits?.(`${entry.name}: waiting for ${what}`);
  waits(
    `its answer to initialize${atMost(handshakeTimeoutMs ?? entry.handshakeTimeoutMs ?? defaultStartMs)}`,
  );
  const launched = await launchAgent(entry, {
    definition: {
      name: "parley",
      version: ownVersion(),
      connection: optional({ handshakeTimeoutMs, mcpReceiptMs: check?.waitMs }),
      ...check?.definition,
    },
    // like a run: its command may name files here
    ...optional({ cwd }),
    env: agentCredentials(entry.name),
    sandbox: sandboxed && { roots: [cwd ?? process.cwd(), folder] },
    onEvent: (event) => {
      if (event.kind === "starting") ({ keys } = event);
    },
  }).catch((error: unknown) => {
    process.off("exit", remove);
    remove();
    throw error;
  });
  try {
    const { agent, handshakeMs } = launched;
    const {
      session: opened,
      facts,
      tools,
    } = await probeSession(agent, cwd ?? folder, { ...options, waits }, check);
    const isRefused = typeof opened === "object" && entry.transport !== "stdio" && cwd === undefined;
    const session = isRefused ? { ...opened, hint: remoteHint } : opened;
    return {
      name: agent.info?.name ?? entry.name,
      title: agent.info?.title ?? agent.info?.name ?? entry.title ?? entry.name,
      ...optional({ version: agent.info?.version }),
      protocol: versionOf(agent.edition),
      edition: agent.edition,
      handshakeMs: Math.round(handshakeMs),
      offers: Object.entries(agent.capabilities).flatMap(([name, has]) => (has ? [name] : [])),
      session,
      loginMethods: agent.authMethods.map(({ methodId, name }) => ({
        id: String(methodId),
        name: String(name),
      })),
      ...facts,
      keys,
      sandboxed,
      ...optional({ tools }),
    };
  } finally {
    await launched.close();
    process.off("exit", remove);
    remove();
  }
}

function atMost(ms: number): string {
  return `, at most ${ms / 1_000} s`;
}

const remoteHint =
  "the check used a temporary folder of this machine: name a folder on the agent's machine with --cwd DIR";

interface ProbedSession {
  readonly session: AgentFacts["session"];
  readonly facts: SessionFacts;
  readonly tools?: ToolFacts;
}

/** The session is deleted again if the agent can. */
async function probeSession(
  agent: ClientConnection,
  cwd: string,
  options: ProbeOptions,
  check: ToolCheck | undefined,
): Promise<ProbedSession> {
  const unable = check?.unable(agent.capabilities);
  options.waits?.(`a session${atMost(options.sessionTimeoutMs ?? defaultSessionMs)}`);
  if (check === undefined || unable !== undefined)
    return { ...(await openedSession(agent, { cwd }, options)), ...optional({ tools: unable }) };
  const receipt = () => {
    options.waits?.(`its first use of the tool that it was given${atMost(check.waitMs)}`);
    return check.facts(agent.capabilities, agent.closed);
  };
  const found = await openedSession(agent, { cwd, tools: [checkTool] }, options, receipt);
  if (typeof found.session !== "object") return found;
  // some agents open no session with a server that they dislike
  const without = await openedSession(agent, { cwd }, options);
  if (without.session !== "ok") return without;
  return { ...without, tools: { state: "refused", server: "parley", error: found.session.error } };
}

async function openedSession(
  agent: ClientConnection,
  setup: Parameters<ClientConnection["newSession"]>[0],
  { sessionTimeoutMs: timeoutMs = defaultSessionMs, commandsTimeoutMs = 0 }: ProbeOptions,
  receipt?: () => Promise<ToolFacts>,
): Promise<ProbedSession> {
  try {
    const session = await withTimeout(timeoutMs, agent.newSession(setup));
    if (session === undefined) {
      return { session: { error: `no session was opened within ${timeoutMs} ms` }, facts: noSession };
    }
    const [facts, tools] = await Promise.all([sessionFacts(session, commandsTimeoutMs), receipt?.()]);
    await removeSession(agent, session);
    return { session: "ok", facts, ...optional({ tools }) };
  } catch (error) {
    if (error instanceof RequestError && error.kind === "auth_required") {
      return { session: "login_needed", facts: noSession };
    }
    return { session: { error: problemOf(error).message }, facts: noSession };
  }
}

async function removeSession(agent: ClientConnection, session: ClientSession): Promise<void> {
  const { sessionId } = session;
  // a failure here says nothing about the agent
  await session.close().catch(() => undefined);
  if (agent.capabilities.delete) await agent.deleteSession(sessionId).catch(() => undefined);
}

type SessionFacts = Awaited<ReturnType<typeof sessionFacts>>;

const noSession: SessionFacts = { options: [], commands: [] };

/** Many agents announce their commands after the session is open; waits for them up to `commandsMs`. */
async function sessionFacts(session: ClientSession, commandsMs: number) {
  if (session.availableCommands.length === 0 && commandsMs > 0) await firstCommands(session, commandsMs);
  return {
    options: session.configOptions.map(optionFacts),
    commands: session.availableCommands.map(commandFacts),
  };
}

async function firstCommands(session: ClientSession, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = session.onUpdate(({ sessionUpdate }) => {
    if (sessionUpdate === "available_commands_update") resolve();
  });
  await withTimeout(ms, promise).finally(stop);
}

function optionFacts(option: SessionConfigOption) {
  const { configId, name, description, category } = option;
  return {
    id: configId,
    name,
    ...optional({ description: description ?? undefined, category: category ?? undefined }),
    value: "currentValue" in option ? option.currentValue : undefined,
    ...optional({ choices: choicesOf(option) }),
  };
}

function choicesOf(option: SessionConfigOption) {
  if (option.type !== "select") return undefined;
  // as: the tag says so
  const { options } = option as Extract<SessionConfigOption, { type: "select"; options: unknown }>;
  return options.flatMap((choice) =>
    "groupId" in choice
      ? choice.options.map((each) => choiceFacts(each, choice.name))
      : [choiceFacts(choice)],
  );
}

function choiceFacts(
  { value, name, description }: { value: string; name: string; description?: string | null },
  group?: string,
) {
  return { value, name, ...optional({ description: description ?? undefined, group }) };
}

function commandFacts({ name, description, input }: ClientSession["availableCommands"][number]) {
  const { hint } = (input ?? {}) as { hint?: unknown }; // each kind of input has its own members
  return {
    name: String(name),
    description: String(description),
    ...optional({ hint: typeof hint === "string" ? hint : undefined }),
  };
}

const longestList = 20;

/** The option of `parley run` that sets each, and its values. */
export function optionLines(options: SessionFacts["options"]): string[] {
  return options.map(({ id, category, value, choices }) => {
    const flag = category === "mode" || category === "model" ? `--${category} ` : `--set ${id}=`;
    const all = choices?.map((choice) => choice.value) ?? ["true", "false"];
    const rest = all.length - longestList;
    const shown = `${all.slice(0, longestList).join(" | ")}${rest > 0 ? ` | ${rest} more, see --json` : ""}`;
    return safeLine(`${id} = ${String(value)}  (${flag}${shown})`);
  });
}

export function commandLines(commands: SessionFacts["commands"]): string[] {
  return commands.map(({ name, description, hint }) =>
    safeLine(`/${name}${hint === undefined ? "" : ` ${hint}`}  ${description}`),
  );
}
