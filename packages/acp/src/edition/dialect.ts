// A dialect says what version 1 says, in other shapes. A machine translates the messages of one connection, both ways.

import type { Transport } from "../jsonrpc/transport.ts";

/** One JSON-RPC message: a request, a notification or an answer. */
export interface DialectMessage {
  /** The version of JSON-RPC. */
  readonly jsonrpc: "2.0";
  /** The id of a request or of an answer. A notification has none. */
  readonly id?: number | string | null;
  /** The method of a request or of a notification. */
  readonly method?: string;
  /** The parameters of a request or of a notification. */
  readonly params?: unknown;
  /** The result of an answer. */
  readonly result?: unknown;
  /** The error of an answer. */
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The messages that follow from one message, in order. */
export interface DialectStep {
  /** In the shapes of version 1, for our side. */
  readonly toUs: readonly DialectMessage[];
  /** In the shapes of the dialect, for the peer. */
  readonly toPeer: readonly DialectMessage[];
}

/** Runs work later. Machines have no clock of their own. */
export interface DialectClock {
  /** Runs `work` once after this time; what it returns is sent. The returned function takes it back. */
  after(ms: number, work: () => DialectStep): () => void;
  /** The time now, in milliseconds since 1970. */
  now(): number;
}

/** What a machine gets of its connection. */
export interface DialectOptions {
  /** The clock. */
  readonly clock: DialectClock;
  /** To be called with what one of the two sides cannot express, in words for a person. */
  readonly lost: (what: string) => void;
}

/** Translates the messages of one connection. Nothing is awaited: every message gives its step at once. */
export interface DialectMachine {
  /** Translates a message of the peer, from the dialect. */
  receive(message: DialectMessage): DialectStep;
  /** Translates a message of our side, from version 1. */
  send(message: DialectMessage): DialectStep;
}

/** The machines of a dialect. Each connection has one of its own. */
export interface DialectMachines {
  /** Makes the machine for a connection in which our side is the agent. */
  agentSide(options: DialectOptions): DialectMachine;
  /** Makes the machine for a connection in which our side is the client. */
  clientSide(options: DialectOptions): DialectMachine;
}

/**
 * A dialect of version 1: the same messages in other shapes. Agents, clients and relays that name it among their editions
 * translate what they send and receive, and see version 1. A connection begins with `initialize` in every dialect.
 * `@parley/dialects` has two.
 */
export interface Dialect {
  /** Its name, as `edition` of a connection tells it. */
  readonly name: string;
  /**
   * Whether a client that sends these params of `initialize` speaks it. "perhaps" where they may be of version 1 too: then
   * the edition counts that is named first.
   */
  isSpokenByClient(initialize: Readonly<Record<string, unknown>>): boolean | "perhaps";
  /** Whether an agent that answers `initialize` with this result speaks it. */
  isSpokenByAgent(result: Readonly<Record<string, unknown>>): boolean;
  /** Loads the machines. Called by the connections that speak the dialect only. */
  load(): Promise<DialectMachines>;
  /**
   * The keys of `_meta` and the methods beyond version 1 that its machines understand, such as `_parley.dev/signal`.
   * docs/editions.md lists them. What a peer does not understand is not sent to it. Default: none.
   */
  readonly understands?: readonly string[];
  /** Whether agents take session options that they have not listed. Default false. */
  readonly listsNoOptions?: boolean;
  /** Whether requests for files and terminals do not name their session. Default false. */
  readonly oneSessionPerConnection?: boolean;
}

export const noStep: DialectStep = { toUs: [], toPeer: [] };

/**
 * A transport whose messages are translated. The dialect may become known later than the transport starts, and does not change
 * afterwards.
 */
export interface DialectTransport extends Transport {
  /** The dialect that the peer speaks; undefined for version 1 and version 2. */
  readonly dialect: Dialect | undefined;
}

/** Whether the peer understands a key of `_meta`, or a method, beyond version 1. */
export function understands(dialect: Dialect | undefined, key: string): boolean {
  return dialect?.understands?.includes(key) ?? false;
}

/** The dialect of a connection; undefined where its transport translates nothing. */
export function dialectOf(transport: Transport): Dialect | undefined {
  return (transport as Partial<DialectTransport>).dialect; // as: other transports have no such field
}
