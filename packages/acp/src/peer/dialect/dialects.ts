// Wraps the transport of an agent or a client that may speak a dialect. Others keep theirs.

import { isObject } from "../../base/objects.ts";
import type { Dialect, DialectMachine, DialectMessage } from "../../edition/dialect.ts";
import { dialectError, dialectOfResult } from "../../edition/dialect-tells.ts";
import { dialectsOf, type Edition } from "../../edition/negotiate.ts";
import { guardedLog, guardedTap } from "../../jsonrpc/callbacks.ts";
import type { ConnectionOptions, Log } from "../../jsonrpc/connection-options.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import {
  type Decision,
  type DialectChoice,
  type Machines,
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

export class AgentChoice implements DialectChoice {
  dialect: Dialect | undefined;
  readonly #editions: readonly (Edition | Dialect)[];
  readonly #machines: Machines;

  constructor(editions: readonly (Edition | Dialect)[], machines: Machines) {
    this.#editions = editions;
    this.#machines = machines;
  }

  received(message: DialectMessage): Decision | Refusal {
    if (message.method !== "initialize") return undefined;
    const dialects = dialectsOf(this.#editions);
    const spoken = this.#spoken(dialects, isObject(message.params) ? message.params : {});
    if (spoken !== undefined) return this.#speak(spoken);
    return dialects.length === this.#editions.length ? refusal(message, dialects) : undefined;
  }

  sent(): undefined {
    return undefined;
  }

  #spoken(dialects: readonly Dialect[], params: Readonly<Record<string, unknown>>): Dialect | undefined {
    const told = dialects.map((dialect) => dialect.isSpokenByClient(params));
    if (told.includes(true)) return dialects[told.indexOf(true)];
    // what may be either is what was named first
    const perhaps = dialects[told.indexOf("perhaps")];
    const [at, v1] = [perhaps, "v1" as const].map((each) => each && this.#editions.indexOf(each));
    return at !== undefined && (v1 === undefined || v1 < 0 || at < v1) ? perhaps : undefined;
  }

  #speak(dialect: Dialect): Promise<DialectMachine> {
    this.dialect = dialect;
    return this.#machines.load(dialect);
  }
}

function refusal({ id = null }: DialectMessage, dialects: readonly Dialect[]): Refusal {
  const supported = dialects.map(({ name }) => name);
  const names = supported.map((name) => `"${name}"`).join(" and ");
  const [first] = supported;
  const message = `initialize: this agent speaks only ${names}; the client must name it alone, as editions: [${first}()] (with parley: --edition ${first}; for the editor of a bridge --as)`;
  const data = { reason: "dialect_only", supported };
  return { answer: { jsonrpc: "2.0", id, error: { code: errorCodes.invalid_params, message, data } } };
}

export class ClientChoice implements DialectChoice {
  dialect: Dialect | undefined;
  readonly #dialects: readonly Dialect[];
  readonly #isDialectOnly: boolean;
  readonly #machines: Machines;
  /** The last `initialize` of ours. */
  #asked: DialectMessage | undefined;

  constructor(editions: readonly (Edition | Dialect)[], machines: Machines) {
    this.#dialects = dialectsOf(editions);
    this.#isDialectOnly = this.#dialects.length === editions.length;
    this.#machines = machines;
  }

  sent(message: DialectMessage): Decision {
    const [first] = this.#dialects;
    if (message.method === "initialize") this.#asked = message;
    if (this.#isDialectOnly && first !== undefined) {
      this.dialect = first;
      return this.#machines.load(first);
    }
    return undefined;
  }

  /** An agent of another dialect may be understood halfway: what it says would be lost. */
  instead(message: DialectMessage): DialectMessage {
    const { id = null, result } = message;
    if (!this.#isAnswer(message) || (isObject(result) && this.dialect?.isSpokenByAgent(result)))
      return message;
    const told = dialectOfResult("initialize", result);
    if (told === undefined || told === this.dialect?.name) return message;
    const { code, message: text, data } = dialectError("invalid_params", "the answer to initialize", told);
    return { jsonrpc: "2.0", id, error: { code, message: text, data } };
  }

  received(message: DialectMessage): Decision {
    const { result } = message;
    const asked = this.#asked;
    if (asked === undefined || !this.#isAnswer(message) || !isObject(result)) return undefined;
    const told = this.#dialects.find((dialect) => dialect.isSpokenByAgent(result));
    if (told === undefined) return undefined;
    this.dialect = told;
    // the machine learns what was asked, though in version 1
    return this.#machines.load(told).then((machine) => {
      machine.send(asked);
      return machine;
    });
  }

  #isAnswer({ id, method }: DialectMessage): boolean {
    return this.#asked !== undefined && method === undefined && id === this.#asked.id;
  }
}
