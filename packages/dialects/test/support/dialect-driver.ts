// Drives the machine of a dialect by hand, message by message. Everything that the machine sends is checked with the strict
// validators: what goes to the peer with those of the dialect, what goes to our side with those of version 1.

import assert from "node:assert/strict";
import type { DialectMachine, DialectMachines, DialectMessage, DialectStep } from "@parley/acp/transport";
import { type MethodRow, modes, v1Methods as v1 } from "../../src/exchange/library.ts";

type Id = DialectMessage["id"];
type Rows = readonly MethodRow[];

const strict = modes.strict | modes.checks;

interface DriverOptions {
  /** Our side has every unstable feature. Default: none. */
  readonly unstable?: boolean;
  /** What our side gets is checked as our side checks it, which accepts more than it sends. */
  readonly lenient?: boolean;
}

interface Timer {
  readonly at: number;
  readonly work: () => DialectStep;
}

export class DialectDriver {
  readonly lost: string[] = [];
  readonly #machine: DialectMachine;
  readonly #rows: { readonly us: Rows; readonly peer: Rows };
  /** Requests without an answer, by the side that has sent them. */
  readonly #asked = { us: new Map<Id, string>(), peer: new Map<Id, string>() };
  #timers: Timer[] = [];
  #now = 0;
  /** How what each side gets is checked. */
  readonly #modes: { readonly us: number; readonly peer: number };

  constructor(
    dialect: DialectMachines,
    role: "agent" | "client",
    rows: Rows,
    { unstable = false, lenient = false }: DriverOptions = {},
  ) {
    this.#rows = { us: v1, peer: rows };
    const ours = lenient ? modes.checks | modes.open : strict;
    this.#modes = { us: unstable ? ours | modes.unstable : ours, peer: strict };
    const options = {
      lost: (what: string) => this.lost.push(what),
      clock: {
        now: () => this.#now,
        after: (ms: number, work: () => DialectStep) => {
          const timer = { at: this.#now + ms, work };
          this.#timers.push(timer);
          return () => {
            this.#timers = this.#timers.filter((each) => each !== timer);
          };
        },
      },
    };
    this.#machine = role === "agent" ? dialect.agentSide(options) : dialect.clientSide(options);
  }

  /** The peer says this. The message is copied, because validators repair in place. */
  receive(message: object): DialectStep {
    const copy = structuredClone({ jsonrpc: "2.0", ...message }) as DialectMessage; // as the test wrote it
    this.#note("peer", copy);
    return this.#checked(this.#machine.receive(copy));
  }

  /** Our side says this. */
  send(message: object): DialectStep {
    const copy = structuredClone({ jsonrpc: "2.0", ...message }) as DialectMessage; // as above
    this.#note("us", copy);
    return this.#checked(this.#machine.send(copy));
  }

  /** Lets this time pass. */
  pass(ms: number): DialectStep {
    const end = this.#now + ms;
    const steps: DialectStep[] = [];
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#now = next.at;
      this.#timers = this.#timers.filter((each) => each !== next);
      steps.push(this.#checked(next.work()));
    }
    this.#now = end;
    return {
      toUs: steps.flatMap(({ toUs }) => toUs),
      toPeer: steps.flatMap(({ toPeer }) => toPeer),
    };
  }

  get timers(): number {
    return this.#timers.length;
  }

  #note(from: "us" | "peer", { id, method }: DialectMessage): void {
    // the second request with one id is refused
    if (method !== undefined && id !== undefined && !this.#asked[from].has(id))
      this.#asked[from].set(id, method);
  }

  #checked(step: DialectStep): DialectStep {
    for (const message of step.toUs) this.#check("us", message);
    for (const message of step.toPeer) this.#check("peer", message);
    return step;
  }

  #check(to: "us" | "peer", message: DialectMessage): void {
    const { id, method, params, result, error } = message;
    const text = JSON.stringify(message);
    assert.deepEqual(JSON.parse(text), message, "a message is JSON");
    const from = to === "us" ? "peer" : "us";
    if (method !== undefined) {
      if (id !== undefined) this.#asked[from].set(id, method);
      const row = this.#rows[to].find((each) => each.method === method);
      if (row === undefined) assert.match(method, /^[_$]/, `${to} gets an unknown method: ${text}`);
      assert.deepEqual(row?.params(structuredClone(params), this.#modes[to]), undefined, text);
      return;
    }
    const asked = this.#asked[to].get(id);
    this.#asked[to].delete(id);
    if (error !== undefined || asked === undefined) return;
    const row = this.#rows[to].find((each) => each.method === asked);
    assert.deepEqual(row?.result?.(structuredClone(result), this.#modes[to]), undefined, `${asked}: ${text}`);
  }
}

/** The only message of a list. */
export function only(messages: readonly DialectMessage[]): DialectMessage {
  assert.equal(messages.length, 1, JSON.stringify(messages));
  return messages[0] ?? { jsonrpc: "2.0" };
}
