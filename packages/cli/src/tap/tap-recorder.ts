// Records what passes the tap. It never waits and never throws: what does not fit into the queue is dropped and counted.

import { withoutCredentials } from "./hidden-credentials.ts";
import { LineRecords } from "./line-records.ts";
import { TraceWriter } from "./trace-writer.ts";

export interface RecorderOptions {
  readonly fd: number;
  readonly header: object;
  /** How much may wait for the disk. */
  readonly queueBytes: number;
  readonly maxLineBytes: number;
  readonly maxBytes: number;
  /** Called at most once: records cannot be written. */
  readonly failed: (message: string) => void;
}

export type StreamName = "client" | "agent" | "stderr";

export interface RecorderResult {
  /** False: the disk was too slow for the end of the trace. */
  readonly isComplete: boolean;
  readonly lostRecords: number;
  readonly limitReached: boolean;
  /** Bytes of the wire that did not fit into the queue. */
  readonly droppedBytes: number;
}

export interface FinishLimits {
  /** The longest time without any progress. */
  readonly stillMs: number;
  readonly maxMs: number;
  readonly hurried: Promise<void>;
}

/** How much is kept of a line that is too long: enough to see its method and its id. */
const headBytes = 64 * 1024;

export class TapRecorder {
  readonly #started = performance.now();
  readonly #queueBytes: number;
  readonly #writer: TraceWriter;
  readonly #streams: Readonly<Record<StreamName, LineRecords>>;
  /** Bytes that were dropped and are not mentioned in the trace yet. */
  readonly #gap = new Map<StreamName, { readonly bytes: number; readonly isAtLineEnd: boolean }>();
  #droppedBytes = 0;

  constructor({ header, queueBytes, maxLineBytes, ...options }: RecorderOptions) {
    this.#queueBytes = queueBytes;
    this.#writer = new TraceWriter(options);
    const limits = { maxLineBytes, headBytes: Math.min(headBytes, maxLineBytes) };
    this.#streams = {
      client: new LineRecords('"from":"client"', limits, this.#writer),
      agent: new LineRecords('"from":"agent"', limits, this.#writer),
      stderr: new LineRecords('"event":"stderr"', limits, this.#writer),
    };
    this.#writer.add("0", Buffer.from(`${JSON.stringify(header)}\n`));
  }

  /** Records a chunk of a stream, if the queue has room for it. The chunk must not change any more. */
  chunk(stream: StreamName, bytes: Buffer): void {
    if (this.#isFull(stream, bytes.length, bytes.at(-1) === 0x0a)) return;
    const t = this.#now();
    this.#recordGap(t);
    this.#streams[stream].push(t, bytes);
    this.#recordSkipped(t, stream);
  }

  /** Records a whole message, with further fields, if the queue has room for it. */
  message(from: "client" | "agent", text: string, fields: Readonly<Record<string, unknown>>): void {
    const bytes = Buffer.byteLength(text) + 1;
    if (this.#isFull(from, bytes, true)) return;
    const t = this.#now();
    this.#recordGap(t);
    this.#add(t, { from, ...fields, bytes, text: withoutCredentials(text) });
  }

  /** The fields of the event's record, without the time. */
  event(fields: Readonly<Record<string, unknown>>): void {
    const t = this.#now();
    this.#recordGap(t);
    const { event, from } = fields;
    // the last line of a stream comes before its end
    if (event === "eof" && (from === "client" || from === "agent")) this.#streams[from].end(t);
    if (event === "exit") this.#streams.stderr.end(t);
    this.#add(t, fields);
  }

  /** Ends the trace, and waits for the disk within these limits. */
  async finish({ stillMs, maxMs, hurried }: FinishLimits): Promise<RecorderResult> {
    const t = this.#now();
    this.#recordGap(t);
    for (const name of ["client", "agent", "stderr"] as const) {
      this.#recordSkipped(t, name, true);
      this.#streams[name].end(t);
    }
    this.#add(t, { event: "end" });
    const lastMoment = performance.now() + maxMs;
    let writes = -1;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setInterval(() => {
        if (this.#writer.writes === writes || performance.now() > lastMoment) resolve(false);
        writes = this.#writer.writes;
      }, stillMs);
    });
    const isComplete = await Promise.race([
      this.#writer.flushed().then(() => true),
      late,
      hurried.then(() => false),
    ]);
    clearInterval(timer);
    const { lostRecords, limitReached } = this.#writer;
    return { isComplete, lostRecords, limitReached, droppedBytes: this.#droppedBytes };
  }

  /** Whether these bytes must be dropped; then they are counted. */
  #isFull(stream: StreamName, bytes: number, isAtLineEnd: boolean): boolean {
    const { waitingBytes } = this.#writer;
    if (waitingBytes === 0 || waitingBytes + bytes <= this.#queueBytes) return false;
    const before = this.#gap.get(stream)?.bytes ?? 0;
    this.#gap.set(stream, { bytes: before + bytes, isAtLineEnd });
    this.#droppedBytes += bytes;
    return true;
  }

  /** Milliseconds since the start as JSON, with microseconds. */
  #now(): string {
    return (performance.now() - this.#started).toFixed(3);
  }

  #add(t: string, fields: Readonly<Record<string, unknown>>): void {
    this.#writer.add(t, Buffer.from(`{"t":${t},${JSON.stringify(fields).slice(1)}\n`));
  }

  #recordGap(t: string): void {
    for (const [stream, { bytes, isAtLineEnd }] of this.#gap)
      this.#addDropped(t, stream, bytes + this.#streams[stream].gap(isAtLineEnd));
    this.#gap.clear();
  }

  /** The rest of a line whose beginning was dropped. */
  #recordSkipped(t: string, stream: StreamName, hasEnded?: boolean): void {
    const bytes = this.#streams[stream].takeSkipped(hasEnded);
    if (bytes === 0) return;
    this.#droppedBytes += bytes;
    this.#addDropped(t, stream, bytes);
  }

  #addDropped(t: string, stream: StreamName, bytes: number): void {
    this.#add(t, { event: "dropped", reason: "slow", stream, bytes });
  }
}
