// The options of a server for remote clients.

import type { Log } from "../../jsonrpc/connection-options.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { defaultFrameLimits, type FrameLimits } from "../byte-channel.ts";
import { defaultRingLimits } from "../sent-ring.ts";

/** The sender of a request. */
export interface Authorized {
  /** The user or the token, as an id. Connections and sessions of one principal do not exist for another. */
  readonly principal?: string | undefined;
}

/** A connection that a client opens. */
export interface OpenedConnection extends Authorized {
  /** A random id. It shows where a message belongs, and proves nothing. */
  readonly connectionId: string;
  /** The request that opened it. Its body has been read. */
  readonly request: Request;
}

/** Serves a connection, such as the result of `agent.connect()`. */
export interface ServingPeer {
  /** Closes the connection. */
  close(reason?: string): Promise<void>;
}

/** A connection of a server. */
export interface RemoteConnection extends Authorized {
  /** Its id. */
  readonly connectionId: string;
  /** How the client reaches it. */
  readonly kind: "http" | "websocket";
  /** Whether the client is there at the moment. */
  readonly isAttached: boolean;
  /** Since when the client is away, in milliseconds since 1970; undefined while it is there. */
  readonly detachedAt: number | undefined;
}

/** The limits of a server. Each must be above 0; Infinity means no limit. */
export interface RemoteLimits extends FrameLimits {
  /** Bytes of the body of a POST. Default 16 MiB. */
  readonly maxBodyBytes: number;
  /** Events that a connection keeps for a client that was cut off. Default 4,096. */
  readonly ringEvents: number;
  /** Characters of these events. Default 8,388,608 (8 MiB of ASCII). */
  readonly ringBytes: number;
}

export const defaultRemoteLimits: RemoteLimits = {
  ...defaultFrameLimits,
  ...defaultRingLimits,
  maxBodyBytes: 16 * 1024 * 1024,
};

/** The options of `remoteServer`. */
export interface RemoteServerOptions {
  /** Serves a connection when its `initialize` arrives, such as `(transport) => agent.connect(transport)`. */
  readonly connect: (transport: Transport, opened: OpenedConnection) => ServingPeer;
  /** Where clients find the server. Default "/acp". */
  readonly path?: string | undefined;
  /** Returns the sender of a request, or the response that refuses it. Called for every request. Default: all senders are the same user. */
  readonly authorize?:
    | ((request: Request) => Authorized | Response | Promise<Authorized | Response>)
    | undefined;
  /**
   * Also serves clients that know only POST: the answer is in the body of the response, and a client without a connection
   * id is found by its principal. Default false: such a POST gets 400.
   */
  readonly plainPost?: boolean | undefined;
  /** How long a connection waits for a client that was cut off, in milliseconds. Default 600,000. */
  readonly graceMs?: number | undefined;
  /** How often something is sent on an idle connection, in milliseconds. Default 15,000. */
  readonly heartbeatMs?: number | undefined;
  /**
   * How long a client may take to answer a ping of its WebSocket before it counts as away, in milliseconds, and at most
   * half a heartbeat. Default 5,000. Its socket is left after three heartbeats.
   */
  readonly patienceMs?: number | undefined;
  /** How long a slow client may take nothing before it counts as cut off, in milliseconds. Default 60,000. */
  readonly stallMs?: number | undefined;
  /** How long a close waits for a client to read the rest, in milliseconds. Default 1,000. */
  readonly closeTimeoutMs?: number | undefined;
  /** Sizes of messages, queues and memory for clients that were cut off. */
  readonly limits?: Partial<RemoteLimits> | undefined;
  /** Receives errors, such as those of `connect`, and what happens to connections. */
  readonly log?: Log | undefined;
}

/** Decides by the messages of a connection where they belong; the server itself does not know them. */
export interface ServedRouting {
  /** Notes a message of the client. Returns what is wrong with the session that its POST named, or undefined. */
  received(message: object, session: string | undefined): string | undefined;
  /** The session on whose stream a message to the client belongs; undefined for the connection's. */
  streamOf(message: object): string | undefined;
  /** Whether nothing more comes on the stream of this session, unless the client takes it up again. */
  hasEnded(session: string | undefined): boolean;
  /** Whether this message is about a session that was opened here. */
  isOwn(message: object): boolean;
}
