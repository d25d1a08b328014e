// The sessions that a proxy has seen, with what its definition keeps for each.

import { isObject } from "../../base/objects.ts";
import type { Frame, Side } from "../../forward/frame.ts";
import type { Link } from "../../forward/link.ts";
import { errorFromWire } from "../../jsonrpc/pending-requests.ts";
import type { PermissionOutcome, PermissionRequest } from "../../model/ask.ts";
import { methodTable } from "../../wire/methods.gen.ts";
import { type EditionReader, messageOf, type SessionReader } from "./edition-reader.ts";
import type { ProxiedSession, ProxyDefinition } from "./proxy-definition.ts";

export interface SeenSession {
  readonly reader: SessionReader;
  readonly seen: ProxiedSession<unknown>;
  readonly activity: Readonly<Activity>;
  /** Whether the agent has opened the session. */
  isOpen: boolean;
}

/** What a proxy does in a session by itself. */
export interface Activity {
  /** How many messages it has sent. */
  sent: number;
  /** How many of its requests wait for an answer. */
  asking: number;
}

/** A client may name any number of sessions. Beyond this number the first one is forgotten. A policy forgets none, and keeps no more. */
const maxSessions = 16_384;
const maxIdLength = 1_024;

export class ProxiedSessions {
  readonly #link: Link;
  readonly #make: ProxyDefinition<unknown>["session"];
  readonly #forgets: boolean;
  readonly #sessions = new Map<string, SeenSession>();
  /** The params of each question of the agent, as they came. */
  readonly #asked = new WeakMap<PermissionRequest, object>();

  constructor(link: Link, { session, policy }: Pick<ProxyDefinition<unknown>, "session" | "policy">) {
    this.#link = link;
    this.#make = session;
    this.#forgets = policy !== true;
  }

  /** The session, which is made when it is named for the first time. Undefined for one that cannot be kept. */
  get(sessionId: string, reader: EditionReader, isKept: boolean): SeenSession | undefined {
    if (sessionId.length > maxIdLength) return undefined;
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) return known;
    if (isKept && !this.#forgets && this.#sessions.size >= maxSessions) return undefined;
    const link = this.#link;
    const activity: Activity = { sent: 0, asking: 0 };
    const bare: Omit<ProxiedSession, "data"> = {
      sessionId,
      edition: reader.edition,
      update(update) {
        activity.sent += 1;
        for (const params of reader.newUpdate(sessionId, update))
          link.notify("client", "session/update", params);
      },
      say: (text) => bare.update(messageOf(text)),
      notify: (to, method, params) => {
        activity.sent += 1;
        link.notify(to, method, params);
      },
      request: (to, method, params) => this.#request(activity, to, method, params),
      ask: async (question, { signal } = {}) => {
        const asked = this.#asked.get(question);
        const own = asked === undefined ? reader.asked(sessionId, question) : undefined;
        const params = asked ?? own?.params ?? {};
        const { outcome, _meta } = Object(
          await this.#request(activity, "client", askMethod, params, signal),
        ) as Partial<Record<string, unknown>>; // any object
        const answer = answerOf(outcome, _meta);
        const over = own?.over(answer);
        if (over !== undefined) link.notify("client", "session/update", { sessionId, update: over });
        return answer;
      },
    };
    const data = this.#make?.(bare);
    const session = {
      reader: reader.session(),
      seen: Object.assign(bare, { data }),
      activity,
      isOpen: false,
    };
    if (!isKept) return session;
    this.#sessions.set(sessionId, session);
    if (this.#sessions.size > maxSessions) {
      const [first] = this.#sessions.keys();
      if (first !== undefined) this.#sessions.delete(first);
    }
    return session;
  }

  /** Keeps the params of a question, so that a proxy can ask it as it came. */
  asked(question: PermissionRequest, params: object): void {
    this.#asked.set(question, params);
  }

  /** Notes what an answer opens or closes. A session that could not be opened is forgotten. */
  answered({ method, opens, session: sessionId = "", answer }: Frame): void {
    const session = this.#sessions.get(sessionId);
    const isDone = answer?.error === undefined;
    if (isDone && methodTable.get(method)?.session === "closes") this.#sessions.delete(sessionId);
    else if (session === undefined || opens === undefined) return;
    else if (isDone) session.isOpen = true;
    else if (opens === "named session" && !session.isOpen) this.#sessions.delete(sessionId);
  }

  clear(): void {
    this.#sessions.clear();
  }

  #request(
    activity: Activity,
    to: Side,
    method: string,
    params: object,
    signal?: AbortSignal,
  ): Promise<unknown> {
    activity.asking += 1;
    return new Promise((resolve, reject) => {
      const withdraw = this.#link.request(to, method, params, ({ result, error }) => {
        activity.asking -= 1;
        signal?.removeEventListener("abort", withdraw);
        if (error === undefined) resolve(result);
        else reject(errorFromWire(method, error));
      });
      signal?.addEventListener("abort", withdraw, { once: true });
      if (signal?.aborted) withdraw();
    });
  }
}

const askMethod = "session/request_permission";

/** Reads the answer of a client. A malformed answer counts as "cancelled". */
function answerOf(outcome: unknown, _meta: unknown): PermissionOutcome {
  const meta = isObject(_meta) ? { _meta } : {};
  if (!isObject(outcome) || outcome["outcome"] !== "selected" || typeof outcome["optionId"] !== "string")
    return { outcome: "cancelled", ...meta };
  return { outcome: "selected", optionId: outcome["optionId"], ...meta };
}
