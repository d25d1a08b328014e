// relay(): connects a client and an agent. Messages pass unread where both speak one version, and are translated where
// they do not.

import { type Deadline, deadline } from "../../base/deadline.ts";
import { checkOptions, type Keys } from "../../base/known-options.ts";
import { isObject, optional } from "../../base/objects.ts";
import { type Dialect, dialectOf } from "../../edition/dialect.ts";
import { dialectError, dialectOfResult, refuseDialect } from "../../edition/dialect-tells.ts";
import {
  answeredVersion,
  chooseVersion,
  defaultEditions,
  type Edition,
  type EditionName,
  editionOf,
  isDialect,
  nameOf,
  type ProtocolVersion,
  versionOf,
  versionsOf,
} from "../../edition/negotiate.ts";
import { guardedLog } from "../../jsonrpc/callbacks.ts";
import { Connection } from "../../jsonrpc/connection.ts";
import { defaultConnectionLimits, type Log } from "../../jsonrpc/connection-options.ts";
import { ConnectionError, RequestError, wireParts } from "../../jsonrpc/errors.ts";
import { batchEntryTexts } from "../../jsonrpc/json-text.ts";
import { exactId, idProblem, idToJson, isExact, type RequestId } from "../../jsonrpc/message-id.ts";
import type { Sink, Transport } from "../../jsonrpc/transport.ts";
import { refusalOf } from "../../jsonrpc/unread-frame.ts";
import { checkUnstable } from "../base/definition-rules.ts";
import { offerInTurn } from "../client/client.ts";
import { agentDialects, clientDialects } from "../dialect/dialects.ts";
import { dialectAgent } from "./dialect-agent.ts";
import { dialectClient } from "./dialect-client.ts";
import { type InitializeParams, type Offers, offersFor, takesEither } from "./introduction.ts";
import { passThrough } from "./pass-through.ts";
import { ReadInTurns } from "./read-in-turns.ts";
import type { RelayOptions } from "./relay-options.ts";
import { agentGone } from "./relayed-session.ts";
import { TranslatedConnection } from "./translated-connection.ts";

/** How long an agent may take to answer `initialize` after the client has ended its input. */
const farewellMs = 5_000;

/** How long a client may take to send `initialize` after the agent has ended, and get an error. */
const tooLateMs = 500;

/** The edition of the protocol that each side speaks. */
export interface RelayedEditions {
  /** The edition of the client. */
  readonly client: EditionName;
  /** The edition of the agent. */
  readonly agent: EditionName;
}

/** A running relay. */
export interface Relay {
  /** The editions that both sides speak, after the handshake. Rejects when the relay ends before. */
  readonly editions: Promise<RelayedEditions>;
  /** Resolves with the reason when both sides are closed; never rejects. */
  readonly closed: Promise<ConnectionError>;
  /** Closes both sides. Resolves when they are closed. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Connects a client to an agent. Messages pass unread where both speak one edition of the protocol, and are translated
 * where they do not. The relay closes both transports.
 *
 * @param client The connection to the client.
 * @param agent The connection to the agent.
 * @param options What the client is offered, and what happens to things that the other edition cannot express.
 * @returns The running relay.
 * @throws {TypeError} When an option or a feature in `unstable` is unknown.
 * @example
 * import { spawnTransport, stdioTransport } from "@parley/acp/node";
 * import { relay } from "@parley/acp/relay";
 *
 * // an editor that speaks v1 on stdio, and an agent that may speak v2
 * const relayed = relay(stdioTransport(), spawnTransport("my-agent"), { as: "v1" });
 * relayed.editions.then(
 *   ({ client, agent }) => console.error(`client ${client}, agent ${agent}`),
 *   () => undefined,
 * );
 * console.error((await relayed.closed).message);
 */
export function relay(client: Transport, agent: Transport, options: RelayOptions = {}): Relay {
  checkOptions("relay", options, relayKeys);
  checkUnstable("relay: unstable", options.unstable);
  return new RunningRelay(client, agent, options);
}

const relayKeys: Keys<RelayOptions> = {
  as: true,
  agentEdition: true,
  losses: true,
  handshakeTimeoutMs: true,
  unstable: true,
  readText: true,
  clientTools: true,
  limits: true,
  log: true,
};

interface Initialize {
  readonly id: RequestId;
  readonly params: InitializeParams;
}

class RunningRelay implements Relay {
  readonly editions: Promise<RelayedEditions>;
  readonly closed: Promise<ConnectionError>;
  readonly #client: ReadInTurns;
  readonly #agent: ReadInTurns;
  readonly #options: RelayOptions;
  readonly #log: Log;
  readonly #editions = Promise.withResolvers<RelayedEditions>();
  readonly #closed = Promise.withResolvers<ConnectionError>();
  #hasBegun = false;
  /** Ends the connections that use the two transports at the moment. */
  #stop: (reason: string) => Promise<void> = async () => undefined;

