// What the server behind a bridge tells without being asked: changed lists and resources. One subscription for all who listen.

import { isObject } from "@parley/acp/jsonrpc";
import type { McpBridgeSession, McpParams, McpProvider } from "@parley/acp/model";
import { type ServerFacts, subscriptionKey, withClaim } from "../revisions/claims.ts";

type Listener = (method: string, params: McpParams | undefined) => void;

/** Names the resources of the filter of `subscriptions/listen`. */
export function watchedBy(params: unknown): readonly string[] {
  const filter = isObject(params) ? params["notifications"] : undefined;
  const uris: unknown = isObject(filter) ? filter["resourceSubscriptions"] : undefined;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [];
}

export const changeMethods = {
  "notifications/tools/list_changed": "tools_list_changed",
  "notifications/prompts/list_changed": "prompts_list_changed",
  "notifications/resources/list_changed": "resources_list_changed",
  "notifications/resources/updated": "resource_updated",
} as const;

function isChange(method: string): method is keyof typeof changeMethods {
  return Object.hasOwn(changeMethods, method);
}

/** How many resources may be watched at once. */
const maxWatched = 1_024;

export class Changes {
  readonly #provider: McpProvider;
  readonly #session: McpBridgeSession;
  readonly #listeners = new Set<Listener>();
  /** How many watch each resource. */
  readonly #watched = new Map<string, number>();
  #capabilities: ServerFacts["capabilities"] = {};
  #open: AbortController | undefined;
  /** Resolves when the server has heard of the last subscription. */
  #ready: Promise<void> = Promise.resolve();
  /** The one that follows it. */
  #next: Promise<void> | undefined;
  #isClosed = false;

  constructor(provider: McpProvider, session: McpBridgeSession) {
    this.#provider = provider;
    this.#session = session;
  }

  /** What the server says that it can tell of. */
  know(capabilities: ServerFacts["capabilities"]): void {
    this.#capabilities = capabilities;
  }

  /** Tells of every change from now on. Returns what ends that. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) void this.#subscribe();
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#unsubscribe();
    };
  }

  /** Watches resources. Resolves when the server has heard of it, with what ends that. */
  async watch(uris: readonly string[]): Promise<() => void> {
    const own = new Set<string>();
    let isNew = false;
    for (const uri of uris) {
      const count = this.#watched.get(uri) ?? 0;
      if (own.has(uri) || (count === 0 && !this.hasRoom)) continue;
      if (count === 0) isNew = true;
      own.add(uri);
      this.#watched.set(uri, count + 1);
    }
    await (isNew ? this.#subscribe() : (this.#next ?? this.#ready));
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      for (const uri of own) {
        const count = (this.#watched.get(uri) ?? 1) - 1;
        if (count > 0) this.#watched.set(uri, count);
        else this.#watched.delete(uri);
      }
    };
  }

  /** Whether one more resource may be watched. */
  get hasRoom(): boolean {
    return this.#watched.size < maxWatched;
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
  }

  #unsubscribe(): void {
    this.#open?.abort();
    this.#open = undefined;
  }

  /** One after the other: what is wanted while one begins is part of the next one. */
  #subscribe(): Promise<void> {
    this.#next ??= this.#ready.then(() => {
      this.#next = undefined;
      this.#ready = this.#begin();
      return this.#ready;
    });
    return this.#next;
  }

  /** Asks anew for all that is wanted, before the former subscription ends: nothing is missed. */
  #begin(): Promise<void> {
    const notifications = this.#filter();
    if (this.#isClosed || this.#listeners.size === 0 || Object.keys(notifications).length === 0)
      return Promise.resolve();
    const before = this.#open;
    const own = new AbortController();
    this.#open = own;
    const ready = Promise.withResolvers<void>();
    const heard = (): void => {
      ready.resolve();
      before?.abort();
    };
    const notify = (method: string, params: McpParams | undefined): void => {
      if (method === "notifications/subscriptions/acknowledged") heard();
      if (own.signal.aborted || !isChange(method)) return;
      for (const listener of this.#listeners) listener(method, withoutSubscription(params));
    };
    this.#provider
      .request({
        method: "subscriptions/listen",
        params: withClaim({ notifications }),
        sessionId: this.#session.sessionId(),
        signal: own.signal,
        notify,
      })
      // a server may have none of them: then nothing is told
      .then(heard, heard);
    return ready.promise;
  }

  #filter(): McpParams {
    const { tools, prompts, resources } = this.#capabilities;
    const says = (part: unknown, key: string) => isObject(part) && part[key] === true;
    return {
      ...(says(tools, "listChanged") && { toolsListChanged: true }),
      ...(says(prompts, "listChanged") && { promptsListChanged: true }),
      ...(says(resources, "listChanged") && { resourcesListChanged: true }),
      ...(says(resources, "subscribe") &&
        this.#watched.size > 0 && { resourceSubscriptions: [...this.#watched.keys()] }),
    };
  }
}

/** The subscription is ours, and nobody else knows its name. */
function withoutSubscription(params: McpParams | undefined): McpParams | undefined {
  if (!isObject(params?.["_meta"])) return params;
  const { [subscriptionKey]: _, ...meta } = params["_meta"];
  const { _meta, ...rest } = params;
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}
