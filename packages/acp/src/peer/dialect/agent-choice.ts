// An agent's choice of the dialect: by `initialize`, or by the first request after it where `initialize` cannot tell.

import { isObject } from "../../base/objects.ts";
import type { DialectMachine, DialectMessage, DialectName } from "../../edition/dialect.ts";
import { decidesForPharo, dialectOf } from "../../edition/dialect-tells.ts";
import { type Edition, isDialect } from "../../edition/negotiate.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import type { Decision, DialectChoice, Machines, Refusal } from "./translating-transport.ts";

/** The requests that decide what a connection speaks; what comes later changes nothing. */
const decidingMethods = new Set(["authenticate", "session/new", "session/load"]);

export class AgentChoice implements DialectChoice {
  dialect: DialectName | undefined;
  readonly #editions: readonly Edition[];
  readonly #machines: Machines;
  /** Exists while `initialize` has not told: it has seen the handshake, and takes over if the next request tells. */
  #candidate: DialectMachine | undefined;
  #asked: DialectMessage | undefined;
  #hasAsked = false;

  constructor(editions: readonly Edition[], machines: Machines) {
    this.#editions = editions;
    this.#machines = machines;
  }

  received(message: DialectMessage): Decision | Refusal {
    const { method, params } = message;
    if (method === "initialize") return this.#initialized(message);
    if (this.#candidate === undefined || method === undefined || !decidingMethods.has(method))
      return undefined;
    const candidate = this.#candidate;
    this.#candidate = undefined;
    if (!decidesForPharo(method, params)) return this.#machines.aliases("pharo");
    this.dialect = "pharo";
    return candidate;
  }

  sent(message: DialectMessage): Decision {
    // the candidate learns what was said; what it would have said instead is not sent
    if (this.#asked !== undefined && message.id === this.#asked.id && message.method === undefined) {
      this.#asked = undefined;
      this.#candidate?.send(message);
    }
    return undefined;
  }

  #initialized(message: DialectMessage): Decision | Refusal {
    // a connection is asked once; version 2 may ask again, and stays version 2
    if (this.#hasAsked) return undefined;
    const dialects = this.#editions.filter(isDialect);
    const isDialectOnly = dialects.length === this.#editions.length;
    const told = dialectOf("initialize", message.params);
    const { protocolVersion, info } = (message.params ?? {}) as Readonly<Record<string, unknown>>;
    const isV2 = info !== undefined || (typeof protocolVersion === "number" && protocolVersion >= 2);
    if (told !== undefined && dialects.includes(told)) return this.#speak(told);
    const mayBePharo = told === undefined && !isV2 && dialects.includes("pharo") && !saysV1(message.params);
    if (mayBePharo && isDialectOnly) return this.#speak("pharo");
    if (isDialectOnly) return refusal(message, dialects);
    if (!mayBePharo || this.#candidate !== undefined) return undefined;
    return this.#machines.load("pharo").then((candidate) => {
      this.#hasAsked = true;
      this.#candidate = candidate;
      this.#asked = message;
      candidate.receive(message);
      return undefined;
    });
  }

  #speak(name: DialectName): Promise<DialectMachine> {
    this.dialect = name;
    return this.#machines.load(name);
  }
}

/** One flag for all of a client's terminals is of version 1. */
function saysV1(params: unknown): boolean {
  const can = isObject(params) ? params["clientCapabilities"] : undefined;
  return isObject(can) && typeof can["terminal"] === "boolean";
}

function refusal({ id = null }: DialectMessage, dialects: readonly DialectName[]): Refusal {
  const names = dialects.map((each) => `"${each}"`).join(" and ");
  const message = `initialize: this agent speaks only ${names}; the client must name it alone, as editions: ["${dialects[0]}"] (with parley: --edition ${dialects[0]}; for the editor of a bridge --as)`;
  const data = { reason: "dialect_only", supported: dialects };
  return { answer: { jsonrpc: "2.0", id, error: { code: errorCodes.invalid_params, message, data } } };
}
