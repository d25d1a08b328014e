// A client's choice of the dialect: the one that was named, or the one that the agent answers `initialize` in.

import type { DialectMessage, DialectName } from "../../edition/dialect.ts";
import { dialectError, dialectOfAnswer } from "../../edition/dialect-tells.ts";
import { answeredVersion, type Edition, isDialect } from "../../edition/negotiate.ts";
import type { Decision, DialectChoice, Machines } from "./translating-transport.ts";

export class ClientChoice implements DialectChoice {
  dialect: DialectName | undefined;
  readonly #dialects: readonly DialectName[];
  readonly #isDialectOnly: boolean;
  readonly #machines: Machines;
  /** The last `initialize` of ours. */
  #asked: DialectMessage | undefined;

  constructor(editions: readonly Edition[], machines: Machines) {
    this.#dialects = editions.filter(isDialect);
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
    const { id = null, method } = message;
    if (this.#asked === undefined || method !== undefined || id !== this.#asked.id) return message;
    const told = dialectOfAnswer("initialize", message.result);
    if (told === undefined || told === this.dialect) return message;
    const { code, message: text, data } = dialectError("invalid_params", "the answer to initialize", told);
    return { jsonrpc: "2.0", id, error: { code, message: text, data } };
  }

  received(message: DialectMessage): Decision {
    const asked = this.#asked;
    if (asked === undefined || message.method !== undefined || message.id !== asked.id) return undefined;
    const told = dialectOfAnswer("initialize", message.result);
    if (told === undefined && this.#dialects.includes("pharo") && answeredVersion(message.result) === 1) {
      this.#asked = undefined;
      return this.#machines.aliases("pharo");
    }
    if (told === undefined || !this.#dialects.includes(told)) return undefined;
    this.dialect = told;
    // the machine learns what was asked, though in version 1
    return this.#machines.load(told).then((machine) => {
      machine.send(asked);
      return machine;
    });
  }
}
