// Watches the messages between a client and its agent, to know which process has which session.

import { isObject } from "@parley/acp/internal";

type Message = Readonly<Record<string, unknown>>;

const opening = ["session/new", "session/load", "session/resume", "session/fork"];
const ending = ["session/close", "session/delete"];

/** The sessions of one process. */
export class HeldSessions {
  readonly ids = new Set<string>();
  /** Requests of the client that are not answered yet. */
  readonly #pending = new Map<
    string,
    { readonly method: string; readonly sessionId: unknown; isClaim?: true }
  >();

  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  /** Notes a message of the client. Returns the session that it wants to continue here. */
  asked(message: Message): string | undefined {
    const { id, method, params } = message;
    if (typeof method !== "string") return undefined;
    const { sessionId } = isObject(params) ? params : {};
    if (id !== undefined) this.#pending.set(JSON.stringify(id), { method, sessionId });
    const continues = method === "session/load" || method === "session/resume" ? sessionId : undefined;
    return typeof continues === "string" ? continues : undefined;
  }

  /** Holds the session from now on; no longer if this request fails. */
  claim(id: unknown, sessionId: string): void {
    const asked = this.#pending.get(JSON.stringify(id));
    if (asked !== undefined) asked.isClaim = true;
    this.ids.add(sessionId);
  }

  /** Notes a message of the agent. */
  answered({ id, method, result }: Message): void {
    if (method !== undefined || id === undefined) return;
    const key = JSON.stringify(id);
    const asked = this.#pending.get(key);
    if (asked === undefined) return;
    this.#pending.delete(key);
    if (!isObject(result)) {
      if (asked.isClaim && typeof asked.sessionId === "string") this.ids.delete(asked.sessionId);
      return;
    }
    const sessionId = result["sessionId"] ?? asked.sessionId;
    if (typeof sessionId !== "string") return;
    if (opening.includes(asked.method)) this.ids.add(sessionId);
    if (ending.includes(asked.method)) this.ids.delete(sessionId);
  }

  /** The request was answered without the agent. */
  refused(id: unknown): void {
    this.#pending.delete(JSON.stringify(id));
  }
}