  constructor(client: Transport, agent: Transport, options: RelayOptions) {
    this.#options = options;
    this.#log = guardedLog(options.log);
    this.editions = this.#editions.promise;
    this.editions.catch(() => undefined);
    this.closed = this.#closed.promise;
    const { as, agentEdition } = options;
    // a dialect is translated to version 1, unless both sides speak it
    const isOne = isSame(as, agentEdition);
    const translated = isOne ? agent : spokenBy("client", agent, agentEdition, options);
    const ofClient = isOne ? client : spokenBy("agent", client, as, options);
    const ofAgent =
      "dialect" in translated ? dialectAgent(translated, () => dialectOf(ofClient)) : translated;
    // only a transport that may translate has the field: others pass their lines unread
    const isTranslated = "dialect" in ofClient;
    this.#client = new ReadInTurns(
      isTranslated ? dialectClient(ofClient, () => dialectOf(ofAgent), this.#log) : ofClient,
    );
    this.#agent = new ReadInTurns(ofAgent);
    queueMicrotask(() => this.#client.read(this.#untilInitialize()));
    void this.#agent.ended.then(({ message = "the agent has disconnected" }) => {
      // after `initialize` the handshake answers the client
      const leave = (): void => void (this.#hasBegun ? undefined : this.#end(message));
      if (!this.#hasBegun) deadline(tooLateMs, leave);
    });
  }

  async close(): Promise<void> {
    await this.#end("the relay was closed");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(reason: string): Promise<void> {
    await this.#stop(reason);
    await Promise.allSettled([this.#client.close(), this.#agent.close()]);
    const error = new ConnectionError("closed", reason);
    this.#editions.reject(error);
    this.#closed.resolve(error);
  }

  /** Reads messages of the client until `initialize`. */
  #untilInitialize(): Sink {
    return {
      message: (value, text) => this.#first(value, text),
      idle: () => undefined,
      reject: (fault) => {
        const { to, message } = refusalOf(fault);
        if (to === "sender") this.#client.send(message);
      },
      drain: () => undefined,
      end: (reason) => void this.#end(reason.message ?? "the client has disconnected"),
    };
  }

  #first(value: unknown, text: string): void {
    if (Array.isArray(value)) return this.#refuseBatch(value, batchEntryTexts(text));
    const id = requestId(value, text);
    if (id === undefined) return;
    if (!isObject(value) || id instanceof RequestError || value.method !== "initialize") {
      this.#client.send(refusalBefore(id));
      return;
    }
    const asked = { id, params: value.params } as Initialize; // what is wrong in the params is found by chooseVersion
    this.#client.hold();
    this.#hasBegun = true;
    this.#begin(asked, value, text).catch((error: unknown) => {
      this.#log("error", "the relay failed", { error });
      void this.#end("the relay failed");
    });
  }

