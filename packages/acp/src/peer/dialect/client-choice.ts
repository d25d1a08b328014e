// A client's choice of the dialect: the one that was named, or the one that the agent answers `initialize` in.

import { isObject } from "../../base/objects.ts";
import type { Dialect, DialectMessage } from "../../edition/dialect.ts";
import { dialectError, dialectOfResult } from "../../edition/dialect-tells.ts";
import { dialectsOf, type Edition } from "../../edition/negotiate.ts";
import type { Decision, DialectChoice, Machines } from "./translating-transport.ts";

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
