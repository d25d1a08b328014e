// The file of a trace, on the recorder's thread: records are collected in one buffer and written when it is full or
// when there is nothing else to do.

import { fstatSync, ftruncateSync, writeSync } from "node:fs";

/** Only for a pipe as the trace, which says so when it is full. */
const fullPipeMs = 20;
/** Kept free below the size limit for the record that says that it was reached. */
const lastRecordBytes = 256;
const batchBytes = 1024 * 1024;

export interface TraceOutputOptions {
  readonly fd: number;
  readonly maxBytes: number;
  /** Called once: records cannot be written. */
  readonly failed: (message: string) => void;
}

export class TraceOutput {
  /** The time of what is being recorded, as JSON. */
  now = "0";
  readonly #bytes: Buffer = Buffer.allocUnsafeSlow(batchBytes);
  readonly #fd: number;
  readonly #maxBytes: number;
  readonly #tell: (message: string) => void;
  /** Only a file can be cut back to its last whole record. */
  readonly #isFile: boolean;
  #used = 0;
  #records = 0;
  #written = 0;
  /** Records that could not be written, and have not been mentioned in the trace yet. */
  #unmentioned = 0;
  #lost = 0;
  #limitReached = false;
  #failed = "";

  constructor({ fd, maxBytes, failed }: TraceOutputOptions) {
    this.#fd = fd;
    this.#maxBytes = maxBytes;
    this.#tell = failed;
    this.#isFile = fstatSync(fd).isFile();
  }

  get written(): number {
    return this.#written;
  }

  get lost(): number {
    return this.#lost;
  }

  get limitReached(): boolean {
    return this.#limitReached;
  }

  /** Adds a record, without its line feed. */
  add(record: string): void {
    this.#addBuffer(Buffer.from(`${record}\n`, "utf8"));
  }

  /** Adds `count` records, each with its line feed. Every character stands for the byte of its number. */
  addBytes(records: string, count: number): void {
    const size = records.length;
    if (size > this.#bytes.length || this.#wouldPass(size)) {
      for (const record of records.split("\n").slice(0, -1))
        this.#addBuffer(Buffer.from(`${record}\n`, "latin1"));
      return;
    }
    if (this.#used + size > this.#bytes.length) this.flush();
    this.#used += this.#bytes.write(records, this.#used, "latin1");
    this.#records += count;
  }

  flush(): void {
    if (this.#used === 0) return;
    this.#settle(this.#write(this.#bytes.subarray(0, this.#used)));
    this.#used = 0;
  }

  #addBuffer(record: Buffer): void {
    if (this.#wouldPass(record.length)) return this.#stop();
    if (this.#used + record.length > this.#bytes.length) this.flush();
    this.#records += 1;
    if (record.length > this.#bytes.length) this.#settle(this.#write(record));
    else this.#used += record.copy(this.#bytes, this.#used);
  }

  #settle(written: boolean): void {
    if (!written) {
      this.#unmentioned += this.#records;
      this.#lost += this.#records;
    }
    this.#records = 0;
  }

  /** Whether the file would grow beyond its limit, with so many bytes more. */
  #wouldPass(size: number): boolean {
    return this.#limitReached || this.#written + this.#used + size + 2 * lastRecordBytes > this.#maxBytes;
  }

  #stop(): void {
    this.#lost += 1;
    if (this.#limitReached) return;
    if (this.#used + lastRecordBytes > this.#bytes.length) this.flush();
    const last = `{"t":${this.now},"event":"limit","maxBytes":${this.#maxBytes}}\n`;
    this.#used += this.#bytes.write(last, this.#used, "latin1");
    this.#records += 1;
    this.#limitReached = true;
    this.flush();
  }

  #write(bytes: Buffer): boolean {
    if (this.#unmentioned === 0) return this.#writeAll(bytes);
    const mention = { event: "dropped", reason: "write_failed", records: this.#unmentioned };
    const text = JSON.stringify({ ...mention, message: this.#failed.slice(0, 80) });
    if (!this.#writeAll(Buffer.from(`{"t":${this.now},${text.slice(1)}\n`, "utf8"))) return false;
    this.#unmentioned = 0;
    return this.#writeAll(bytes);
  }

  #writeAll(bytes: Buffer): boolean {
    let done = 0;
    while (done < bytes.length) {
      try {
        const position = this.#isFile ? this.#written + done : null;
        done += writeSync(this.#fd, bytes, done, bytes.length - done, position);
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code !== "EAGAIN") return this.#fail(message);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeMs);
      }
    }
    this.#written += bytes.length;
    return true;
  }

  #fail(message: string): false {
    if (this.#failed === "") this.#tell(message);
    this.#failed = message;
    try {
      if (this.#isFile) ftruncateSync(this.#fd, this.#written);
    } catch {
      // half a record stays at the end; the next write goes over it
    }
    return false;
  }
}
