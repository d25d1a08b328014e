// Plays one side of a recorded conversation to a live peer. What the recorded side sent is sent again, in order,
// each message as soon as everything has come that came before it in the recording. Requests of the live peer
// must come in the recorded order, session by session; the first that does not is the divergence that is reported.

import type { EndReason, Sink, Transport } from "@parley/acp";
import { type Clock, type Deadline, deadline, isObject, realClock } from "@parley/acp/internal";
import type { Trace, TraceSide } from "../trace/trace.ts";
import {
  type ExpectStep,
  type Json,
  type RecordedMessage,
  type ReplayPlan,
  replayPlan,
  type SendStep,
  sessionOf,
} from "./replay-plan.ts";
import { SessionNames } from "./replay-sessions.ts";

export interface ReplayOptions {
  /** "fast" (default) sends as soon as it can, "recorded" keeps the recorded time between two messages. */
  readonly pace?: "fast" | "recorded";
  /**
   * The live peer may send fewer notifications than the recorded one. Those that are missing are no longer waited
   * for when nothing at all has come for so long. Default: 5,000 ms for a client, Infinity for an agent.
   */
  readonly quietMs?: number;
  /**
   * How long nothing may come while a request or an answer of the live peer is waited for. Then that is the
   * divergence. Default Infinity: models and people take their time.
   */
  readonly timeoutMs?: number;
  /** For `pace: "recorded"`. */
  readonly clock?: Clock;
}

/** Where the live peer left the recording. */
export interface Divergence {
  /** The record that was waited for; undefined when the recording was over. */
  readonly record: number | undefined;
  readonly expected: string;
  readonly got: string;
  /** Both in one sentence. */
  readonly message: string;
}

export interface ReplayReport {
  /** undefined: the live peer did what the recorded one did. */
  readonly divergence: Divergence | undefined;
  /** Lines that were sent. */
  readonly sent: number;
  /** Requests, answers and notifications that came as recorded. */
  readonly matched: number;
  /** Notifications that were recorded and did not come, and those that came and were not recorded. */
  readonly missing: number;
  readonly extra: number;
  /** Recorded lines that cannot be sent again, because they were not UTF-8. */
  readonly skipped: number;
  /** How the recorded agent left, where it is known. */
  readonly exit: { readonly code?: number; readonly signal?: string } | undefined;
}

export interface Replay {
  /** When the recording is over or the live peer has left it. Never rejects. */
  readonly done: Promise<ReplayReport>;
  /** What is waited for now, in words; undefined when nothing is. */
  waitingFor(): string | undefined;
  /** Gives up. `done` resolves with what has not come as the divergence. */
  close(): Promise<void>;
}

/** Plays the recorded agent to a live client. Throws a TraceError when the trace lacks what the agent said. */
export function replayAgent(trace: Trace, transport: Transport, options: ReplayOptions = {}): Replay {
  return new Player(replayPlan(trace, "agent"), "agent", transport, options);
}

/** Plays the recorded client to a live agent. */
export function replayClient(trace: Trace, transport: Transport, options: ReplayOptions = {}): Replay {
  return new Player(replayPlan(trace, "client"), "client", transport, options);
}

class Player implements Replay, Sink {
  readonly done: Promise<ReplayReport>;
  readonly #plan: ReplayPlan;
  readonly #side: TraceSide;
  readonly #transport: Transport;
  readonly #pace: "fast" | "recorded";
  readonly #quietMs: number;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #finished = Promise.withResolvers<ReplayReport>();
  readonly #over = new AbortController();
  readonly #sessions = new SessionNames();
  readonly #met = new Set<ExpectStep>();
  readonly #gates = new Map<string | undefined, ExpectStep>();
  /** Live ids of the other side's requests, by the message that was recorded. */
  readonly #liveIds = new Map<RecordedMessage, unknown>();
  /** Our own requests that are open, by the id that they were sent under. */
  readonly #asked = new Map<string, RecordedMessage>();
  #cursor = 0;
  #nextId = 1;
  #room = true;
  #pausing = false;
  /** The step before which the last pause was made. */
  #paused: SendStep | undefined;
  #quiet: Deadline;
  #ended: EndReason | undefined;
  #counts = { sent: 0, matched: 0, missing: 0, extra: 0 };

