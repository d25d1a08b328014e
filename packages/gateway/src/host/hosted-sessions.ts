// The sessions of a process, the open requests of its clients, and whether a turn runs.

import { idKey, idToJson, methodTable } from "@parley/acp/internal";
import { isObject, type RequestId } from "@parley/acp/jsonrpc";
import type { ProcessClient } from "./process-client.ts";

export type Message = Readonly<Record<string, unknown>>;

/** A request of a client that is not answered yet. */
export interface Asked {
  /** The receiver of the answer. */
  readonly client: ProcessClient;
  /** As the client wrote it, if the agent was given another one. */
  readonly id?: RequestId;
  readonly method: string;
  readonly sessionId: string | undefined;
  /** Asked by the server itself: no client gets the answer. */
  readonly isHidden?: boolean;
  /** Its client was told that it is cancelled, because another one has the session. */
  isSettled?: boolean;
  /** The session of somebody else that was asked for: the agent was given an unknown one. */
  readonly disguised?: string;
}

/** Whether the agent would begin or take up a session. */
export function opens(method: unknown): boolean {
  return methodTable.get(method)?.session === "opens" || continues(method);
}

/** Whether it takes up a session that may be elsewhere. */
export function continues(method: unknown): boolean {
  return methodTable.get(method)?.session === "attaches";
}

/** Whether it needs the process that has the session. */
export function needsHolder(method: unknown): boolean {
  return continues(method) || closes(method);
}

function closes(method: unknown): boolean {
  return methodTable.get(method)?.session === "closes";
}

export function sessionOfMessage({ params }: Message): string | undefined {
  const sessionId = isObject(params) ? params["sessionId"] : undefined;
  return typeof sessionId === "string" ? sessionId : undefined;
}

export class HostedSessions {
  readonly ids = new Set<string>();
  /** Those that are here only if the agent can load them. */
  readonly #claimed = new Set<string>();
  readonly #pending = new Map<string, Asked>();
  /** Those whose agent has said that it works (v2, where a prompt is answered at once). */
  readonly #running = new Set<string>();

  get isBusy(): boolean {
    return this.#pending.size > 0 || this.#running.size > 0;
  }

  /** The sessions in which a turn runs. */
  get withTurns(): ReadonlySet<string> {
    const prompts = [...this.#pending.values()].filter(({ method }) => method === "session/prompt");
    return new Set([...this.#running, ...prompts.flatMap(({ sessionId }) => sessionId ?? [])]);
  }

  isRunning(sessionId: string): boolean {
    return this.#running.has(sessionId);
  }

  /** The prompts of a client in a session, oldest first, by the ids that the agent has. */
  promptsOf(client: ProcessClient, sessionId: string): readonly (readonly [id: unknown, Asked])[] {
    const all = [...this.#pending].filter(
      ([, asked]) =>
        asked.client === client && asked.sessionId === sessionId && asked.method === "session/prompt",
    );
    return all.map(([key, asked]) => [JSON.parse(key), asked]);
  }

  /** Whether nothing of this process is of use to somebody. */
  get isUnused(): boolean {
    return this.ids.size === 0 && ![...this.#pending.values()].some(({ method }) => opens(method));
  }

  /** Holds the session from now on; no longer if it cannot be loaded. */
  claim(sessionId: string): void {
    if (!this.ids.has(sessionId)) this.#claimed.add(sessionId);
    this.ids.add(sessionId);
  }

  asked(id: unknown, asked: Asked): void {
    this.#pending.set(idKey(id), asked);
  }

  /** The id by which the agent knows a request of this client. */
  idAtAgent(client: ProcessClient, id: unknown): string | undefined {
    for (const [key, asked] of this.#pending)
      if (asked.client === client && asked.id !== undefined && idKey(idToJson(asked.id)) === idKey(id))
        return JSON.parse(key);
    return undefined;
  }

  /** Whether a prompt of a former client still runs in the session. */
  hasEarlierPrompt(sessionId: string, client: ProcessClient): boolean {
    for (const asked of this.#pending.values())
      if (asked.method === "session/prompt" && asked.sessionId === sessionId && asked.client !== client)
        return true;
    return false;
  }

  /** Notes a response of the agent. Returns what it answers. */
  answered({ id, result }: Message): Asked | undefined {
    const asked = this.#pending.get(idKey(id));
    if (asked === undefined) return undefined;
    this.#pending.delete(idKey(id));
    const { method } = asked;
    const made = isObject(result) ? result["sessionId"] : undefined;
    const sessionId = typeof made === "string" ? made : asked.sessionId;
    if (sessionId === undefined || asked.disguised !== undefined) return asked;
    if (isObject(result) && opens(method)) this.ids.add(sessionId);
    else if (continues(method) && this.#claimed.has(sessionId)) this.#forget(sessionId);
    if (isObject(result) && closes(method)) this.#forget(sessionId);
    if (continues(method)) this.#claimed.delete(sessionId);
    return asked;
  }

  /** Notes a notification of the agent. */
  noticed({ method, params }: Message): void {
    const update = method === "session/update" && isObject(params) ? params["update"] : undefined;
    if (!isObject(update) || update["sessionUpdate"] !== "state_update") return;
    const sessionId = sessionOfMessage({ params }) ?? "";
    if (update["state"] === "idle") this.#running.delete(sessionId);
    else this.#running.add(sessionId);
  }

  #forget(sessionId: string): void {
    this.ids.delete(sessionId);
    this.#running.delete(sessionId);
  }
}
