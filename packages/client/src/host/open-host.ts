// Hosts the sessions of an agent: recovery, rules, questions, history and review in one piece.

import { isAbsolute } from "node:path";
import { ConnectionError, type Entry } from "@parley/acp";
import { argumentText } from "@parley/acp/internal";
import { checkOptions, isObject, optional } from "@parley/acp/jsonrpc";
import type { AgentEntry, AgentSpec } from "../agents/agent-spec.ts";
import type { AgentFacts, SessionLink, SessionProblem } from "../conversation/session-link.ts";
import {
  type PermissionPolicy,
  type PermissionPolicyOptions,
  permissionPolicy,
} from "../gate/permission-policy.ts";
import type { History } from "../history/history.ts";
import { HistoryFile } from "../history/history-file.ts";
import type { HistorySession } from "../history/history-record.ts";
import { targetEntry } from "../launch/agent-target.ts";
import { LaunchError } from "../launch/launch-error.ts";
import { historyAgent, sessionRecorder } from "../managed/connect-agent.ts";
import type { ConnectAgentOptions } from "../managed/connect-options.ts";
import { type ManagedConnection, manageAgent } from "../managed/manage-agent.ts";
import { problemOf } from "../managed/problem.ts";
import { AgentHost, type AgentWays, type HostedAgent } from "./agent-host.ts";
import { isTaken } from "./session-end.ts";
import { SessionHost } from "./session-host.ts";
import { type TurnReview, turnChanges } from "./turn-review.ts";

/** What sessions are hosted with. */
export interface HostOptions
  extends Omit<
    ConnectAgentOptions,
    "asker" | "elicit" | "requestPermission" | "policy" | "onEvent" | "signal" | "history"
  > {
  /** Rules, remembered answers and the audit log. What no rule answers is a question to the conversations. */
  readonly permissions?: Omit<PermissionPolicyOptions, "ask" | "onNotice"> | undefined;
  /** Records all sessions: that of `openHistory`. It stays open when the host is closed. */
  readonly history?: History | undefined;
  /** Opens a review of the folders of a session, such as `openReview` of `@parley/review`. Each turn then tells what it changed. */
  readonly review?:
    | ((roots: readonly string[], sessionId: string | undefined) => Promise<TurnReview>)
    | undefined;
  /** How many characters of entries are kept for conversations that begin later or were cut. Default 8 Mi. */
  readonly keptChars?: number | undefined;
}

/** Which session is opened. */
export interface HostedSessionOptions {
  /** The absolute working directory. Default: that of the session of the history, or of the host. */
  readonly cwd?: string | undefined;
  /** Continues this session of the history. Default: a new one. */
  readonly session?: string | undefined;
}

