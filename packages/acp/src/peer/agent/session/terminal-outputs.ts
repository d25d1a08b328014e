// Gives the output that a client sends by itself to the terminals of one connection.

import { isObject } from "../../../base/objects.ts";
import type { TerminalOutputPart } from "../../../model/services.ts";

type Listener = (part: TerminalOutputPart) => void;

/** How many characters of one terminal are kept for listeners that come later. */
const maxKept = 1024 * 1024;

export class TerminalOutputs {
  readonly #open = new Map<string, ReceivedOutput>();

  open(terminalId: string): ReceivedOutput {
    const output = new ReceivedOutput();
    this.#open.set(terminalId, output);
    return output;
  }

  close(terminalId: string): void {
    this.#open.delete(terminalId);
  }

  /** Whether the notification is about a terminal that is open here. */
  received(params: unknown): boolean {
    if (!isObject(params)) return false;
    const { terminalId, data, stream } = params;
    const output = typeof terminalId === "string" ? this.#open.get(terminalId) : undefined;
    if (output === undefined || typeof data !== "string") return false;
    output.push({ data, ...(stream === "stdout" || stream === "stderr" ? { stream } : {}) });
    return true;
  }
}

/** The output of one terminal, as it comes. */
export class ReceivedOutput {
  readonly #listeners = new Set<Listener>();
  #kept: TerminalOutputPart[] = [];
  #chars = 0;

  push(part: TerminalOutputPart): void {
    this.#kept.push(part);
    this.#chars += part.data.length;
    while (this.#chars > maxKept && this.#kept.length > 1)
      this.#chars -= this.#kept.shift()?.data.length ?? 0;
    for (const listener of this.#listeners) listener(part);
  }

  listen(listener: Listener): () => void {
    for (const part of this.#kept) listener(part);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