  /** Before the handshake a batch has no answers, because its entries would need `initialize` to be answered. */
  #refuseBatch(entries: readonly unknown[], texts: readonly string[]): void {
    if (entries.length === 0) return this.#refuse(null, mustComeFirst());
    const ids = entries.map((entry, i) => requestId(entry, texts[i] ?? ""));
    const answers = ids.filter((id) => id !== undefined).map(refusalBefore);
    if (answers.length > 0) this.#client.send(answers);
  }

  async #begin(asked: Initialize, value: unknown, text: string): Promise<void> {
    const { unstable = "*", as, agentEdition } = this.#options;
    const passesDialect = as !== undefined && isDialect(as) && isSame(as, agentEdition);
    let version: ProtocolVersion;
    try {
      if (!passesDialect) refuseDialect(asked.params);
      version = chooseVersion(asked.params, versionsOf(as === undefined ? defaultEditions : [as]));
    } catch (error) {
      this.#log("error", error instanceof Error ? error.message : String(error), {});
      this.#refuse(asked.id, error);
      this.#hasBegun = false;
      return this.#client.read(this.#untilInitialize());
    }
    if (passesDialect) return this.#passAll(as, value, text);
    const passesEither = version === 2 && this.#passesEither(asked.params);
    const { offers, lost } = await offersFor(asked.params, version, {
      passesEither,
      unstable,
      only: agentEdition && versionOf(agentEdition),
    });
    let result: unknown;
    try {
      result = await this.#introduce(offers);
    } catch (error) {
      this.#refuse(asked.id, error);
      return this.#end(error instanceof Error ? error.message : String(error));
    }
    const dialect = dialectOfResult("initialize", result);
    if (dialect !== undefined) return this.#refuseAgent(asked.id, dialect);
    const spoken = answeredVersion(result);
    this.#log("info", "versions negotiated", { client: version, agent: spoken });
    if (spoken === version || (spoken === 1 && this.#passesEither(asked.params))) {
      return this.#pass(asked.id, spoken, result);
    }
    if (spoken !== 1 && spoken !== 2) {
      const message = `the agent answered with version ${String(spoken)} of the protocol, the relay speaks 1 and 2`;
      this.#refuse(
        asked.id,
        new RequestError("unavailable", message, { data: { reason: "version_mismatch" } }),
      );
      return this.#end(message);
    }
    if (lost.length > 0) this.#log("warn", "lost in translation", { lost });
    this.#client.unread(value, text);
    const sides = { client: this.#client, agent: this.#agent };
    const handshake = { client: version, agent: spoken, asked: asked.params, result } as const;
    const translated = new TranslatedConnection(sides, handshake, this.#options);
    this.#stop = (reason) => translated.close(reason);
    try {
      await translated.begin();
    } catch (error) {
      // an answer that its own version does not allow
      this.#refuse(asked.id, agentGone(error));
      return this.#end(error instanceof Error ? error.message : String(error));
    }
    this.#editions.resolve(this.#named(version, spoken));
    await this.#end(await translated.over);
  }

  async #introduce(offers: Offers["offers"]): Promise<unknown> {
    const connection = new Connection(this.#agent.handshake(), {
      noise: "skip",
      ...optional({ log: this.#options.log }),
      handlers: {
        request: (method) => {
          throw RequestError.methodNotFound(method);
        },
        notification: () => undefined,
      },
    });
    const { handshakeTimeoutMs = 60_000 } = this.#options;
    let farewell: Deadline;
    let isOver = false;
    this.#stop = (reason) => connection.close(reason);
    void this.#client.ended.then(({ kind }) => {
      const leave = (): void => void connection.close("the client has disconnected");
      if (!isOver) farewell = deadline(kind === "eof" ? farewellMs : 0, leave);
    });
    try {
      return await offerInTurn(connection, offers, handshakeTimeoutMs);
    } catch (error) {
      if (error instanceof RequestError) throw error;
      const message = error instanceof Error ? error.message : String(error);
      throw new RequestError("unavailable", `the agent cannot be reached: ${message}`, {
        data: { reason: "agent_gone" },
      });
    } finally {
      // others use the two transports from here on
      isOver = true;
      clearTimeout(farewell);
      this.#stop = async () => undefined;
    }
  }

  /** The relay chose the version, and the client also takes an answer of version 1 to its offer of version 2. */
  #passesEither(params: InitializeParams): boolean {
    return this.#options.as === undefined && takesEither(params);
  }

  #named(client: ProtocolVersion, agent: ProtocolVersion): RelayedEditions {
    const { as, agentEdition } = this.#options;
    return {
      client: as !== undefined && isDialect(as) ? as.name : editionOf(client),
      agent: agentEdition !== undefined && isDialect(agentEdition) ? agentEdition.name : editionOf(agent),
    };
  }

  /** Both sides speak one dialect: everything passes as it came. */
  async #passAll({ name }: Dialect, value: unknown, text: string): Promise<void> {
    this.#client.unread(value, text);
    this.#editions.resolve({ client: name, agent: name });
    const reason = await passThrough(this.#client, this.#agent, this.#log);
    await this.#end(reason.message ?? `ended: ${reason.kind}`);
  }

  /** The client gets the agent's own answer, and everything after it. */
  async #pass(id: Initialize["id"], version: ProtocolVersion, result: unknown): Promise<void> {
    this.#client.send({ jsonrpc: "2.0", id: idToJson(id), result });
    this.#editions.resolve(this.#named(version, version));
    const reason = await passThrough(this.#client, this.#agent, this.#log);
    await this.#end(reason.message ?? `ended: ${reason.kind}`);
  }

  /** The agent speaks a dialect that was not named. */
  #refuseAgent(id: RequestId, dialect: string): Promise<void> {
    const error = dialectError("unavailable", "the answer to initialize", dialect);
    this.#log("error", error.message, {});
    this.#refuse(id, error);
    return this.#end(error.message);
  }

  #refuse(id: RequestId, error: unknown): void {
    this.#client.send(errorAnswer(id, error));
  }
}

