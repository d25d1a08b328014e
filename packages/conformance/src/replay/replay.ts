// Replays one side of a recorded conversation to a live peer and reports the first divergence.

import type { Transport } from "@parley/acp";
import { type Deadline, deadline } from "@parley/acp/internal";
import { checkOptions, isObject } from "@parley/acp/jsonrpc";
import type { EndReason, Sink } from "@parley/acp/transport";
import { realClock } from "../testing/gates.ts";
import type { Trace, TraceSide } from "../trace/trace.ts";
import {
  type ExpectStep,
  type Json,
  type RecordedMessage,
  type ReplayPlan,
  replayPlan,
  type SendStep,
  sessionOfMessage,
} from "./replay-plan.ts";
import type { Divergence, Replay, ReplayOptions, ReplayReport } from "./replay-report.ts";
import { SessionNames } from "./replay-sessions.ts";

/**
 * Replays the recorded agent to a live client.
 *
 * @param transport - The connection to the live client.
 * @throws {TraceError} When a message of the recorded agent is missing.
 *
 * @example
 * import { readFileSync } from "node:fs";
 * import { stdioTransport } from "@parley/acp/node";
 * import { readTrace, replayAgent } from "@parley/conformance";
 *
 * const trace = readTrace(readFileSync("session.trace", "utf8"));
 * const { divergence } = await replayAgent(trace, stdioTransport()).done;
 * if (divergence !== undefined) console.error(divergence.message);
 */
export function replayAgent(trace: Trace, transport: Transport, options: ReplayOptions = {}): Replay {
  checkOptions("replayAgent", options, optionKeys);
  return new Player(replayPlan(trace, "agent"), "agent", transport, options);
}

/**
 * Replays the recorded client to a live agent.
 *
 * @param transport - The connection to the live agent.
 * @throws {TraceError} When a message of the recorded client is missing.
 *
 * @example
 * import { readFileSync } from "node:fs";
 * import { spawnTransport } from "@parley/acp/node";
 * import { readTrace, replayClient } from "@parley/conformance";
 *
 * const trace = readTrace(readFileSync("session.trace", "utf8"));
 * const agent = spawnTransport("node", ["my-agent.js"]);
 * const { divergence, matched } = await replayClient(trace, agent, { timeoutMs: 30_000 }).done;
 * console.log(divergence?.message ?? `${matched} messages as recorded`);
 */
export function replayClient(trace: Trace, transport: Transport, options: ReplayOptions = {}): Replay {
  checkOptions("replayClient", options, optionKeys);
  return new Player(replayPlan(trace, "client"), "client", transport, options);
}

/** How long to wait, without any input, for a notification that a live agent may not send. */
const quietMs = 5_000;

/** Sends each message when everything before it in the recording has arrived. */
class Player implements Replay, Sink {
  readonly done: Promise<ReplayReport>;
  readonly #plan: ReplayPlan;
  readonly #side: TraceSide;
  readonly #otherSide: TraceSide;
  readonly #transport: Transport;
  readonly #options: { readonly [Name in keyof ReplayOptions]-?: NonNullable<ReplayOptions[Name]> };
  readonly #finished = Promise.withResolvers<ReplayReport>();
  readonly #over = new AbortController();
  readonly #sessions = new SessionNames();
  readonly #met = new Set<ExpectStep>();
  readonly #gates = new Map<string | undefined, ExpectStep>();
  /** Live ids of the other side's requests, by recorded message. */
  readonly #liveIds = new Map<RecordedMessage, unknown>();
  /** Our open requests, by live id. */
  readonly #asked = new Map<string, RecordedMessage>();
  #cursor = 0;
  #nextId = 1;
  #room = true;
  #pausing = false;
  /** The step after the last pause. */
  #paused: SendStep | undefined;
  #quiet: Deadline;
  #ended: EndReason | undefined;
  #counts = { sent: 0, matched: 0, missing: 0, extra: 0 };

  constructor(plan: ReplayPlan, side: TraceSide, transport: Transport, options: ReplayOptions) {
    this.#plan = plan;
    this.#side = side;
    this.#otherSide = side === "agent" ? "client" : "agent";
    this.#transport = transport;
    const { pace = "fast", timeoutMs = Number.POSITIVE_INFINITY, clock = realClock } = options;
    this.#options = { pace, timeoutMs, clock };
    this.done = this.#finished.promise;
    transport.start(this);
    this.#play();
  }

