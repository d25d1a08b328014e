// The agent of an app: started with the first session, and again after it has ended.

import type { Entry } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import type { AgentEntry } from "../agents/agent-spec.ts";
import type { AgentFacts } from "../conversation/session-link.ts";
import { type PermissionPolicy, permissionPolicy } from "../gate/permission-policy.ts";
import type { HistoryFile } from "../history/history-file.ts";
import type { HistorySession } from "../history/history-record.ts";
import { type ManagedConnection, manageAgent } from "../managed/manage-agent.ts";
import type { ManagedSession } from "../managed/managed-session.ts";
import { historyAgent, sessionRecorder } from "../managed/session-recorder.ts";
import type { AgentHost, AgentWays, HostedAgent } from "./agent-host.ts";
import type { HostOptions } from "./open-host.ts";
import { openBranch } from "./rewind.ts";
import type { BranchPoint, OpenedSession } from "./session-agent.ts";
import type { SessionHost } from "./session-host.ts";

/** A branch of a session, from a message on. */
export interface Branch extends BranchPoint {
  readonly of: SessionHost;
}

export type AppHostOptions = Omit<HostOptions, "cwd" | "history"> & {
  readonly cwd: string;
  readonly history: HistoryFile | undefined;
};

export class AppAgent implements HostedAgent {
  readonly #entry: AgentEntry;
  readonly #given: AppHostOptions;
  readonly #ways: AgentWays;
  readonly #policy: PermissionPolicy;
  readonly #recorder: ReturnType<typeof sessionRecorder> | undefined;
  #starting: Promise<ManagedConnection> | undefined;
  #running: ManagedConnection | undefined;
  /** The answers of this policy have a place for them. */
  readonly readsWords = true;
  isClosed = false;

  constructor(entry: AgentEntry, given: AppHostOptions, ways: AgentWays) {
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
    // version 2 reports the end of a turn after its updates
    return this.#running?.edition === "v2" ? 0 : (this.#entry.traits?.lateMs ?? 0);
  }

  get running(): ManagedConnection | undefined {
    return this.#running;
  }

  async opened(agent: AgentHost, session: SessionHost, cwd: string, known: HistorySession | undefined) {
    const connection = await this.#started();
    const place = { cwd, onEntry: (entry: Entry) => session.heard(entry) };
    const opened = await (known === undefined
      ? connection.newSession(place)
      : connection.resumeSession(known.agentSessionId, place));
    return this.#openedBy(agent, opened);
  }

  async branched(agent: AgentHost, session: SessionHost, cwd: string, branch: Branch) {
    const connection = await this.#started();
    const place = { cwd, onEntry: (entry: Entry) => session.heard(entry) };
    const opened = await openBranch(connection, branch.of.sessionId ?? "", branch, place);
    return { ...this.#openedBy(agent, opened.session), memory: opened.memory };
  }

  #openedBy(agent: AgentHost, session: ManagedSession): OpenedSession {
    return { agent, session, recording: this.#recorder?.of(session.sessionId) };
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

export function nameOnly({ name }: AgentEntry): AgentFacts {
  const accepts = { images: false, steering: false, forks: false };
  return { name, asker: name, title: undefined, edition: undefined, accepts };
}
