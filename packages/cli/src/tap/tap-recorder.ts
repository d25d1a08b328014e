// The tap's end of the recorder: hands over chunks and events, never waits, never throws.

import { Worker } from "node:worker_threads";
import { entryKinds, RingWriter, ringMemory } from "./tap-ring.ts";
import {
  type LastWords,
  type RecorderEvent,
  type RecorderNews,
  type RecorderSummary,
  type RecorderTask,
  recorderModule,
  type StreamName,
} from "./tap-worker.ts";

export interface RecorderOptions {
  readonly fd: number;
  readonly header: object;
  /** How much may wait for the disk, rounded up to a power of two. */
  readonly queueBytes: number;
  readonly maxLineBytes: number;
  readonly maxBytes: number;
  /** Called at most once: records cannot be written. */
  readonly failed: (message: string) => void;
}

export interface RecorderResult {
  /** undefined: the disk was too slow, or the recorder's thread died. */
  readonly summary: RecorderSummary | undefined;
  /** Bytes of the wire that found no room in the queue. */
  readonly droppedBytes: number;
}

export interface Patience {
  readonly stillMs: number;
  readonly maxMs: number;
  readonly hurried: Promise<void>;
}

/** How a line begins that is too long to be kept: enough to see its method and its id. */
const headBytes = 64 * 1024;

export class Recorder {
  readonly #ring: RingWriter;
  readonly #worker: Worker;
  readonly #summary: Promise<RecorderSummary | undefined>;
  readonly #started = performance.now();
  /** Its thread has begun. */
  #isOnline = false;
  #gap: Partial<Record<StreamName, number>> = {};
  #waiting: { time: number; event: RecorderEvent }[] = [];
  #dropped = 0;

  constructor({ fd, header, queueBytes, maxLineBytes, maxBytes, failed }: RecorderOptions) {
    const memory = ringMemory(queueBytes);
    const task: RecorderTask = {
      task: "parley tap recorder",
      memory,
      fd,
      header: JSON.stringify(header),
      limits: { maxLineBytes, headBytes: Math.min(headBytes, maxLineBytes) },
      maxBytes,
    };
    this.#ring = new RingWriter(memory);
    this.#worker = new Worker(new URL(recorderModule), { workerData: task });
    this.#worker.unref();
    this.#worker.once("online", () => {
      this.#isOnline = true;
    });
    this.#summary = new Promise((resolve) => {
      this.#worker.on("message", (news: RecorderNews) => {
        if (news.kind === "done") resolve(news);
        else failed(news.message);
      });
      this.#worker.on("error", (error) => failed(`the recorder has crashed: ${error.message}`));
      this.#worker.on("exit", () => resolve(undefined));
    });
  }

  /** Records a chunk of a stream, if there is room. It is copied. */
  chunk(stream: StreamName, bytes: Uint8Array): void {
    const time = performance.now() - this.#started;
    if (this.#catchUp(time) && this.#ring.push(entryKinds[stream], time, bytes)) return;
    this.#gap[stream] = (this.#gap[stream] ?? 0) + bytes.length;
    this.#dropped += bytes.length;
  }

  event(event: RecorderEvent): void {
    const time = performance.now() - this.#started;
    if (!this.#catchUp(time) || !this.#push(time, event)) this.#waiting.push({ time, event });
  }

  /**
   * Ends the trace. Waits as long as the recorder goes on, which a busy machine may have kept from its work so far, but
   * not longer than `stillMs` for a disk that takes nothing, than `maxMs` in all, or than `hurried` says.
   */
  async finish({ stillMs, maxMs, hurried }: Patience): Promise<RecorderResult> {
    const time = performance.now() - this.#started;
    this.#noteGap(time);
    const last: LastWords = { time, events: this.#waiting };
    this.#worker.postMessage(last);
    this.#ring.end();
    this.#worker.ref();
    const lastMoment = performance.now() + maxMs;
    let taken = -1;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setInterval(() => {
        const hasMoved = !this.#isOnline || this.#ring.taken !== taken;
        taken = this.#isOnline ? this.#ring.taken : -1;
        if (!hasMoved || performance.now() > lastMoment) resolve(undefined);
      }, stillMs);
    });
    const summary = await Promise.race([this.#summary, late, hurried.then(() => undefined)]);
    clearInterval(timer);
    return { summary, droppedBytes: this.#dropped };
  }

  /** What found no room comes first, so that the trace stays in order. */
  #catchUp(time: number): boolean {
    this.#noteGap(time);
    while (this.#waiting.length > 0) {
      const [first] = this.#waiting;
      if (first === undefined || !this.#push(first.time, first.event)) return false;
      this.#waiting.shift();
    }
    return true;
  }

  #noteGap(time: number): void {
    if (Object.keys(this.#gap).length === 0) return;
    const last = this.#waiting.at(-1);
    // One note for a gap that goes on, however long it takes.
    if (last !== undefined && "gap" in last.event) {
      const merged: Partial<Record<StreamName, number>> = { ...(last.event.gap as object) };
      for (const [stream, bytes] of Object.entries(this.#gap) as [StreamName, number][]) {
        merged[stream] = (merged[stream] ?? 0) + bytes;
      }
      last.event = { gap: merged };
    } else this.#waiting.push({ time, event: { gap: this.#gap } });
    this.#gap = {};
  }

  #push(time: number, event: RecorderEvent): boolean {
    return this.#ring.push(entryKinds.event, time, Buffer.from(JSON.stringify(event), "utf8"));
  }
}
