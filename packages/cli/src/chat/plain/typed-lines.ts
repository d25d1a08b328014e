// Lines that the user types, or that come through a pipe: for prompts and, while one is open, for a question.

import { createInterface, type Interface } from "node:readline";
import type { QuestionLines } from "../../questions/ask-plainly.ts";

export interface LineInput extends QuestionLines {
  /** Whether a person types. */
  readonly isTyped: boolean;
  /** The next line that is no answer to a question. */
  next(): string | undefined;
  /** Whether there are no more lines. */
  readonly isOver: boolean;
  /** Shows the sign that a prompt can be typed. */
  invite(): void;
  close(): void;
}

export interface LineListener {
  /** There is a line, or the input has ended. */
  changed(): void;
  /** Ctrl-C. */
  interrupt(): void;
}

const sign = "> ";

export class TypedLines implements LineInput {
  readonly isTyped = process.stdin.isTTY === true;
  /** Whether Ctrl-C comes as a key, not as a signal. */
  readonly #isRaw = this.isTyped && process.env["TERM"] !== "dumb";
  readonly #listener: LineListener;
  readonly #waiting: string[] = [];
  #lines: Interface;
  #answer: ((text: string | undefined) => void) | undefined;
  #isSuspended = false;
  #hasEnded = false;

  constructor(listener: LineListener) {
    this.#listener = listener;
    if (!this.#isRaw) process.on("SIGINT", this.#interrupted);
    this.#lines = this.#open();
  }

  get isOver(): boolean {
    return this.#hasEnded && this.#waiting.length === 0;
  }

  next(): string | undefined {
    return this.#waiting.shift();
  }

  /** What is typed and not finished. */
  get unfinished(): string {
    return this.isTyped && this.#answer === undefined ? this.#lines.line : "";
  }

  /** Puts a text into the line that is typed. */
  put(text: string): void {
    this.#lines.write(text);
  }

  invite(): void {
    if (this.#answer === undefined && !this.#isSuspended && this.isTyped) this.#lines.prompt(true);
  }

  ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
    if (signal?.aborted) return Promise.resolve(undefined);
    // a pipe is ahead of us
    const waiting = this.isTyped ? undefined : this.#waiting.shift();
    if (waiting !== undefined || this.#hasEnded) {
      process.stdout.write(`${question}${waiting ?? ""}\n`);
      return Promise.resolve(waiting);
    }
    // what was typed before the question is no answer to it
    const before = this.#lines.line;
    if (before !== "") this.#lines.write(null, { ctrl: true, name: "u" });
    process.stdout.write(`${this.isTyped ? "\r" : ""}${question}`);
    return new Promise((resolve) => {
      const withdrawn = () => this.#answer?.(undefined);
      this.#answer = (text) => {
        this.#answer = undefined;
        signal?.removeEventListener("abort", withdrawn);
        if (text === undefined) process.stdout.write("\n");
        resolve(text);
        if (before !== "" && !this.#hasEnded) this.#lines.write(before);
      };
      signal?.addEventListener("abort", withdrawn, { once: true });
    });
  }

  async suspend<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#isSuspended = true;
    this.#lines.close();
    try {
      return await work();
    } finally {
      this.#isSuspended = false;
      this.#lines = this.#open();
    }
  }

  readonly #interrupted = (): void => this.#listener.interrupt();

  close(): void {
    this.#isSuspended = true;
    process.off("SIGINT", this.#interrupted);
    this.#lines.close();
    process.stdin.pause();
  }

  #open(): Interface {
    const lines = createInterface({
      input: process.stdin,
      output: this.isTyped ? process.stdout : undefined,
      terminal: this.#isRaw,
      prompt: sign,
    });
    lines.on("line", (text) => {
      if (this.#answer !== undefined) return this.#answer(text);
      this.#waiting.push(text);
      this.#listener.changed();
    });
    lines.on("SIGINT", () => this.#listener.interrupt());
    lines.on("close", () => {
      if (this.#isSuspended) return;
      this.#hasEnded = true;
      this.#answer?.(undefined);
      this.#listener.changed();
    });
    return lines;
  }
}
