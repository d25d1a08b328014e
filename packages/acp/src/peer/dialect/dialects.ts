// Wraps the transport of an agent or a client that may speak a dialect. Others keep theirs.

import type { Dialect } from "../../edition/dialect.ts";
import { dialectsOf, type Edition } from "../../edition/negotiate.ts";
import { guardedLog, guardedTap } from "../../jsonrpc/callbacks.ts";
import type { ConnectionOptions, Log } from "../../jsonrpc/connection-options.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { AgentChoice } from "./agent-choice.ts";
import { ClientChoice } from "./client-choice.ts";
import { TranslatingTransport } from "./translating-transport.ts";

type Options = Pick<ConnectionOptions, "tap"> & {
  readonly log?: Log | undefined;
  /** For a bridge: messages tell what they lost, or are not sent. */
  readonly losses?: "lossy" | "strict";
};

interface Wrapped<Own> {
  readonly transport: Transport;
  /** The options for the connection on top, which sees version 1: a tap must see what travels. */
  readonly options: Own;
}

export function agentDialects<Own extends Options>(
  transport: Transport,
  editions: readonly (Edition | Dialect)[],
  options: Own,
): Wrapped<Own> {
  return wrapped("agent", transport, editions, options);
}

export function clientDialects<Own extends Options>(
  transport: Transport,
  editions: readonly (Edition | Dialect)[],
  options: Own,
): Wrapped<Own> {
  return wrapped("client", transport, editions, options);
}

function wrapped<Own extends Options>(
  role: "agent" | "client",
  inner: Transport,
  editions: readonly (Edition | Dialect)[],
  options: Own,
): Wrapped<Own> {
  if (dialectsOf(editions).length === 0) return { transport: inner, options };
  const log = guardedLog(options.log);
  const known = new Set<string>();
  const lost = (what: string): void => {
    if (known.has(what) || known.size >= maxNotes) return;
    known.add(what);
    log("warn", "lost in translation", { lost: [what] });
  };
  const transport = new TranslatingTransport(inner, {
    role,
    lost,
    losses: options.losses,
    tap: guardedTap(options.tap, log),
    choice: (machines) =>
      role === "agent" ? new AgentChoice(editions, machines) : new ClientChoice(editions, machines),
  });
  return { transport, options: { ...options, tap: undefined } };
}

/** Losses are told once each; the peer's words may be part of them. */
const maxNotes = 256;
