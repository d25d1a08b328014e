// Lists and changes the sessions of an agent's store. They need not be open.

import { optional } from "../../base/objects.ts";
import type {
  AgentOpResult,
  ListedSessions,
  PassThroughRow,
  SessionInfo,
  SessionOp,
} from "../../edition/agent-edition.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { SessionPatch, SessionQuery, SessionRecord, SessionRecordPage } from "../../model/store.ts";
import { lists } from "../../validation/unstable-features.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import type { HandledOp } from "./handled-request.ts";
import type { LiveSessions } from "./live-sessions.ts";
import { archiveFilter } from "./request-rules.ts";
import type { GuardedStore } from "./session/guarded-store.ts";

export class StoredSessions {
  readonly #definition: AgentDefinition;
  readonly #store: GuardedStore;
  readonly #live: LiveSessions;
  readonly #principal: string | undefined;

  /** Those of one principal: the others are unknown here. */
  constructor(
    definition: AgentDefinition,
    store: GuardedStore,
    { live, principal }: { readonly live: LiveSessions; readonly principal: string | undefined },
  ) {
    this.#definition = definition;
    this.#store = store;
    this.#live = live;
    this.#principal = principal;
  }

  async known(sessionId: string): Promise<SessionRecord> {
    const record = await this.#store.get(sessionId);
    if (record === undefined || !this.#isOwn(record)) throw RequestError.sessionNotFound(sessionId);
    return record;
  }

  /** Whether the session belongs to another principal. */
  async isForeign(sessionId: string): Promise<boolean> {
    try {
      const record = await this.#store.get(sessionId);
      return record !== undefined && !this.#isOwn(record);
    } catch (error) {
      // a session whose record is damaged can be deleted by the local user only: it may be anybody's
      if (this.#principal === undefined) return false;
      throw error;
    }
  }

  /** A store may have lost whose session it is; its holder knows. */
  #isOwn({ sessionId, principal }: SessionRecord): boolean {
    const holder = this.#live.get(sessionId)?.holder ?? { principal };
    return principal === this.#principal && holder.principal === this.#principal;
  }

  /** A page as the app wants it shown. */
  async list(op: Extract<SessionOp, { op: "list" }>, handled: HandledOp): Promise<AgentOpResult> {
    const page = await this.#page(op);
    const sessions = page.sessions.map(({ updatedAt, ...session }): SessionInfo => {
      const time = updatedAt === undefined ? undefined : new Date(updatedAt).toISOString();
      return { ...session, ...optional({ updatedAt: time }) };
    });
    const shown = (await this.#definition.session?.onList?.(sessions, handled)) ?? page.sessions;
    const { nextCursor } = page;
    const more = optional({ nextCursor, _meta: handled.resultMeta });
    return { kind: "page", page: { sessions: shown, ...more } };
  }

  /** Without the feature nobody could see that a session is archived, so all are listed. */
  async #page({ cwd, cursor, archived }: Extract<SessionOp, { op: "list" }>): Promise<ListedSessions> {
    if (!lists(this.#definition.unstable ?? [], "archive"))
      return this.#ownPage({ archived: "include", ...optional({ cwd, cursor }) });
    const filter = archiveFilter(archived);
    const page = await this.#ownPage({ archived: filter, ...optional({ cwd, cursor }) });
    return {
      ...page,
      sessions: page.sessions.map((record) => ({ ...record, archived: record.archived === true })),
    };
  }

  /** The next page that has sessions of this principal. */
  async #ownPage(query: SessionQuery): Promise<SessionRecordPage> {
    const page = await this.#store.list(query);
    const sessions = page.sessions.filter((record) => this.#isOwn(record));
    if (sessions.length === 0 && page.nextCursor !== undefined)
      return this.#ownPage({ ...query, cursor: page.nextCursor });
    return { ...page, sessions };
  }

  /** Asks the handler of the row, and makes its change. Returns the change. */
  async change(
    { handler, handlerTakes = [], patch }: PassThroughRow,
    { sessionId, params }: { readonly sessionId: string; readonly params: object },
    handled: HandledOp,
  ): Promise<SessionPatch | undefined> {
    await this.known(sessionId);
    const given: Readonly<Record<string, unknown>> = { ...params };
    const { session = {} } = this.#definition;
    // as: the row knows what its handler takes
    const ask = (handler && session[handler]) as ((...args: unknown[]) => unknown) | undefined;
    const said = await ask?.call(session, sessionId, ...handlerTakes.map((name) => given[name]), handled);
    const changed = patch?.(given, said);
    if (changed !== undefined) await this.#store.patch(sessionId, changed);
    return changed;
  }
}
