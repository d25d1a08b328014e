// Keeps the last output of a terminal.

import { ByteTail } from "../base/byte-tail.ts";
import type { OutputBytes } from "./session-view.ts";

export class TerminalBytes extends ByteTail implements OutputBytes {
  generation = 0;
  undecodable = 0;

  /** Replaces everything: a snapshot is never mixed with older bytes. */
  replace(bytes: Uint8Array): void {
    this.generation += 1;
    this.clear();
    this.push(bytes);
  }

  override text(): string {
    return super.text({ complete: false });
  }

  toJSON(): unknown {
    const { received, dropped, generation, undecodable } = this;
    return { text: this.text(), received, dropped, generation, undecodable };
  }
}

/** The bytes of one chunk; undefined if it is not base64. */
export function bytesFromBase64(data: string): Uint8Array | undefined {
  let binary: string;
  try {
    binary = atob(data);
  } catch {
    return undefined;
  }
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
