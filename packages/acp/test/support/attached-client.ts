// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// Clients whose connection to an agent can be cut and mended, as those of a server can.

import {
  type Agent,
  type AgentConnection,
  type ClientConnection,
  type ClientDefinition,
  type ClientSession,
  client,
  type Editions,
  type SessionUpdate,
  type Transport,
} from "../../src/index.ts";
import { memoryPair, wrapTransport } from "../../src/transport.ts";
import { place, quiet } from "./peer-probe.ts";

export interface AttachedTransport {
  readonly transport: Transport;
  /** The peer is away: what is sent is kept, unless it is full. */
  detach(options?: { readonly isFull?: boolean }): void;
  /** The peer is back. */
  attach(): void;
}

/** A transport whose peer may be away, around one whose peer is there. */
export function attachedTransport(inner: Transport): AttachedTransport {
  const listeners = new Set<() => void>();
  let kept: [message: object, text: string][] = [];
  let isAttached = true;
  let hasRoom = true;
  const change = (next: boolean) => {
    isAttached = next;
    for (const listener of listeners) listener();
  };
  const transport = wrapTransport(inner, {
    send(message, text = JSON.stringify(message)) {
      if (isAttached) return inner.send(message, text);
      kept.push([message, text]);
      return hasRoom;
    },
    async close(reason) {
      // as over a network: it takes longer than what runs in this process
      await quiet();
      await inner.close(reason);
    },
    attachment: {
      get isAttached() {
        return isAttached;
      },
      onChange(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
  });
  return {
    transport,
    detach({ isFull = false } = {}) {
      hasRoom = !isFull;
      change(false);
    },
    attach() {
      change(true);
      for (const [message, text] of kept) inner.send(message, text);
      kept = [];
    },
  };
}

export interface AttachedClient extends Omit<AttachedTransport, "transport"> {
  readonly connection: ClientConnection;
  /** The agent's end. */
  readonly served: AgentConnection;
  /** The sessions that it was told are taken. */
  readonly taken: unknown[];
  /** Loads a session, with what it is told of it. */
  load(
    sessionId: string,
    options?: LoadOptions,
  ): Promise<{ session: ClientSession; updates: SessionUpdate[] }>;
}

interface LoadOptions {
  readonly takeover?: boolean;
  readonly resume?: boolean;
}

interface Client extends Partial<ClientDefinition> {
  readonly edition?: Editions[number];
  readonly principal?: string;
}

/** Connects a client to an agent by a transport with an attachment. */
export async function attachedClient(
  made: Agent,
  { edition = "v2", principal, ...definition }: Client = {},
): Promise<AttachedClient> {
  const [near, far] = memoryPair();
  const { transport, ...attachment } = attachedTransport(far);
  const taken: unknown[] = [];
  const served = made.connect(transport, { principal });
  const connection = await client({
    name: "c",
    version: "1",
    editions: [edition],
    ...definition,
    extensions: {
      ...definition.extensions,
      notifications: { "_parley.dev/session_taken": (params) => void taken.push(params) },
    },
  }).connect(near);
  return {
    connection,
    served,
    taken,
    ...attachment,
    async load(sessionId, { takeover = false, resume = false } = {}) {
      const updates: SessionUpdate[] = [];
      const options = {
        ...place,
        onUpdate: (update: SessionUpdate) => void updates.push(update),
        ...(takeover ? { _meta: { "_parley.dev/takeover": true } } : {}),
      };
      const session = resume
        ? await connection.resumeSession(sessionId, options)
        : await connection.loadSession(sessionId, options);
      await quiet();
      return { session, updates };
    },
  };
}