/** The sessions of one agent. */
export interface Host {
  /** Opens a session. Its agent starts meanwhile: prompts can be sent at once. Failures are in the status. */
  open(options?: HostedSessionOptions): SessionLink;
  /** Ends all sessions, and the agent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const optionKeys: Readonly<Record<keyof HostOptions, true>> = {
  name: true,
  version: true,
  title: true,
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
  agents: true,
  cwd: true,
  env: true,
  sandbox: true,
  setupTimeoutMs: true,
  loginTimeoutMs: true,
  maxRestarts: true,
  cancelTimeoutMs: true,
  quietMs: true,
  maxRetries: true,
  backoffMs: true,
  permissions: true,
  review: true,
  keptChars: true,
};

/**
 * Opens a host for the sessions of an agent. It starts the agent, restarts it after a crash, decides by rules, asks the
 * conversations, records, and follows what turns change. `openConversation` shows its sessions.
 *
 * @param target - The name of a ready agent or of one in `agents`; a command with its arguments; or a spec.
 * @param options - The name and version of your app, and everything else that a client needs.
 * @throws {LaunchError} When the agent is unknown.
 * @throws {TypeError} When an option is unknown or wrong.
 *
 * @example
 * import { openConversation } from "@parley/client/conversation";
 * import { openHost } from "@parley/client/host";
 *
 * await using host = openHost(["node", "my-agent.js"], {
 *   name: "my-app",
 *   version: "1.0.0",
 *   permissions: { rules: ["allow read src"] },
 * });
 * const conversation = openConversation(host.open({ cwd: process.cwd() }));
 * conversation.onEvent(({ kind }) => {
 *   for (const question of conversation.questions)
 *     if (kind === "questions" && question.kind === "permission") question.answer(undefined);
 *   if (kind === "turn") console.log(conversation.view.timeline.length);
 * });
 * conversation.send({ text: "Explain this project" });
 */
export function openHost(target: string | readonly string[] | AgentSpec, options: HostOptions): Host {
  if (!isObject(options))
    throw new TypeError(`openHost: expected an object of options, got ${argumentText(options)}`);
  checkOptions("openHost", options, optionKeys);
  const { cwd = process.cwd(), history, permissions, review, keptChars = 0 } = options;
  if (typeof cwd !== "string" || !isAbsolute(cwd))
    throw new TypeError(`openHost: cwd must be absolute, got ${argumentText(cwd)}`);
  if (history !== undefined && !(history instanceof HistoryFile))
    throw new TypeError("openHost: history must be what openHistory() of @parley/client/history returns");
  if (permissions !== undefined && !isObject(permissions))
    throw new TypeError(`openHost: permissions must be an object, got ${argumentText(permissions)}`);
  if (review !== undefined && typeof review !== "function")
    throw new TypeError(`openHost: review must be a function, got ${argumentText(review)}`);
  if (typeof keptChars !== "number" || !(keptChars >= 0))
    throw new TypeError(`openHost: keptChars must be a number from 0, got ${argumentText(keptChars)}`);
  return new AppHost(targetEntry(target, options.agents), { ...options, cwd, history });
}

type Given = Omit<HostOptions, "cwd" | "history"> & {
  readonly cwd: string;
  readonly history: HistoryFile | undefined;
};

class AppHost implements Host {
  readonly #entry: AgentEntry;
  readonly #given: Given;
  readonly #sessions = new Set<SessionHost>();
  readonly #closings = new Set<() => Promise<void>>();
  #running: AgentHost<AppAgent> | undefined;

  constructor(entry: AgentEntry, given: Given) {
    this.#entry = entry;
    this.#given = given;
  }

