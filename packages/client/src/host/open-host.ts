// Hosts the sessions of an agent: recovery, rules, questions, history and review in one piece.

import { isAbsolute } from "node:path";
import { ConnectionError, type Entry } from "@parley/acp";
import { checkOptions, isObject, optional } from "@parley/acp/jsonrpc";
import type { AgentEntry, AgentSpec } from "../agents/agent-spec.ts";
import type { SessionLink, SessionProblem } from "../conversation/session-link.ts";
import type { PermissionPolicyOptions } from "../gate/permission-policy.ts";
import type { History } from "../history/history.ts";
import { HistoryFile } from "../history/history-file.ts";
import type { HistorySession } from "../history/history-record.ts";
import { targetEntry } from "../launch/agent-target.ts";
import { LaunchError } from "../launch/launch-error.ts";
import type { ConnectAgentOptions } from "../managed/connect-options.ts";
import { problemOf } from "../managed/problem.ts";
import { AgentHost } from "./agent-host.ts";
import { AppAgent, type AppHostOptions, type Branch, nameOnly } from "./app-agent.ts";
import type { SessionBranches } from "./session-agent.ts";
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
    throw new TypeError(
      `openHost: expected an object of options, got ${options === undefined ? "nothing" : typeof options}`,
    );
  checkOptions("openHost", options, optionKeys);
  const { cwd = process.cwd(), history, permissions, review, keptChars = 0 } = options;
  if (typeof cwd !== "string" || !isAbsolute(cwd))
    throw new TypeError(`openHost: cwd must be absolute, got ${JSON.stringify(cwd)}`);
  if (history !== undefined && !(history instanceof HistoryFile))
    throw new TypeError("openHost: history must be what openHistory() of @parley/client/history returns");
  if (permissions !== undefined && !isObject(permissions))
    throw new TypeError(`openHost: permissions must be an object, got ${JSON.stringify(permissions)}`);
  if (review !== undefined && typeof review !== "function")
    throw new TypeError(`openHost: review must be a function, got ${JSON.stringify(review)}`);
  if (typeof keptChars !== "number" || !(keptChars >= 0))
    throw new TypeError(`openHost: keptChars must be a number from 0, got ${JSON.stringify(keptChars)}`);
  return new AppHost(targetEntry(target, options.agents), { ...options, cwd, history });
}

interface Begun {
  readonly cwd: string;
  /** The session of the history that is continued. */
  readonly id?: string | undefined;
  readonly branch?: Branch | undefined;
}

class AppHost implements Host {
  readonly #entry: AgentEntry;
  readonly #given: AppHostOptions;
  readonly #sessions = new Set<SessionHost>();
  /** The open reviews, by session. */
  readonly #reviews = new Map<string, Promise<TurnReview>>();
  #running: AgentHost<AppAgent> | undefined;

  constructor(entry: AgentEntry, given: AppHostOptions) {
    this.#entry = entry;
    this.#given = given;
  }

  open({ cwd = this.#given.cwd, session: id }: HostedSessionOptions = {}): SessionLink {
    if (typeof cwd !== "string" || !isAbsolute(cwd))
      throw new TypeError(`open: cwd must be absolute, got ${JSON.stringify(cwd)}`);
    if (id !== undefined && typeof id !== "string")
      throw new TypeError(`open: session must be an id of the history, got ${JSON.stringify(id)}`);
    return this.#openHere(id) ?? this.#begin({ cwd, id }).host;
  }

  /** Such as the outcome of a rewind. */
  #openHere(id: string | undefined): SessionHost | undefined {
    return [...this.#sessions].find(
      (each) => id !== undefined && each.historyId === id && each.phase !== "closed",
    );
  }

  #begin({ cwd, id, branch }: Begun): { readonly host: SessionHost; readonly started: Promise<void> } {
    const { history, review, keptChars } = this.#given;
    const host: SessionHost = new SessionHost({
      cwd,
      title: branch?.title,
      setsTitle: branch?.title !== undefined,
      branches: history && this.#branches(history),
      agent: nameOnly(this.#entry),
      ...optional({ keptChars }),
      problem: async (error) => problemFrom(error),
      ...(review && {
        changes: (folder: string) =>
          turnChanges(
            (name = host.historyId) => this.#review(name, () => review([folder], name)),
            (text) => host.notice("info", text),
            () => host.historyId ?? "",
          ),
      }),
      open: async (session, found) => {
        const known = id === undefined ? undefined : await knownSession(history, id);
        // nobody would end its agent
        if (session.phase === "closed") throw new Error("the session was closed while it was looked for");
        const running = this.#agent();
        running.join(session);
        const place = known?.cwd ?? cwd;
        if (branch !== undefined) {
          found({ agent: running, cwd: place, isContinued: true });
          if (history !== undefined)
            await replayTo(branch.atSeq, history.entries(branch.of.historyId ?? ""), session);
          return running.agent.branched(running, session, place, branch);
        }
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
    return { host, started: host.start() };
  }

  #branches(history: HistoryFile): SessionBranches {
    return {
      entries: (id) => history.entries(id),
      left: (id, to) => history.rewound(id, to),
      open: async (of, point) => {
        const { host, started } = this.#begin({ cwd: point.cwd, branch: { ...point, of } });
        await started;
        if (host.phase === "ready") return host;
        throw new Error("the session could not be opened");
      },
      reopen: async ({ historyId = "" }) => {
        const open = this.#openHere(historyId);
        if (open !== undefined) return open;
        const { host, started } = this.#begin({ cwd: this.#given.cwd, id: historyId });
        await started;
        return host;
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => session.close()));
    const reviews = [...this.#reviews.values()];
    await Promise.all(reviews.map(async (each) => (await each.catch(() => undefined))?.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Each session has one: several of its branches may need it. */
  #review(name: string | undefined, open: () => Promise<TurnReview>): Promise<TurnReview> {
    const key = name ?? crypto.randomUUID();
    const review = this.#reviews.get(key) ?? open();
    this.#reviews.set(key, review);
    return review;
  }

  /** One that has ended with its last session is started again for the next. */
  #agent(): AgentHost<AppAgent> {
    if (this.#running === undefined || this.#running.agent.isClosed)
      this.#running = new AgentHost((ways) => new AppAgent(this.#entry, this.#given, ways));
    return this.#running;
  }
}

/** Shows the entries of the history up to one of them. */
async function replayTo(atSeq: number, entries: AsyncIterable<Entry>, session: SessionHost): Promise<void> {
  for await (const entry of entries) {
    if (entry.seq > atSeq) return;
    session.past(entry);
  }
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
