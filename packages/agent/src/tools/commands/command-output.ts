// Counts a command's output, stores it in a file once it is too long for the model, and converts it to plain text.

import { closeSync, writeSync } from "node:fs";
import type { OutputFolder } from "../base/output-folder.ts";
import { maxBytes, maxLines } from "../base/truncation.ts";

/** Limits the disk space that a command can use. */
const maxFileBytes = 256 * 1024 * 1024;
/** Counting lines beyond this would slow the command down. */
const maxCountedBytes = 2 * 1024 * 1024;

export class TerminalSnapshot {
  readonly #folder: OutputFolder;
  #held: Uint8Array[] = [];
  #file: { readonly path: string; readonly fd: number } | undefined;
  #isWriting = true;
  #isClosed = false;
  #written = 0;
  #bytes = 0;
  #lineFeeds = 0;
  #endsLine = true;

  constructor(folder: OutputFolder) {
    this.#folder = folder;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Undefined when there is too much to count. */
  get lines(): number | undefined {
    return this.#bytes > maxCountedBytes ? undefined : this.#lineFeeds + (this.#endsLine ? 0 : 1);
  }

  /** The file, if any; `isWhole` is false when output is missing from it. */
  get file(): { readonly path: string; readonly isWhole: boolean } | undefined {
    return this.#file && { path: this.#file.path, isWhole: this.#written === this.#bytes };
  }

  push(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#isClosed) return;
    this.#bytes += bytes.length;
    if (this.#bytes <= maxCountedBytes) this.#lineFeeds += countLineFeeds(bytes);
    this.#endsLine = bytes.at(-1) === 0x0a;
    if (this.#file === undefined && this.#isWriting) {
      this.#held.push(Buffer.from(bytes));
      if (this.#bytes > maxBytes || this.#lineFeeds > maxLines) this.#open();
    } else this.#write(bytes);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#held = [];
    if (this.#file !== undefined) closeSync(this.#file.fd);
  }

  #open(): void {
    try {
      this.#file = this.#folder.create("output.txt");
    } catch {
      // it cannot be stored: the result says that only the end was kept
      this.#isWriting = false;
    }
    for (const bytes of this.#held) this.#write(bytes);
    this.#held = [];
  }

  /** Synchronous, so that a flood of output waits instead of filling memory. */
  #write(bytes: Uint8Array): void {
    if (this.#file === undefined || !this.#isWriting) return;
    if (this.#written + bytes.length > maxFileBytes) {
      this.#isWriting = false;
      return;
    }
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file.fd, bytes, at);
      this.#written += bytes.length;
    } catch {
      // the disk is full: keep what was written
      this.#isWriting = false;
    }
  }
}

function countLineFeeds(bytes: Uint8Array): number {
  let count = 0;
  // faster than indexOf, since lines are short
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === 0x0a) count += 1;
  return count;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const controls = /[\u0000-\u0008\u000b-\u000c\u000e-\u001f\u007f]/g;

export function plainOutput(output: string): string {
  const text = output.replace(escapes, "");
  const lines = text.includes("\r") ? text.split("\n").map(lastWritten).join("\n") : text;
  return lines.replace(controls, "");
}

function lastWritten(line: string): string {
  const end = line.endsWith("\r") ? line.replace(/\r+$/, "") : line;
  return end.slice(end.lastIndexOf("\r") + 1);
}