function isSame(one: Edition | Dialect | undefined, other: Edition | Dialect | undefined): boolean {
  return one !== undefined && other !== undefined && nameOf(one) === nameOf(other);
}

/** The transport as it is used inside: a dialect is spoken as version 1. `role` is the relay's towards this peer. */
function spokenBy(
  role: "agent" | "client",
  transport: Transport,
  edition: Edition | Dialect | undefined,
  { log, losses = "lossy" }: RelayOptions,
): Transport {
  const editions = edition === undefined ? [] : [edition];
  const wrap = role === "agent" ? agentDialects : clientDialects;
  return wrap(transport, editions, { log, losses }).transport;
}

function errorAnswer(id: RequestId, error: unknown): object {
  const told = error instanceof RequestError ? error : new RequestError("internal_error", "internal error");
  return { jsonrpc: "2.0", id: idToJson(id), error: wireParts(told) };
}

/** Refuses a request before the handshake, or what has no id that can be answered. */
function refusalBefore(id: RequestId | RequestError): object {
  return id instanceof RequestError ? errorAnswer(null, id) : errorAnswer(id, mustComeFirst());
}

/** The id of a request; undefined for what needs no answer, an error for what is no message. */
function requestId(value: unknown, text: string): RequestId | RequestError | undefined {
  if (!isObject(value)) return mustComeFirst();
  const { id: parsed, method } = value;
  if (method === undefined || parsed === undefined) return undefined;
  if (typeof method !== "string")
    return new RequestError("invalid_request", "method must be a string", { data: { path: "/method" } });
  const id = typeof parsed === "number" && !isExact(parsed) ? exactId(text, parsed) : parsed;
  const problem = idProblem(id, "any", defaultConnectionLimits.maxIdLength);
  if (problem === undefined) return id as RequestId; // idProblem accepts request ids only
  return new RequestError("invalid_request", problem, { data: { path: "/id" } });
}

function mustComeFirst(): RequestError {
  const message = "initialize must come first, in a message of its own";
  return new RequestError("invalid_request", message, { data: { reason: "not_initialized" } });
}
