// Lists, archives and names the sessions of an agent's store. They need not be open.

import { optional } from "../../base/objects.ts";
import type { AgentOpResult, ListedSessions, SessionInfo, SessionOp } from "../../edition/agent-edition.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { SessionRecord } from "../../model/store.ts";
import { lists } from "../../validation/unstable-features.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import type { HandledOp } from "./handled-request.ts";
import { archiveFilter } from "./request-rules.ts";
import type { GuardedStore } from "./session/guarded-store.ts";

export class StoredSessions {
  readonly #definition: AgentDefinition;
  readonly #store: GuardedStore;

  constructor(definition: AgentDefinition, store: GuardedStore) {
    this.#definition = definition;
    this.#store = store;
  }

  async known(sessionId: string): Promise<SessionRecord> {
    const record = await this.#store.get(sessionId);
    if (record === undefined) throw RequestError.sessionNotFound(sessionId);
    return record;
  }

  /** A page as the app wants it shown. */
  async list(op: Extract<SessionOp, { op: "list" }>, handled: HandledOp): Promise<AgentOpResult> {
    const page = await this.#page(op);
    const sessions = page.sessions.map(({ updatedAt, ...session }): SessionInfo => {
      const time = updatedAt === undefined ? undefined : new Date(updatedAt).toISOString();
      return { ...session, ...optional({ updatedAt: time }) };
    });
    const shown = (await this.#definition.session?.list?.(sessions, handled)) ?? page.sessions;
    const { nextCursor } = page;
    const more = optional({ nextCursor, _meta: handled.resultMeta });
    return { kind: "page", page: { sessions: shown, ...more } };
  }

  /** Without the feature nobody could see that a session is archived, so all are listed. */
  async #page({ cwd, cursor, archived }: Extract<SessionOp, { op: "list" }>): Promise<ListedSessions> {
    if (!lists(this.#definition.unstable ?? [], "archive"))
      return this.#store.list({ archived: "include", ...optional({ cwd, cursor }) });
    const filter = archiveFilter(archived);
    const page = await this.#store.list({ archived: filter, ...optional({ cwd, cursor }) });
    return {
      ...page,
      sessions: page.sessions.map((record) => ({ ...record, archived: record.archived === true })),
    };
  }

  /** Of a session that is closed. One that another connection or process uses is refused, as a load would be. */
  async archive(sessionId: string, handled: HandledOp): Promise<void> {
    await this.#store.claim(sessionId);
    try {
      await this.#definition.session?.archive?.(sessionId, handled);
      await this.#store.patch(sessionId, { archived: true });
    } finally {
      await this.#store.release(sessionId);
    }
  }

  async unarchive(sessionId: string, handled: HandledOp): Promise<void> {
    await this.known(sessionId);
    await this.#definition.session?.unarchive?.(sessionId, handled);
    await this.#store.patch(sessionId, { archived: false });
  }

  /** Returns the title that was stored. */
  async setTitle(
    { sessionId, title: given }: Extract<SessionOp, { op: "set_title" }>,
    handled: HandledOp,
  ): Promise<string> {
    await this.known(sessionId);
    const title = ((await this.#definition.session?.setTitle?.(sessionId, given, handled)) ?? given).trim();
    if (title === "") throw RequestError.invalidParams("a title must not be empty", "/title");
    await this.#store.patch(sessionId, { title, hasUserTitle: true });
    return title;
  }
}
