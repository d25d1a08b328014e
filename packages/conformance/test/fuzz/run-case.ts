// Runs one case: sends its frames to a subject, ends what waits for the fuzzer, and checks the answers.

import { Random } from "../../../acp/test/support/random.ts";
import { Answers, type Expected, expectAnswers, newExpected } from "./expectations.ts";
import { mutate } from "./mutations.ts";
import { placeholder, type Recording } from "./recordings.ts";
import type { Running, Subject } from "./subjects.ts";
import { byteWire, memoryWire, type Wire } from "./wires.ts";

/** What the seed decides. */
export interface Case {
  readonly seed: number;
  readonly subject: Subject;
  readonly frames: readonly string[];
  readonly bytes: boolean;
  /** All frames at once, or each when the subject has had time for the one before. */
  readonly isRushed: boolean;
  /** Whether questions of the subject are answered when they come, or at the end. */
  readonly answersAtOnce: boolean;
}

export function caseOf(seed: number, subject: Subject, { said }: Recording): Case {
  const random = new Random(seed);
  const [isRushed, answersAtOnce, bytes] = [random.chance(0.2), random.chance(0.6), random.chance(0.5)];
  return { seed, subject, bytes, isRushed, answersAtOnce, frames: mutate(said[subject.fuzzer], random) };
}

const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly result?: unknown;
}

/** Gives what went wrong, or undefined. `patienceMs`: how long a subject may take to answer everything. */
export async function runCase(
  given: Case,
  recording: Recording,
  patienceMs: number,
): Promise<string | undefined> {
  const { subject, seed, bytes } = given;
  const wire = bytes ? byteWire(new Random(seed)) : memoryWire();
  const run = new Run(given, recording, wire);
  const running = subject.start(wire.transport);
  try {
    return await within(patienceMs, run.play(running), () => run.problem() ?? "it does not end");
  } finally {
    await wire.close();
    const isClosed = await within(
      patienceMs,
      running.close().then(() => true),
      () => false,
    );
    // biome-ignore lint/correctness/noUnsafeFinally: a subject that cannot be closed is the worse problem
    if (!isClosed) return "it cannot be closed";
  }
}

class Run {
  readonly #case: Case;
  readonly #recording: Recording;
  readonly #wire: Wire;
  readonly #expected: Expected = newExpected();
  readonly #answers = new Answers();
  /** The session ids that the subject gave out, or those of the recording. */
  readonly #sessions: string[] = [];
  #open = new Map<string, Message>();
  #arrived = Promise.withResolvers<void>();
  #answersAtOnce: boolean;
  #hasEnded = false;

  constructor(given: Case, recording: Recording, wire: Wire) {
    this.#case = given;
    this.#answersAtOnce = given.answersAtOnce;
    this.#recording = recording;
    this.#wire = wire;
    wire.open(
      (text) => this.#received(text),
      () => {
        this.#hasEnded = true;
        this.#arrived.resolve();
      },
    );
  }

  problem(): string | undefined {
    return this.#hasEnded ? "it ended the connection" : this.#answers.problem(this.#expected);
  }

  async play(running: Running): Promise<string | undefined> {
    const { frames, isRushed, subject } = this.#case;
    if (subject.fuzzer === "agent") await this.#until(() => this.#sessions.length > 0);
    for (const frame of frames) {
      this.#send(frame);
      if (!isRushed) await quiet();
    }
    await this.#settle();
    this.#send('{"jsonrpc":"2.0","id":"are you there?","method":"_fuzz/none","params":{}}');
    await this.#settle();
    this.#answersAtOnce = true;
    this.#answerAll();
    const unusable = await running.use?.().then(
      () => undefined,
      (error: unknown) => `it cannot be used any more: ${error}`,
    );
    await quiet();
    return this.problem() ?? unusable;
  }

  /** Answers what the subject asks, and cancels what it does, until everything is answered. */
  async #settle(): Promise<void> {
    for (let turn = 0; turn < 3 && !this.#hasEnded; turn++) {
      await quiet();
      this.#answerAll();
    }
    if (!this.#answers.isComplete(this.#expected) && this.#case.subject.fuzzer === "client") {
      for (const sessionId of this.#sessions)
        this.#wire.send(JSON.stringify({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } }));
    }
    await this.#until(() => {
      this.#answerAll();
      return this.#answers.isComplete(this.#expected);
    });
  }

  async #until(isTrue: () => boolean): Promise<void> {
    while (!this.#hasEnded && !isTrue()) await this.#arrived.promise;
  }

  #send(frame: string): void {
    const text = this.#withSessions(frame);
    expectAnswers(this.#expected, text, this.#wire.maxChars);
    this.#wire.send(text);
  }

  #withSessions(frame: string): string {
    return frame.replaceAll(/\{session (\d+)\}/g, (all, number) => this.#sessions[Number(number) - 1] ?? all);
  }

  #received(text: string): void {
    const value: unknown = JSON.parse(text);
    for (const message of Array.isArray(value) ? value : [value]) this.#message(message as Message);
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }

  #message(message: Message): void {
    const { id, method, result } = message;
    if (method === undefined) {
      this.#answers.add(id ?? null);
      const { sessionId } = (result ?? {}) as { sessionId?: unknown };
      if (typeof sessionId === "string" && !this.#sessions.includes(sessionId))
        this.#sessions.push(sessionId);
    } else if (id !== undefined) {
      this.#open.set(JSON.stringify(id), message);
      // without these there is nothing to be fuzzed
      const isSetup = ["initialize", "authenticate", "auth/login", "session/new"].includes(String(method));
      if (this.#answersAtOnce || isSetup) this.#answerAll();
    }
  }

  #answerAll(): void {
    const open = this.#open;
    this.#open = new Map();
    for (const [id, { method }] of open) {
      const result =
        this.#recording.results[this.#case.subject.fuzzer].get(String(method)) ?? '{"stopReason":"end_turn"}';
      if (method === "session/new" && this.#sessions.length === 0) this.#sessions.push(placeholder(1));
      this.#wire.send(`{"jsonrpc":"2.0","id":${id},"result":${this.#withSessions(result)}}`);
    }
  }
}

async function within<Result>(ms: number, work: Promise<Result>, late: () => Result): Promise<Result> {
  const timeout = Promise.withResolvers<Result>();
  const timer = setTimeout(() => timeout.resolve(late()), ms);
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
