// An agent's choice of the dialect, by `initialize`.

import { isObject } from "../../base/objects.ts";
import type { Dialect, DialectMachine, DialectMessage } from "../../edition/dialect.ts";
import { dialectsOf, type Edition } from "../../edition/negotiate.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import type { Decision, DialectChoice, Machines, Refusal } from "./translating-transport.ts";

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
