// The sessions of a managed agent, and the processes that they run in.

import { existsSync } from "node:fs";
import { ConnectionError } from "@parley/acp";
import { argumentText, normalPath } from "@parley/acp/internal";
import { abortable, isObject } from "@parley/acp/jsonrpc";
import type { AgentEntry } from "../agents/agent-spec.ts";
import { hasExactTitles } from "../agents/ready-agents.ts";
import { wantedSandbox } from "../launch/agent-sandbox.ts";
import type { SessionLookup } from "./client-definition.ts";
import type { ManageAgentOptions, ManagedSessionOptions } from "./managed-options.ts";
import { ManagedProcess } from "./managed-process.ts";
import { ManagedSession } from "./managed-session.ts";

/** The error of a call whose signal aborts. */
export function callAborted({ reason }: AbortSignal): ConnectionError {
  return new ConnectionError("aborted", "the call was aborted", { cause: reason });
}

/**
 * All sessions share one process. Only an agent whose dialect has one session per connection gets a further one for each
 * further session that is open at once: its calls for files and terminals do not name their session.
 */
export class ManagedSessions {
  /** The first process, which serves everything that is not about a session. */
  readonly process: ManagedProcess;
  /** Those of single sessions, until they have ended. */
  readonly #further = new Set<ManagedProcess>();
  /** The process of each session, also of those that are being opened, until they have been closed. */
  readonly #processOf = new Map<ManagedSession, ManagedProcess>();
  readonly #open = new Set<ManagedSession>();

  constructor(entry: AgentEntry, options: ManageAgentOptions) {
    this.process = new ManagedProcess(
      entry,
      options,
      this.#lookup(() => this.process),
    );
  }

  get open(): readonly ManagedSession[] {
    return [...this.#open];
  }

  find(sessionId: string): ManagedSession | undefined {
    return this.open.find((session) => session.sessionId === sessionId);
  }

  async begin(
    options: ManagedSessionOptions,
    start: (session: ManagedSession) => Promise<void>,
  ): Promise<ManagedSession> {
    if (!isObject(options)) {
      const wanted = 'an object with `cwd` as the last argument, as { cwd: "/absolute/path" }';
      throw new TypeError(`expected ${wanted}, got ${argumentText(options)}`);
    }
    this.#warnOfFolders(options);
    const process = this.#free();
    const session = new ManagedSession(process, options, {
      checkId: (sessionId) => this.#checkId(sessionId, process),
      ended: () => this.#open.delete(session),
      closed: (work) => this.#closed(session, process, work),
    });
    this.#processOf.set(session, process);
    const started = start(session);
    try {
      await abortable(options.signal, started, callAborted);
    } catch (error) {
      // one that is opened too late is closed again
      const over = started.then(
        () => session.close(),
        () => session.leave(),
      );
      void over.catch(() => undefined);
      throw error;
    }
    this.#open.add(session);
    // who gives a setup looks at its problems
    if (options.setup === undefined) session.reportProblems();
    return session;
  }

  pause(): void {
    for (const process of [this.process, ...this.#further]) process.pause();
  }

  resume(): void {
    for (const process of [this.process, ...this.#further]) process.resume();
  }

  /** Withdraws all prompts, and ends the processes of single sessions. */
  end(): void {
    for (const session of this.#open) void session.end();
    // `ended` waits for them
    for (const process of this.#further) process.close({}).catch(() => undefined);
  }

  /** Resolves when no process of a single session runs any more. */
  async ended(): Promise<void> {
    await Promise.all([...this.#further].map((process) => process.closed));
  }

  /** Finds the sessions of one process. Ids of other processes may be the same. */
  #lookup(process: () => ManagedProcess): SessionLookup {
    const own = () => [...this.#processOf].flatMap(([session, its]) => (its === process() ? [session] : []));
    return {
      agent() {
        const { entry, latest } = process();
        return { agent: entry.name, exactTitles: hasExactTitles(entry, latest.info?.name) };
      },
      managed: (session) =>
        own().find((each) => each.inner === session || each.sessionId === session.sessionId) ?? session,
      taken: (sessionId) =>
        own()
          .find((each) => each.sessionId === sessionId)
          ?.taken(),
    };
  }

  /** The process for the next session. */
  #free(): ManagedProcess {
    const { process: first } = this;
    const isTaken = [...this.#processOf.values()].includes(first);
    if (!isTaken || first.latest.dialect?.oneSessionPerConnection !== true) return first;
    const further: ManagedProcess = first.another(this.#lookup(() => further));
    this.#further.add(further);
    void further.closed.then(() => this.#further.delete(further));
    return further;
  }

  /** Histories, rules and apps know sessions by their ids. */
  #checkId(sessionId: string, process: ManagedProcess): void {
    const other = this.find(sessionId);
    if (other === undefined || this.#processOf.get(other) === process) return;
    const { name } = process.entry;
    throw new ConnectionError(
      "protocol",
      `${name} has a session ${argumentText(sessionId)} in another process already; close it before you open it again. An agent that gives new sessions the same id in each process can have one session at a time`,
    );
  }

  /** The process of a single session ends with it; the first one takes another when the work has ended. */
  async #closed(session: ManagedSession, process: ManagedProcess, work: Promise<unknown>): Promise<void> {
    if (this.#further.has(process)) {
      await process.close({});
      this.#processOf.delete(session);
    } else void work.then(() => this.#processOf.delete(session));
  }

  /** Says which folders of a session its agent cannot use. An agent elsewhere has folders of its own. */
  #warnOfFolders({ cwd, additionalDirectories = [] }: ManagedSessionOptions): void {
    const { entry, options } = this.process;
    const folders = [cwd, ...additionalDirectories];
    for (const path of entry.transport === "stdio" ? folders : []) {
      if (existsSync(path)) continue;
      const message = `there is no folder ${path}, so the tools of ${entry.name} will fail there: create it, or pass another`;
      options.onEvent?.({ kind: "warning", message });
    }
    // the sandbox of an agent is older than its sessions
    const sandbox = wantedSandbox(entry, options.sandbox);
    if (sandbox === undefined) return;
    const { roots = [options.cwd ?? process.cwd()] } = sandbox;
    const isInside = (path: string) =>
      roots.some((root) => normalPath(path) === normalPath(root) || path.startsWith(`${normalPath(root)}/`));
    for (const path of folders.filter((each) => !isInside(each))) {
      const message = `${path} is outside the sandbox of ${entry.name}, which can only read it`;
      options.onEvent?.({ kind: "warning", message });
    }
  }
}
