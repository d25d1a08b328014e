// Wraps the transport of an agent or a client that may speak a dialect. Others keep theirs.

import { isObject } from "../../base/objects.ts";
import type { Dialect, DialectMessage } from "../../edition/dialect.ts";
import { dialectError, dialectOfResult } from "../../edition/dialect-tells.ts";
import { dialectsOf, type Edition } from "../../edition/negotiate.ts";
import { guardedLog, guardedTap } from "../../jsonrpc/callbacks.ts";
import type { ConnectionOptions, Log } from "../../jsonrpc/connection-options.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import {
  type DialectChoice,
  type LoadMachine,
  type Refusal,
  TranslatingTransport,
} from "./translating-transport.ts";

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

type Wrap = <Own extends Options>(
  transport: Transport,
  editions: readonly (Edition | Dialect)[],
  options: Own,
) => Wrapped<Own>;

export const agentDialects: Wrap = (...given) => wrapped("agent", ...given);
export const clientDialects: Wrap = (...given) => wrapped("client", ...given);

function wrapped<Own extends Options>(
  role: "agent" | "client",
  ...[inner, editions, options]: readonly [Transport, readonly (Edition | Dialect)[], Own]
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
    choice: (load) => (role === "agent" ? agentChoice(editions, load) : clientChoice(editions, load)),
  });
  return { transport, options: { ...options, tap: undefined } };
}

/** Losses are told once each; the peer's words may be part of them. */
const maxNotes = 256;

/** An agent's choice, by `initialize`. */
function agentChoice(editions: readonly (Edition | Dialect)[], load: LoadMachine): DialectChoice {
  const dialects = dialectsOf(editions);
  let dialect: Dialect | undefined;
  const spokenBy = (params: Readonly<Record<string, unknown>>): Dialect | undefined => {
    const told = dialects.map((each) => each.isSpokenByClient(params));
    if (told.includes(true)) return dialects[told.indexOf(true)];
    // what may be either is what was named first
    const perhaps = dialects[told.indexOf("perhaps")];
    const [at, v1] = [perhaps, "v1" as const].map((each) => each && editions.indexOf(each));
    return at !== undefined && (v1 === undefined || v1 < 0 || at < v1) ? perhaps : undefined;
  };
  return {
    get dialect() {
      return dialect;
    },
    received(message) {
      if (message.method !== "initialize") return undefined;
      dialect = spokenBy(isObject(message.params) ? message.params : {});
      if (dialect !== undefined) return load(dialect);
      return dialects.length === editions.length ? refusal(message, dialects) : undefined;
    },
    sent: () => undefined,
  };
}

function refusal({ id = null }: DialectMessage, dialects: readonly Dialect[]): Refusal {
  const supported = dialects.map(({ name }) => name);
  const names = supported.map((name) => `"${name}"`).join(" and ");
  const [first] = supported;
  const message = `initialize: this agent speaks only ${names}; the client must name it alone, as editions: [${first}()] (with parley: --edition ${first}; for the editor of a bridge --as)`;
  const data = { reason: "dialect_only", supported };
  return { answer: { jsonrpc: "2.0", id, error: { code: errorCodes.invalid_params, message, data } } };
}

/** A client's choice: the dialect that was named, or the one that the agent answers `initialize` in. */
function clientChoice(editions: readonly (Edition | Dialect)[], load: LoadMachine): DialectChoice {
  const dialects = dialectsOf(editions);
  const only = dialects.length === editions.length ? dialects[0] : undefined;
  let dialect: Dialect | undefined;
  /** The last `initialize` of ours. */
  let asked: DialectMessage | undefined;
  const isAnswer = ({ id, method }: DialectMessage): boolean =>
    asked !== undefined && method === undefined && id === asked.id;
  return {
    get dialect() {
      return dialect;
    },
    sent(message) {
      if (message.method === "initialize") asked = message;
      if (only === undefined) return undefined;
      dialect = only;
      return load(only);
    },
    // an agent of another dialect may be understood halfway: what it says would be lost
    instead(message) {
      const { id = null, result } = message;
      if (!isAnswer(message) || (isObject(result) && dialect?.isSpokenByAgent(result))) return message;
      const told = dialectOfResult("initialize", result);
      if (told === undefined || told === dialect?.name) return message;
      const { code, message: text, data } = dialectError("invalid_params", "the answer to initialize", told);
      return { jsonrpc: "2.0", id, error: { code, message: text, data } };
    },
    received(message) {
      const { result } = message;
      const question = asked;
      if (question === undefined || !isAnswer(message) || !isObject(result)) return undefined;
      const told = dialects.find((each) => each.isSpokenByAgent(result));
      if (told === undefined) return undefined;
      dialect = told;
      // the machine learns what was asked, though in version 1
      return load(told).then((machine) => {
        machine.send(question);
        return machine;
      });
    },
  };
}
