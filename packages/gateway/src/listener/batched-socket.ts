// Sends the frames of one turn of the event loop together. A write for each costs more than all the rest of a message.

import type { Duplex } from "node:stream";
import type { WebSocketLike } from "@parley/acp/transport";
import type { WebSocket } from "ws";

type Sent = (error?: Error | null) => void;

/** A text frame that is whole. */
const textFrame = 0x81;

export class BatchedSocket implements WebSocketLike {
  readonly addEventListener: WebSocketLike["addEventListener"];
  readonly removeEventListener: NonNullable<WebSocketLike["removeEventListener"]>;
  readonly #socket: WebSocket;
  readonly #under: Duplex;
  #texts: string[] = [];
  #sizes: number[] = [];
  #waitingBytes = 0;
  readonly #sent = new Set<Sent>();

  /** `under` is what the frames of `socket` are written to, not compressed. */
  constructor(socket: WebSocket, under: Duplex) {
    this.#socket = socket;
    this.#under = under;
    // as: the events of `ws` have all that is read of them
    this.addEventListener = socket.addEventListener.bind(socket) as WebSocketLike["addEventListener"];
    this.removeEventListener = socket.removeEventListener.bind(socket) as typeof this.removeEventListener;
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  get bufferedAmount(): number {
    return this.#waitingBytes + this.#under.writableLength;
  }

  get binaryType(): string {
    return this.#socket.binaryType;
  }

  set binaryType(type: string) {
    // as: the transport sets one that exists
    this.#socket.binaryType = type as WebSocket["binaryType"];
  }

  send(text: string, sent?: Sent): void {
    // not earlier, so that a fast sender leaves the other connections their turn
    if (this.#texts.length === 0) setImmediate(() => this.#flush());
    const size = Buffer.byteLength(text);
    this.#texts.push(text);
    this.#sizes.push(size);
    this.#waitingBytes += size;
    if (sent !== undefined) this.#sent.add(sent);
  }

  close(code?: number, reason?: string): void {
    this.#flush();
    this.#socket.close(code, reason);
  }

  ping(): void {
    this.#socket.ping();
  }

  on(type: "pong", listener: () => void): void {
    this.#socket.on(type, listener);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  #flush(): void {
    const texts = this.#texts;
    if (texts.length === 0) return;
    const bytes = framesOf(texts, this.#sizes);
    const all = [...this.#sent];
    this.#texts = [];
    this.#sizes = [];
    this.#waitingBytes = 0;
    this.#sent.clear();
    // nothing may follow a close frame
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#under.write(bytes, (error) => {
      for (const sent of all) sent(error);
    });
  }
}

function framesOf(texts: readonly string[], sizes: readonly number[]): Buffer {
  let total = 0;
  for (const size of sizes) total += headSize(size) + size;
  const bytes = Buffer.allocUnsafe(total);
  let at = 0;
  for (let i = 0; i < texts.length; i++) {
    const size = sizes[i] ?? 0;
    at = writeHead(bytes, at, size);
    at += bytes.write(texts[i] ?? "", at, size, "utf8");
  }
  return bytes;
}

function headSize(size: number): number {
  return size < 126 ? 2 : size < 65_536 ? 4 : 10;
}

/** As in RFC 6455, 5.2. A server does not mask. */
function writeHead(bytes: Buffer, at: number, size: number): number {
  bytes[at] = textFrame;
  if (size < 126) {
    bytes[at + 1] = size;
    return at + 2;
  }
  if (size < 65_536) {
    bytes[at + 1] = 126;
    return bytes.writeUInt16BE(size, at + 2);
  }
  bytes[at + 1] = 127;
  return bytes.writeBigUInt64BE(BigInt(size), at + 2);
}