  constructor(plan: ReplayPlan, side: TraceSide, transport: Transport, options: ReplayOptions) {
    this.#plan = plan;
    this.#side = side;
    this.#transport = transport;
    this.#pace = options.pace ?? "fast";
    this.#quietMs = options.quietMs ?? (side === "client" ? 5_000 : Number.POSITIVE_INFINITY);
    this.#timeoutMs = options.timeoutMs ?? Number.POSITIVE_INFINITY;
    this.#clock = options.clock ?? realClock;
    this.done = this.#finished.promise;
    transport.start(this);
    this.#play();
  }

  waitingFor(): string | undefined {
    const step = this.#unmet(() => true);
    return step === undefined ? undefined : describe(step.message, this.#otherSide());
  }

  async close(): Promise<void> {
    const gating = this.#firstUnmet(() => true);
    if (gating !== undefined) this.#diverge(gating, "nothing, until the replay was closed");
    await this.#finish();
  }

  // --- what the transport tells

  message(value: unknown): void {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (isObject(each) && !this.#over.signal.aborted) this.#receive(each);
    }
    this.#play();
  }

  idle(): void {}

  reject(): void {
    // The recording has no record of what the other side's transport could not read either.
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
    this.#end();
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
      // An agent waits for its client to leave, unless the recorded one left first.
      if (this.#side === "client" || this.#plan.endsFirst || this.#ended !== undefined) this.#end();
      return;
    }
    const step = this.#plan.steps[this.#cursor];
    if (step?.kind !== "expect") return;
    if (step.message.kind !== "notification") {
      const got = `nothing for ${this.#timeoutMs} ms`;
      this.#quiet = deadline(this.#timeoutMs, () => this.#diverge(step, got));
    } else if (this.#ended !== undefined) this.#forgive((each) => each === step);
    else this.#quiet = deadline(this.#quietMs, () => this.#forgive((each) => each === step));
  }

  /** Whether the recorded pause before this step is still to be made; the step is then played after it. */
  #waits(step: SendStep): boolean {
    const before = this.#plan.steps[this.#cursor - 1];
    if (this.#pace === "fast" || before === undefined || step === this.#paused) return false;
    this.#pausing = true;
    this.#paused = step;
    const goOn = (): void => {
      this.#pausing = false;
      this.#play();
    };
    // An abort ends the pause as well; nothing is played then.
    this.#clock.sleep(Math.max(0, step.t - before.t), this.#over.signal).then(goOn, goOn);
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

  // --- what comes

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
        `an answer to nobody's request (id ${JSON.stringify(value.id)})`,
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
    const session = this.#sessions.toRecorded(sessionOf(value));
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

  /** The recorded session that a live request is about. One that was never seen is the next that the recording names. */
  #laneOf(method: string, value: Json): string | undefined {
    const live = sessionOf(value);
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
    // What should have come before it in its session is not going to.
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

  /** The first request or answer of the other side that has not come yet. */
  #firstUnmet(which: (message: RecordedMessage) => boolean): ExpectStep | undefined {
    return this.#unmet(({ message }) => message.kind !== "notification" && which(message));
  }

  /** The same for one session. Remembered: a turn may have a hundred thousand updates, each of which asks. */
  #gateOf(session: string | undefined): ExpectStep | undefined {
    const known = this.#gates.get(session);
    if (known !== undefined && !this.#met.has(known)) return known;
    const found = this.#firstUnmet((message) => message.session === session);
    if (found !== undefined) this.#gates.set(session, found);
    return found;
  }

  /** The first step that has not been met, from where the play stands up to `last`. */
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
    const error = { code: -32603, message: "this request is not what the recording has here" };
    this.#transport.send({ jsonrpc: "2.0", id, error });
  }

  #diverge(step: ExpectStep | undefined, got: string): void {
    if (this.#over.signal.aborted) return;
    const other = this.#otherSide();
    const expected =
      step === undefined ? "nothing more: the recording is over" : describe(step.message, other);
    const where = step === undefined ? "after the last record" : `at record ${step.record}`;
    const message = `the ${other} left the recording ${where}: expected ${expected}; got ${got}`;
    this.#end({ record: step?.record, expected, got, message });
  }

  #end(divergence?: Divergence): void {
    // It cannot fail: a transport that does not close is not waited for by anybody else.
    void this.#finish(divergence);
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

  #otherSide(): TraceSide {
    return this.#side === "agent" ? "client" : "agent";
  }
}

function describe({ record, kind, method, session }: RecordedMessage, from: TraceSide): string {
  const about = session === undefined ? "" : ` (session ${session})`;
  const what = kind === "response" ? `the answer to ${method ?? "a request"}` : `${kind} ${method ?? ""}`;
  return `record ${record} of the ${from}: ${what}${about}`;
}
