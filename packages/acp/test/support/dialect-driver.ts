// Drives the machine of a dialect by raw messages of both sides, with a clock that stands still. Everything that the machine
// sends is checked: what goes to the peer strictly against the dialect, what comes to our side strictly against version 1.

import assert from "node:assert/strict";
import type { Dialect, DialectMachine, DialectMessage, Step } from "../../src/edition/dialect.ts";
import {
  bindMethod,
  decodeParams,
  decodeResult,
  describeFailure,
  encodeParams,
  encodeResult,
  Failure,
} from "../../src/wire/decode.ts";
import type { MethodRow } from "../../src/wire/method-row.ts";
import { methods as v1 } from "../../src/wire/v1/methods.gen.ts";

type Id = DialectMessage["id"];

interface Timer {
  readonly at: number;
  readonly work: () => Step;
}

export const startOfTime = Date.UTC(2026, 1, 4, 10, 30);

export class DialectDriver {
  readonly machine: DialectMachine;
  readonly lost: string[] = [];
  #now = startOfTime;
  #timers: Timer[] = [];
  readonly #methods: readonly MethodRow[];
  /** Methods of the requests that wait for an answer: those of our side, and those of the peer. */
  readonly #asked = { us: new Map<Id, string>(), peer: new Map<Id, string>() };

  readonly #isLenient: boolean;

  /** `lenient`: what comes to our side is checked as our side checks it, which accepts what peers send. */
  constructor(
    dialect: Dialect,
    role: "agent" | "client",
    methods: readonly MethodRow[],
    { lenient = false }: { readonly lenient?: boolean } = {},
  ) {
    this.#methods = methods;
    this.#isLenient = lenient;
    const options = {
      clock: {
        now: () => this.#now,
        after: (ms: number, work: () => Step) => {
          const timer = { at: this.#now + ms, work };
          this.#timers.push(timer);
          return () => {
            this.#timers = this.#timers.filter((each) => each !== timer);
          };
        },
      },
      lost: (what: string) => void this.lost.push(what),
    };
    this.machine = role === "agent" ? dialect.agentSide(options) : dialect.clientSide(options);
  }

  /** How many timers wait. */
  get timers(): number {
    return this.#timers.length;
  }

  /** A message of the peer, as it came off the wire. */
  peer(message: object): Step {
    const received = structuredClone({ jsonrpc: "2.0", ...message }) as DialectMessage;
    this.#note("peer", received);
    return this.#check(this.machine.receive(received));
  }

  us(message: object): Step {
    const sent = structuredClone({ jsonrpc: "2.0", ...message }) as DialectMessage;
    this.#note("us", sent);
    return this.#check(this.machine.send(sent));
  }

  /** Lets time pass. */
  pass(ms: number): Step {
    const end = this.#now + ms;
    const all: { toUs: DialectMessage[]; toPeer: DialectMessage[] } = { toUs: [], toPeer: [] };
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
      const [next] = due;
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.at);
      this.#timers = this.#timers.filter((each) => each !== next);
      const step = this.#check(next.work());
      all.toUs.push(...step.toUs);
      all.toPeer.push(...step.toPeer);
    }
    this.#now = end;
    return all;
  }

  #note(from: "us" | "peer", { id, method }: DialectMessage): void {
    if (method !== undefined && id !== undefined) this.#asked[from].set(id, method);
  }

  #check(step: Step): Step {
    for (const message of step.toPeer) this.#checkOne(message, this.#methods, this.#asked.peer);
    for (const message of step.toUs) this.#checkOne(message, v1, this.#asked.us);
    return JSON.parse(JSON.stringify(step)) as Step;
  }

  #checkOne(message: DialectMessage, rows: readonly MethodRow[], asked: Map<Id, string>): void {
    const { id, method, error } = message;
    if (method !== undefined) {
      if (method.startsWith("_") || method.startsWith("$/")) return;
      const kind = id === undefined ? "notification" : "request";
      const row = rows.find((each) => each.method === method && each.kind === kind);
      assert.ok(row, `${method} is no ${kind} of that side`);
      const check = this.#isLenient && rows === v1 ? decodeParams : encodeParams;
      valid(method, "params", check(bindMethod(row, "*"), structuredClone(message.params)));
      return;
    }
    const answered = asked.get(id);
    asked.delete(id);
    if (error !== undefined) return assert.ok(Number.isInteger(error.code) && error.message !== "");
    const row = rows.find((each) => each.method === answered && each.kind === "request");
    if (row === undefined) return;
    const check = this.#isLenient && rows === v1 ? decodeResult : encodeResult;
    valid(row.method, "result", check(bindMethod(row, "*"), structuredClone(message.result)));
  }
}

function valid(method: string, where: "params" | "result", value: unknown): void {
  if (value instanceof Failure)
    assert.fail(`sent what is not valid: ${describeFailure(method, where, value)}`);
}

/** The only message of a list. */
export function only(messages: readonly DialectMessage[]): DialectMessage {
  assert.equal(messages.length, 1, JSON.stringify(messages));
  return messages[0] ?? { jsonrpc: "2.0" };
}