  waitingFor(): string | undefined {
    const step = this.#unmet(() => true);
    return step === undefined ? undefined : describe(step.message, this.#otherSide);
  }

  async close(): Promise<void> {
    const gating = this.#firstUnmet(() => true);
    if (gating !== undefined) this.#diverge(gating, "nothing, until the replay was closed");
    await this.#finish();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // --- transport events

  message(value: unknown): void {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (isObject(each) && !this.#over.signal.aborted) this.#receive(each);
    }
    this.#play();
  }

  idle(): void {}

  reject(): void {
    // invalid frames are not in the recording
    this.#counts.extra += 1;
  }

  drain(): void {
    this.#room = true;
    this.#play();
  }

  end(reason: EndReason): void {
    this.#ended = reason;
    const gating = this.#firstUnmet(() => true);
    const how = [reason.kind === "eof" ? "" : (reason.message ?? reason.kind), reason.stderr?.trim()];
    const why = how.filter((part) => part !== undefined && part !== "").join(": ");
    if (gating !== undefined) this.#diverge(gating, `the end of its output${why === "" ? "" : ` (${why})`}`);
    void this.#finish();
  }

  // --- playing

  #play(): void {
    clearTimeout(this.#quiet);
    while (!this.#over.signal.aborted && !this.#pausing && this.#cursor < this.#plan.steps.length) {
      const step = this.#plan.steps[this.#cursor];
      if (step === undefined || (step.kind === "expect" && !this.#met.has(step))) break;
      if (step.kind === "send") {
        if (!this.#room || this.#waits(step)) return;
        this.#send(step);
      }
      this.#cursor += 1;
    }
    if (this.#over.signal.aborted || this.#pausing) return;
    if (this.#cursor >= this.#plan.steps.length) {
      // an agent waits for its client to disconnect, unless the recorded agent ended first
      if (this.#side === "client" || this.#plan.endsFirst || this.#ended !== undefined) void this.#finish();
      return;
    }
    const step = this.#plan.steps[this.#cursor];
    if (step?.kind !== "expect") return;
    if (step.message.kind !== "notification") {
      const { timeoutMs } = this.#options;
      this.#quiet = deadline(timeoutMs, () => this.#diverge(step, `nothing for ${timeoutMs} ms`));
    } else if (this.#ended !== undefined) this.#forgive((each) => each === step);
    else if (this.#side === "client")
      this.#quiet = deadline(quietMs, () => this.#forgive((each) => each === step));
  }

  /** Starts the recorded pause before this step; false when there is none or it is over. */
  #waits(step: SendStep): boolean {
    const before = this.#plan.steps[this.#cursor - 1];
    if (this.#options.pace === "fast" || before === undefined || step === this.#paused) return false;
    this.#pausing = true;
    this.#paused = step;
    const goOn = (): void => {
      this.#pausing = false;
      this.#play();
    };
    // after an abort nothing is played
    this.#options.clock.sleep(Math.max(0, step.t - before.t), this.#over.signal).then(goOn, goOn);
    return true;
  }

  #send(step: SendStep): void {
    this.#counts.sent += 1;
    if (step.messages.length === 0) {
      this.#room = this.#transport.send({}, step.text);
      return;
    }
    const live = step.messages.map((message) => this.#liveMessage(message));
    const [first] = live;
    this.#room = this.#transport.send(step.isBatch || first === undefined ? live : first);
  }

  #liveMessage(message: RecordedMessage): object {
    const value = this.#sessions.toLive(message.value);
    if (message.kind === "request") {
      const id = this.#nextId++;
      this.#asked.set(JSON.stringify(id), message);
      return { ...value, id };
    }
    if (message.kind !== "response" || message.answers === undefined) return value;
    return { ...value, id: this.#liveIds.get(message.answers) };
  }

  // --- input

  #receive(value: Json): void {
    const { id, method } = value;
    if (typeof method !== "string") this.#receiveAnswer(value);
    else if (id === undefined) this.#receiveNotification(method, value);
    else this.#receiveRequest(method, value);
  }

  #receiveAnswer(value: Json): void {
    const asked = this.#asked.get(JSON.stringify(value.id));
    if (asked === undefined) {
      return this.#diverge(
        this.#firstUnmet(() => true),
        `an answer without a request (id ${JSON.stringify(value.id)})`,
      );
    }
    this.#asked.delete(JSON.stringify(value.id));
    const step = this.#firstUnmet(({ answers }) => answers === asked);
    // the recording ended before this answer
    if (step === undefined) return;
    const recorded = step.message.value;
    if ("error" in recorded !== "error" in value) {
      return this.#diverge(step, `${"error" in value ? `error ${JSON.stringify(value.error)}` : "a result"}`);
    }
    this.#sessions.learnResult(recorded, value);
    this.#meet(step);
  }

  #receiveRequest(method: string, value: Json): void {
    const session = this.#laneOf(method, value);
    const step = this.#firstUnmet((message) => message.kind === "request" && message.session === session);
    if (step?.message.method !== method) {
      this.#refuse(value);
      const other = step ?? this.#firstUnmet(() => true);
      return this.#diverge(other, `request ${method}${session === undefined ? "" : ` (session ${session})`}`);
    }
    this.#liveIds.set(step.message, value.id);
    this.#meet(step);
  }

  #receiveNotification(method: string, value: Json): void {
    const session = this.#sessions.toRecorded(sessionOfMessage(value));
    const gate = this.#gateOf(session);
    const step = this.#unmet(
      ({ record, message }) =>
        message.kind === "notification" &&
        message.method === method &&
        message.session === session &&
        (gate === undefined || record < gate.record),
      gate,
    );
    if (step === undefined) this.#counts.extra += 1;
    else this.#meet(step);
  }

  /** The recorded session of a live request. An unknown session is the next one in the recording. */
  #laneOf(method: string, value: Json): string | undefined {
    const live = sessionOfMessage(value);
    if (live === undefined || this.#sessions.knows(live)) return this.#sessions.toRecorded(live);
    const next = this.#firstUnmet(({ kind, method: name }) => kind === "request" && name === method);
    const recorded = next?.message.session;
    if (recorded !== undefined) this.#sessions.learn(recorded, live);
    return recorded ?? live;
  }

  #meet(step: ExpectStep): void {
    this.#met.add(step);
    this.#counts.matched += 1;
    const { session, kind } = step.message;
    if (kind === "notification") return;
    // earlier notifications of the session will not arrive
    this.#forgive(({ record, message }) => record < step.record && message.session === session, step);
  }

  #forgive(which: (step: ExpectStep) => boolean, last?: ExpectStep): void {
    const isMissing = (step: ExpectStep) => step.message.kind === "notification" && which(step);
    for (let step = this.#unmet(isMissing, last); step !== undefined; step = this.#unmet(isMissing, last)) {
      this.#met.add(step);
      this.#counts.missing += 1;
    }
    queueMicrotask(() => this.#play());
  }

  /** The first request or answer of the other side that has not arrived. */
  #firstUnmet(which: (message: RecordedMessage) => boolean): ExpectStep | undefined {
    return this.#unmet(({ message }) => message.kind !== "notification" && which(message));
  }

  /** The same for one session, cached, because it is needed for every update. */
  #gateOf(session: string | undefined): ExpectStep | undefined {
    const known = this.#gates.get(session);
    if (known !== undefined && !this.#met.has(known)) return known;
    const found = this.#firstUnmet((message) => message.session === session);
    if (found !== undefined) this.#gates.set(session, found);
    return found;
  }

  /** The first unmet step from the current one up to `last`. */
  #unmet(which: (step: ExpectStep) => boolean, last?: ExpectStep): ExpectStep | undefined {
    for (let at = this.#cursor; at < this.#plan.steps.length; at++) {
      const step = this.#plan.steps[at];
      if (step?.kind !== "expect") continue;
      if (!this.#met.has(step) && which(step)) return step;
      if (step === last) return undefined;
    }
    return undefined;
  }

  // --- the end

  #refuse({ id }: Json): void {
    const error = { code: -32603, message: "this request differs from the recording" };
    this.#transport.send({ jsonrpc: "2.0", id, error });
  }

