// A dialect says what version 1 says in other shapes. A machine translates the messages of one connection, both ways.

import type { Lost } from "./agent-edition.ts";

/** The dialects of version 1. */
export type DialectName = "pharo" | "scoped";

/** One JSON-RPC message: a request, a notification or an answer. */
export interface DialectMessage {
  readonly jsonrpc: "2.0";
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The messages that follow from one message, in order. */
export interface Step {
  /** In the shapes of version 1, for our side. */
  readonly toUs: readonly DialectMessage[];
  /** In the shapes of the dialect, for the peer. */
  readonly toPeer: readonly DialectMessage[];
}

/** Runs work later. Machines have no clock of their own. */
export interface DialectClock {
  /** Runs `work` once after this time; what it returns is sent. The returned function takes it back. */
  after(ms: number, work: () => Step): () => void;
  /** The time now, in milliseconds since 1970. */
  now(): number;
}

export interface DialectOptions {
  readonly clock: DialectClock;
  /** Called with what one of the two sides cannot express, in words for a person. */
  readonly lost: Lost;
}

/** Translates the messages of one connection. Nothing is awaited: every message gives its step at once. */
export interface DialectMachine {
  /** Translates a message of the peer, from the dialect. */
  receive(message: DialectMessage): Step;
  /** Translates a message of our side, from version 1. */
  send(message: DialectMessage): Step;
}

/** One dialect, as its module exports it. */
export interface Dialect {
  readonly name: DialectName;
  /** The machine for a connection in which our side is the agent. */
  agentSide(options: DialectOptions): DialectMachine;
  /** The machine for a connection in which our side is the client. */
  clientSide(options: DialectOptions): DialectMachine;
  /** For a connection that has begun in version 1: what comes in the dialect is read, and version 1 is sent. */
  aliases?(role: "agent" | "client"): DialectMachine;
}

export const noStep: Step = { toUs: [], toPeer: [] };
