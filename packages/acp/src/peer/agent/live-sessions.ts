// The live sessions of an agent. Each is held by one connection, and another one may take it over.

import { withTimeout } from "../../base/abortable.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import { SessionOrder } from "../base/session-order.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import type { HandledOp } from "./handled-request.ts";
import type { ServedSession } from "./served-session.ts";
import type { SessionSender } from "./session/session-sender.ts";

/** How long closing a session waits for the definition's `session.close`. */
const closeGraceMs = 5_000;

/** A connection, as the sessions see it that it holds. */
export interface Holder {
  /** Whom its sessions belong to; undefined for the one local user. */
  readonly principal: string | undefined;
  /** "detached" while its client is away. */
  readonly state: "attached" | "detached" | "ended";
  readonly sender: SessionSender;
  /** Another connection has the session now. */
  taken(sessionId: string): void;
}

export interface LiveSession {
  readonly session: ServedSession;
  readonly holder: Holder;
}

export class LiveSessions {
  /** Sessions that are being activated or ended: the next request for one waits, whichever connection it comes from. */
  readonly order = new SessionOrder();
  readonly #definition: AgentDefinition;
  readonly #live = new Map<string, LiveSession>();
  /** All live sessions, by their ids. */
  readonly all: ReadonlyMap<string, LiveSession> = this.#live;
  /** Sessions that were live and are not released yet. */
  readonly #ending = new Map<string, Promise<void>>();

  constructor(definition: AgentDefinition) {
    this.#definition = definition;
  }

  heldBy(holder: Holder): ServedSession[] {
    return [...this.#live.values()].filter((live) => live.holder === holder).map(({ session }) => session);
  }

  add(session: ServedSession, holder: Holder): void {
    this.#live.set(session.sessionId, { session, holder });
  }

  /** Forgets a session that could not be opened. */
  remove(sessionId: string): void {
    this.#live.delete(sessionId);
  }

  /** The session, if it is live and will be. One whose connection has ended is closed first: it can then be opened anew. */
  async lasting(sessionId: string): Promise<LiveSession | undefined> {
    if (this.#live.get(sessionId)?.holder.state === "ended") await this.close(sessionId);
    await this.#ending.get(sessionId);
    return this.#live.get(sessionId);
  }

  /** The session goes on at another connection, with what runs in it. */
  handOver({ session, holder: before }: LiveSession, holder: Holder): void {
    this.add(session, holder);
    session.attach(holder.sender);
    before.taken(session.sessionId);
  }

  /** Another process has claimed the session. The client is told, and the session ends here. */
  lost(session: ServedSession): void {
    const live = this.#live.get(session.sessionId);
    if (live?.session !== session) return;
    session.lost(() => live.holder.taken(session.sessionId));
    // it reports its own failures
    void this.close(session.sessionId);
  }

  async close(sessionId: string, handled?: HandledOp): Promise<void> {
    const session = this.#live.get(sessionId)?.session;
    // closing what is not open is fine (A36)
    if (session === undefined) return this.#ending.get(sessionId);
    this.#live.delete(sessionId);
    const ending = this.#end(session);
    this.#ending.set(sessionId, ending);
    await ending;
    this.#ending.delete(sessionId);
    const closing = (async () => this.#definition.session?.close?.(session, handled))();
    const closed = closing.catch((error: unknown) => closeFailed(session, error)).then(() => true);
    // a handler that waits for the end of the connection or of the agent waits for itself
    if ((await withTimeout(closeGraceMs, closed)) === undefined)
      session.updates.sender.log(
        "warn",
        "session.close goes on: it must not wait for the agent or the connection",
        { sessionId },
      );
  }

  async #end(session: ServedSession): Promise<void> {
    await session.close();
    // a failure must not keep the session claimed, nor the client without its answer (A33)
    await session.updates.log.release().catch((error: unknown) => closeFailed(session, error));
  }
}

function closeFailed({ sessionId, updates }: ServedSession, error: unknown): void {
  updates.sender.log("error", "closing a session failed", { sessionId, error });
}

export type ConnectionWork = ReturnType<typeof connectionWork>;

/** The work on sessions that the requests of one connection have begun. `order` is that of all connections. */
export function connectionWork(order: SessionOrder) {
  const running = new Set<Promise<unknown>>();
  /** Gives the work up that waits for its turn, or holds others up. */
  const giveUps = new Set<(reason: Error) => void>();
  const work = {
    isEnding: false,
    /** Runs work on a session after the work before it, of other connections too. */
    async inOrder<Result>(sessionId: string, run: () => Promise<Result>): Promise<Result> {
      const given = Promise.withResolvers<never>();
      given.promise.catch(() => undefined);
      giveUps.add(given.reject);
      const ordered = order.run(sessionId, () => Promise.race([run(), given.promise]));
      running.add(ordered);
      try {
        return await ordered;
      } finally {
        running.delete(ordered);
        giveUps.delete(given.reject);
      }
    },
    /** Waits for what runs. What hangs must not keep other connections from its session. */
    async end(graceMs: number): Promise<void> {
      work.isEnding = true;
      await withTimeout(graceMs, Promise.allSettled(running));
      for (const giveUp of giveUps) giveUp(connectionEnded());
    },
  };
  return work;
}

export function connectionEnded(): RequestError {
  return new RequestError("cancelled", "the connection has ended");
}
