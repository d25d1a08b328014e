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
import type { SessionPatch, SessionQuery, SessionRecord, StoredSession } from "../../model/store.ts";
import { lists } from "../../validation/unstable-features.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import type { HandledOp } from "./handled-request.ts";
import type { LiveSessions } from "./live-sessions.ts";
import { archiveFilter } from "./request-rules.ts";
import type { GuardedStore } from "./session/guarded-store.ts";

export type StoredSessions = ReturnType<typeof storedSessions>;

/** Those of one principal: the others are unknown here. */
export function storedSessions(
  definition: AgentDefinition,
  store: GuardedStore,
  { live, principal: own }: { readonly live: LiveSessions; readonly principal: string | undefined },
) {
  /** A store may have lost whose session it is; its holder knows. */
  function isOwn({ sessionId, principal }: SessionRecord): boolean {
    const holder = live.all.get(sessionId)?.holder ?? { principal };
    return principal === own && holder.principal === own;
  }

  async function known(sessionId: string): Promise<StoredSession> {
    const record = await store.get(sessionId);
    if (record === undefined || !isOwn(record)) throw RequestError.sessionNotFound(sessionId);
    return record;
  }

  async function ownPage(query: SessionQuery) {
    const { sessions, ...page } = await store.list({ ...query, principal: own ?? null });
    return { ...page, sessions: sessions.filter(isOwn).map(({ head: _, ...record }) => record) };
  }

  /** Without the feature nobody could see that a session is archived, so all are listed. */
  async function pageOf({
    cwd,
    cursor,
    archived,
  }: Extract<SessionOp, { op: "list" }>): Promise<ListedSessions> {
    if (!lists(definition.unstable ?? [], "archive"))
      return ownPage({ archived: "include", ...optional({ cwd, cursor }) });
    const page = await ownPage({ archived: archiveFilter(archived), ...optional({ cwd, cursor }) });
    const sessions = page.sessions.map((record) => ({ ...record, archived: record.archived === true }));
    return { ...page, sessions };
  }

  return {
    known,
    /** Whether the session belongs to another principal. */
    async isForeign(sessionId: string): Promise<boolean> {
      try {
        const record = await store.get(sessionId);
        return record !== undefined && !isOwn(record);
      } catch (error) {
        // a session whose record is damaged can be deleted by the local user only: it may be anybody's
        if (own === undefined) return false;
        throw error;
      }
    },
    /** A page as the app wants it shown. */
    async list(op: Extract<SessionOp, { op: "list" }>, handled: HandledOp): Promise<AgentOpResult> {
      const page = await pageOf(op);
      const sessions = page.sessions.map(({ updatedAt, ...listed }): SessionInfo => {
        const time = updatedAt === undefined ? undefined : new Date(updatedAt).toISOString();
        return { ...listed, ...optional({ updatedAt: time }) };
      });
      const shown = (await definition.session?.onList?.(sessions, handled)) ?? page.sessions;
      const { nextCursor } = page;
      const more = optional({ nextCursor, _meta: handled.resultMeta });
      return { kind: "page", page: { sessions: shown, ...more } };
    },
    /** Asks the handler of the row, and makes its change. Returns the change. */
    async change(
      { handler, handlerTakes = [], patch }: PassThroughRow,
      { sessionId, params }: { readonly sessionId: string; readonly params: object },
      handled: HandledOp,
    ): Promise<SessionPatch | undefined> {
      await known(sessionId);
      const given: Readonly<Record<string, unknown>> = { ...params };
      const { session = {} } = definition;
      // as: the row knows what its handler takes
      const ask = (handler && session[handler]) as ((...args: unknown[]) => unknown) | undefined;
      const taken = handlerTakes.map((name) => given[name]);
      const said = await ask?.call(session, sessionId, ...taken, handled);
      const changed = patch?.(given, said);
      if (changed !== undefined) await store.patch(sessionId, changed);
      return changed;
    },
  };
}