  open({ cwd = this.#given.cwd, session: id }: HostedSessionOptions = {}): SessionLink {
    if (typeof cwd !== "string" || !isAbsolute(cwd))
      throw new TypeError(`open: cwd must be absolute, got ${argumentText(cwd)}`);
    if (id !== undefined && typeof id !== "string")
      throw new TypeError(`open: session must be an id of the history, got ${argumentText(id)}`);
    const { history, review, keptChars } = this.#given;
    const host: SessionHost = new SessionHost({
      cwd,
      agent: nameOnly(this.#entry),
      ...optional({ keptChars }),
      problem: async (error) => problemFrom(error),
      ...(review && {
        changes: (folder: string) => {
          const changes = turnChanges(
            () => review([folder], host.historyId),
            (text) => host.notice("info", text),
          );
          this.#closings.add(() => changes.close());
          return changes;
        },
      }),
      open: async (session, found) => {
        const known = id === undefined ? undefined : await knownSession(history, id);
        // nobody would end its agent
        if (session.phase === "closed") throw new Error("the session was closed while it was looked for");
        const running = this.#agent();
        running.join(session);
        const place = known?.cwd ?? cwd;
        found({
          agent: running,
          cwd: place,
          title: known?.name ?? known?.title,
          historyId: known?.id,
          isContinued: known !== undefined,
        });
        if (known !== undefined && history !== undefined && session.isEmpty)
          for await (const entry of history.entries(known.id)) session.past(entry);
        return running.agent.opened(running, session, place, known);
      },
    });
    this.#sessions.add(host);
    void host.start();
    return host;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => session.close()));
    await Promise.all([...this.#closings].map((close) => close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** One that has ended with its last session is started again for the next. */
  #agent(): AgentHost<AppAgent> {
    if (this.#running === undefined || this.#running.agent.isClosed)
      this.#running = new AgentHost((ways) => new AppAgent(this.#entry, this.#given, ways));
    return this.#running;
  }
}

class AppAgent implements HostedAgent {
  readonly #entry: AgentEntry;
  readonly #given: Given;
  readonly #ways: AgentWays;
  readonly #policy: PermissionPolicy;
  readonly #recorder: ReturnType<typeof sessionRecorder> | undefined;
  #starting: Promise<ManagedConnection> | undefined;
  #running: ManagedConnection | undefined;
  isClosed = false;

  constructor(entry: AgentEntry, given: Given, ways: AgentWays) {
    this.#entry = entry;
    this.#given = given;
    this.#ways = ways;
    this.#policy = permissionPolicy({
      ...given.permissions,
      ask: (question) => ways.asker.permission?.(question),
      onNotice: (text) => ways.tell(text),
    });
    this.#policy.onDecision((decision) => ways.onDecision(decision));
    const agent = () => historyAgent(entry, this.#running);
    this.#recorder = given.history && sessionRecorder(given.history, agent, (text) => ways.warn(text));
  }

  get facts(): AgentFacts {
    const { info, edition, capabilities } = this.#running ?? {};
    const title = info?.title ?? info?.name;
    return {
      ...nameOnly(this.#entry),
      title: title === undefined ? undefined : `${title} ${info?.version ?? ""}`.trim(),
      edition,
      accepts: {
        images: capabilities?.image ?? false,
        steering: capabilities?.steer ?? false,
        forks: capabilities?.fork ?? false,
      },
    };
  }

  get sandbox(): string {
    return this.#given.sandbox ? "agent in sandbox" : "";
  }

  get lateMs(): number {
    return this.#entry.traits?.lateMs ?? 0;
  }

  get running(): ManagedConnection | undefined {
    return this.#running;
  }

  /** The answers of this policy have a place for the words. */
  takeUnsaid(): undefined {
    return undefined;
  }

  async opened(agent: AgentHost, session: SessionHost, cwd: string, known: HistorySession | undefined) {
    const connection = await this.#started();
    const place = { cwd, onEntry: (entry: Entry) => session.heard(entry) };
    const opened = await (known === undefined
      ? connection.newSession(place)
      : connection.resumeSession(known.agentSessionId, place));
    const recorder = this.#recorder;
    return {
      agent,
      session: opened,
      ...optional({ historyId: recorder?.of(opened.sessionId)?.id ?? known?.id }),
      ...(recorder && {
        record: (entry: Entry) => recorder.entry(opened.sessionId, entry),
        stored: async () => recorder.of(opened.sessionId)?.stored(),
      }),
    };
  }

  #started(): Promise<ManagedConnection> {
    this.#starting ??= this.#start().catch((error: unknown) => {
      // the next session tries again
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  async #start(): Promise<ManagedConnection> {
    const {
      permissions: _permissions,
      review: _review,
      keptChars: _kept,
      history: _history,
      agents: _agents,
      ...given
    } = this.#given;
    const { asker, signal, onEvent } = this.#ways;
    this.#running = await manageAgent(this.#entry, {
      ...given,
      asker,
      elicit: asker.elicit,
      policy: this.#policy,
      signal,
      onEvent,
      ...optional({ recorder: this.#recorder }),
    });
    return this.#running;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const running = this.#running ?? (await this.#starting?.catch(() => undefined));
    await running?.close();
    await this.#recorder?.finish();
    await this.#policy.close();
  }
}

function nameOnly({ name }: AgentEntry): AgentFacts {
  const accepts = { images: false, steering: false, forks: false };
  return { name, asker: name, title: undefined, edition: undefined, accepts };
}

async function knownSession(history: HistoryFile | undefined, id: string): Promise<HistorySession> {
  const found = await history?.find(id);
  if (found !== undefined) return found;
  const why =
    history === undefined ? "the host was opened without a history" : "the history has no such session";
  throw new Error(`the session ${JSON.stringify(id)} cannot be continued: ${why}`);
}

function problemFrom(error: unknown): SessionProblem {
  if (error instanceof LaunchError) {
    const { message, hint, stderr } = error;
    return {
      message,
      ...optional({ hint, stderr }),
      ...(error.kind === "login_needed" && { status: "login needed" }),
    };
  }
  if (error instanceof ConnectionError) {
    const { message, stderr } = error;
    return { message: `the agent ended: ${message}`, ...optional({ stderr }) };
  }
  const { message } = problemOf(error);
  if (isTaken(error)) return { message, status: "taken" };
  // the end of an agent that was idle
  const stderr = error instanceof Error && "stderr" in error ? error.stderr : undefined;
  return { message, ...(typeof stderr === "string" && { stderr }) };
}
