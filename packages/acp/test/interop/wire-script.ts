// The types of agents and clients that run on either library: handlers by method, a sender, and a way to refuse.

import type { ExitStatus } from "@parley/acp/model";

type RequestMap<Map> = { [Method in keyof Map]: { params: unknown; result: unknown } };
type NotificationMap<Map> = { [Method in keyof Map]: { params: unknown } };

/** What both libraries give the handler of a request. */
interface Call {
  readonly signal: AbortSignal;
}

export interface Script<
  Requests extends RequestMap<Requests>,
  Notifications extends NotificationMap<Notifications>,
> {
  readonly requests: {
    readonly [Method in keyof Requests]?: (
      params: Requests[Method]["params"],
      call: Call,
    ) => Requests[Method]["result"] | Promise<Requests[Method]["result"]>;
  } & { readonly [Extension in `_${string}`]?: (params: unknown, call: Call) => unknown };
  readonly notifications: {
    readonly [Method in keyof Notifications]?: (params: Notifications[Method]["params"]) => undefined;
  } & { readonly [Extension in `_${string}`]?: (params: unknown) => undefined };
}

/** Sends requests and notifications to the other side; our WirePeer has this shape already. */
export interface Sender<
  Requests extends RequestMap<Requests>,
  Notifications extends NotificationMap<Notifications>,
> {
  request<Method extends keyof Requests & string>(
    method: Method,
    params: Requests[Method]["params"],
    options?: { readonly signal?: AbortSignal },
  ): Promise<Requests[Method]["result"]>;
  notify<Method extends keyof Notifications & string>(
    method: Method,
    params: Notifications[Method]["params"],
  ): Promise<void> | undefined;
  requestExtension(
    method: `_${string}`,
    params?: unknown,
    options?: { readonly signal?: AbortSignal },
  ): Promise<unknown>;
  notifyExtension(method: `_${string}`, params?: unknown): Promise<void> | undefined;
}

/** What a script needs of the library it runs on. */
export interface Wire<Peer> {
  /** The other side; to be used from handlers only. */
  peer(): Peer;
  /** The error that this library's handlers throw to answer with a code. */
  refuse(code: number, message: string, data?: unknown): Error;
}

/** A client that is connected to an agent in a process of its own. */
export interface Connected<Peer> {
  readonly agent: Peer;
  readonly log: EventLog;
  /** Whether what precedes a response on the wire has been handled when the response resolves. */
  readonly keepsOrder: boolean;
  /** What our side could not decode, and what the agent's process wrote to stderr. Empty in a good conversation. */
  complaints(): string;
  readonly exited: Promise<ExitStatus>;
  /** Ends the agent's stdin, waits for its exit, leaves nothing behind. */
  close(): Promise<ExitStatus>;
}

export interface Event {
  readonly method: string;
  readonly params: unknown;
}

/** What a client has been told, in the order in which its handlers ran. */
export class EventLog {
  readonly events: Event[] = [];
  #progress = Promise.withResolvers<void>();

  add(method: string, params: unknown): undefined {
    this.events.push({ method, params });
    this.#progress.resolve();
    this.#progress = Promise.withResolvers();
  }

  /** The params of every event of this method since the mark. */
  of(method: string, mark = 0): unknown[] {
    return this.events.slice(mark).flatMap((event) => (event.method === method ? [event.params] : []));
  }

  /** Waits until so many events of this method have come since the mark; a test's deadline bounds it. */
  async until(method: string, count: number, mark = 0): Promise<unknown[]> {
    for (;;) {
      const found = this.of(method, mark);
      if (found.length >= count) return found;
      await this.#progress.promise;
    }
  }
}

/** Settles a request into something that can be compared and put on the wire: the error's code, message and data. */
export async function outcomeOf(request: Promise<unknown>): Promise<object> {
  try {
    return { result: await request };
  } catch (error) {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
    return { error: { code, message, data } };
  }
}

/** Rejects when the peer cancels the request, with the reason that the library gives. */
export function untilCancelled({ signal }: Call): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
