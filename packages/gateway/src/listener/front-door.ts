// Accepts connections on one port and tells by their first bytes what they speak: TLS, HTTP/2 or HTTP/1.1.

import { createServer, type Server, type Socket } from "node:net";

export interface DoorLimits {
  /** Open sockets. */
  readonly maxSockets: number;
  /** Sockets that have not sent a request that was let in. The oldest make room. */
  readonly maxStrangers: number;
  /** How long a socket may take until its first request was let in, in milliseconds. */
  readonly strangerMs: number;
}

export interface DoorTargets {
  /** Undefined without a certificate. */
  readonly tls?: (socket: Socket) => void;
  /** Takes clients that speak without TLS where there is a certificate. */
  plain(socket: Socket): void;
  http1(socket: Socket): void;
  http2(socket: Socket): void;
}

const tlsHandshake = 0x16;
const http2Preface = "PRI ";

interface Stranger {
  readonly socket: Socket;
  readonly timer: NodeJS.Timeout;
}

type Peer = Pick<Socket, "remoteAddress" | "remotePort">;

/** A socket and the TLS socket on top of it have the same peer. */
function keyOf({ remoteAddress, remotePort }: Peer): string {
  return `${remoteAddress} ${remotePort}`;
}

/** The port, and the sockets behind it. */
export class FrontDoor {
  readonly server: Server;
  readonly #limits: DoorLimits;
  readonly #targets: DoorTargets;
  readonly #sockets = new Set<Socket>();
  readonly #strangers = new Map<string, Stranger>();

  constructor(limits: DoorLimits, targets: DoorTargets) {
    this.#limits = limits;
    this.#targets = targets;
    this.server = createServer((socket) => this.#enter(socket));
    this.server.maxConnections = limits.maxSockets;
  }

  /** A request of this socket was let in. */
  known(socket: Peer): void {
    this.#know(keyOf(socket));
  }

  #know(key: string): void {
    clearTimeout(this.#strangers.get(key)?.timer);
    this.#strangers.delete(key);
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #enter(socket: Socket): void {
    const { maxStrangers, strangerMs } = this.#limits;
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    const timer = setTimeout(() => socket.destroy(), strangerMs);
    timer.unref();
    const key = keyOf(socket);
    this.#strangers.set(key, { socket, timer });
    socket.once("close", () => {
      if (this.#strangers.get(key)?.socket === socket) this.#know(key);
      this.#sockets.delete(socket);
    });
    // a reset is not our failure
    socket.on("error", () => undefined);
    for (const [oldest, stranger] of this.#strangers) {
      if (this.#strangers.size <= maxStrangers) break;
      this.#know(oldest);
      stranger.socket.destroy();
    }
    this.#sniff(socket, Buffer.alloc(0));
  }

  #sniff(socket: Socket, before: Buffer): void {
    socket.once("data", (chunk: Buffer) => {
      socket.pause();
      const bytes = Buffer.concat([before, chunk]);
      const head = bytes.toString("latin1", 0, http2Preface.length);
      if (head.length < http2Preface.length && http2Preface.startsWith(head)) {
        this.#sniff(socket, bytes);
        socket.resume();
        return;
      }
      socket.unshift(bytes);
      this.#pass(socket, bytes[0] === tlsHandshake, head === http2Preface);
    });
  }

  #pass(socket: Socket, isTls: boolean, isHttp2: boolean): void {
    const { tls, plain, http1, http2 } = this.#targets;
    if (isTls && tls !== undefined) return tls(socket);
    if (isTls) return void socket.destroy();
    if (tls !== undefined) return plain(socket);
    if (isHttp2) return http2(socket);
    http1(socket);
    // it listens for data, and does not resume what was paused
    socket.resume();
  }
}