  #diverge(step: ExpectStep | undefined, got: string): void {
    if (this.#over.signal.aborted) return;
    const other = this.#otherSide;
    const expected =
      step === undefined ? "nothing more: the recording is over" : describe(step.message, other);
    const where = step === undefined ? "after the last record" : `at record ${step.record}`;
    const message = `the ${other} left the recording ${where}: expected ${expected}; got ${got}`;
    void this.#finish({ record: step?.record, expected, got, message });
  }

  async #finish(divergence?: Divergence): Promise<void> {
    if (this.#over.signal.aborted) return;
    this.#over.abort();
    clearTimeout(this.#quiet);
    const { skipped, exit } = this.#plan;
    const report: ReplayReport = { divergence, ...this.#counts, skipped, exit };
    try {
      await this.#transport.close();
    } finally {
      this.#finished.resolve(report);
    }
  }
}

function describe({ record, kind, method, session }: RecordedMessage, from: TraceSide): string {
  const about = session === undefined ? "" : ` (session ${session})`;
  const what = kind === "response" ? `the answer to ${method ?? "a request"}` : `${kind} ${method ?? ""}`;
  return `record ${record} of the ${from}: ${what}${about}`;
}

const optionKeys: Readonly<Record<keyof ReplayOptions, true>> = { pace: true, timeoutMs: true, clock: true };
