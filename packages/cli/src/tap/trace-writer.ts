// Writes the records of a trace to its file, one write at a time; records queue up meanwhile.

import { fstatSync, ftruncate, write } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

const writeAsync = promisify(write);
const truncateAsync = promisify(ftruncate);

/** A pipe as the trace, whose reader is slow, is tried again after this time. */
const fullPipeMs = 20;
/** Reserved below the size limit for the record that says that it was reached. */
const lastRecordBytes = 256;

export interface TraceWriterOptions {
  readonly fd: number;
  readonly maxBytes: number;
  /** Called once, when a write fails for the first time. */
  readonly failed: (message: string) => void;
}

export class TraceWriter {
  readonly #fd: number;
  readonly #maxBytes: number;
  readonly #failed: (message: string) => void;
  /** Only a file can be cut back to its last whole record. */
  readonly #isFile: boolean;
  #queue: Buffer[] = [];
  #queuedRecords = 0;
  #waitingBytes = 0;
  #writtenBytes = 0;
  #writes = 0;
  #writing: Promise<void> | undefined;
  #lostRecords = 0;
  /** Records that could not be written, and that the trace has not mentioned yet. */
  #unmentioned = 0;
  #failure = "";
  /** The time of the last record, as JSON. */
  #lastTime = "0";
  #limitReached = false;

  constructor({ fd, maxBytes, failed }: TraceWriterOptions) {
    this.#fd = fd;
    this.#maxBytes = maxBytes;
    this.#failed = failed;
    this.#isFile = fstatSync(fd).isFile();
  }

  /** Accepted and not written yet. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Grows with every write that the disk has taken. */
  get writes(): number {
    return this.#writes;
  }

  get lostRecords(): number {
    return this.#lostRecords;
  }

  get limitReached(): boolean {
    return this.#limitReached;
  }

  /** Adds whole records, each with its line feed, all of them of the time `t`. */
  add(t: string, records: Buffer, count = 1): void {
    this.#lastTime = t;
    if (!this.#exceedsLimit(records.length)) return this.#enqueue(records, count);
    if (count > 1) {
      for (let from = 0; from < records.length; ) {
        const to = records.indexOf("\n", from) + 1;
        this.add(t, records.subarray(from, to));
        from = to;
      }
      return;
    }
    this.#lostRecords += 1;
    if (this.#limitReached) return;
    this.#limitReached = true;
    this.#enqueue(Buffer.from(`{"t":${t},"event":"limit","maxBytes":${this.#maxBytes}}\n`), 1);
  }

  /** Resolves when everything is written, or could not be. */
  async flushed(): Promise<void> {
    await this.#writing;
  }

  #exceedsLimit(size: number): boolean {
    const total = this.#writtenBytes + this.#waitingBytes + size;
    return this.#limitReached || total + 2 * lastRecordBytes > this.#maxBytes;
  }

  #enqueue(records: Buffer, count: number): void {
    this.#queue.push(records);
    this.#queuedRecords += count;
    this.#waitingBytes += records.length;
    this.#writing ??= this.#writeQueue();
  }

  async #writeQueue(): Promise<void> {
    while (this.#queue.length > 0) {
      const [queue, records] = [this.#queue, this.#queuedRecords];
      this.#queue = [];
      this.#queuedRecords = 0;
      const bytes = Buffer.concat(queue);
      try {
        if (this.#unmentioned > 0) await this.#write(this.#mention());
        this.#unmentioned = 0;
        await this.#write(bytes);
      } catch (error) {
        this.#lostRecords += records;
        this.#unmentioned += records;
        await this.#recover((error as Error).message); // of fs
      }
      this.#waitingBytes -= bytes.length;
    }
    this.#writing = undefined;
  }

  #mention(): Buffer {
    const message = this.#failure.slice(0, 80);
    const event = { event: "dropped", reason: "write_failed", records: this.#unmentioned, message };
    return Buffer.from(`{"t":${this.#lastTime},${JSON.stringify(event).slice(1)}\n`);
  }

  async #write(bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      try {
        const position = this.#isFile ? this.#writtenBytes + done : null;
        done += (await writeAsync(this.#fd, bytes, done, bytes.length - done, position)).bytesWritten;
        this.#writes += 1;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
        await delay(fullPipeMs);
      }
    }
    this.#writtenBytes += bytes.length;
  }

  async #recover(message: string): Promise<void> {
    if (this.#failure === "") this.#failed(message);
    this.#failure = message;
    // if this fails too, the next write overwrites the half record at the end
    if (this.#isFile) await truncateAsync(this.#fd, this.#writtenBytes).catch(() => undefined);
  }
}
