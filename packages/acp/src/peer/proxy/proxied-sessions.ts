// The sessions that a proxy has seen, with what its definition keeps for each.

import type { Side } from "../../forward/frame.ts";
import type { Link } from "../../forward/link.ts";
import { errorFromWire } from "../../jsonrpc/pending-requests.ts";
import { type EditionReader, messageOf, type SessionReader } from "./edition-reader.ts";
import type { ProxiedSession, ProxyDefinition } from "./proxy-definition.ts";

export interface SeenSession {
  readonly reader: SessionReader;
  readonly seen: ProxiedSession<unknown>;
}

/** A client may name any session: then the one that was named first is forgotten. */
const maxSessions = 16_384;
const maxIdLength = 1_024;

export class ProxiedSessions {
  readonly #link: Link;
  readonly #make: ProxyDefinition<unknown>["session"];
  readonly #sessions = new Map<string, SeenSession>();

  constructor(link: Link, make: ProxyDefinition<unknown>["session"]) {
    this.#link = link;
    this.#make = make;
  }

  /** The session, which is made when it is named for the first time. Undefined for an id that is too long to be kept. */
  get(sessionId: string, reader: EditionReader, isKept: boolean): SeenSession | undefined {
    if (sessionId.length > maxIdLength) return undefined;
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) return known;
    const link = this.#link;
    const bare: Omit<ProxiedSession, "data"> = {
      sessionId,
      edition: reader.edition,
      update(update) {
        for (const params of reader.newUpdate(sessionId, update))
          link.notify("client", "session/update", params);
      },
      say: (text) => bare.update(messageOf(text)),
      notify: (to, method, params) => link.notify(to, method, params),
      request: (to, method, params) => this.#request(to, method, params),
    };
    const data = this.#make?.(bare);
    const session = { reader: reader.session(), seen: Object.assign(bare, { data }) };
    if (!isKept) return session;
    this.#sessions.set(sessionId, session);
    if (this.#sessions.size > maxSessions) {
      const [first] = this.#sessions.keys();
      if (first !== undefined) this.#sessions.delete(first);
    }
    return session;
  }

  delete(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }

  #request(to: Side, method: string, params: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#link.request(to, method, params, ({ result, error }) => {
        if (error === undefined) resolve(result);
        else reject(errorFromWire(method, error));
      });
    });
  }
}
