// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// A TCP proxy on the loopback interface that breaks connections: it resets them, stalls them, or closes one direction.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Random } from "./random.ts";

type Fault = "reset" | "stall" | "half-close";
const faults: readonly Fault[] = ["reset", "stall", "half-close"];

export class FaultProxy {
  /** How many connections were broken, by the kind of fault. */
  readonly broken: Record<Fault, number> = { reset: 0, stall: 0, "half-close": 0 };
  port = 0;
  /** The port that it leads to. */
  target: number;
  readonly #random: Random;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((near) => this.#join(near));
  /** How many more connections may break. */
  #left = 0;
  #isDown = false;

  constructor(target: number, random: Random) {
    this.target = target;
    this.#random = random;
  }

  async listen(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  /** From now on so many connections break. Those that are open break first. */
  arm(count: number): void {
    this.#left = count;
  }

  /** Resets all connections, and new ones too until `up`. */
  down(): void {
    this.#isDown = true;
    for (const socket of this.#sockets) reset(socket);
  }

  up(): void {
    this.#isDown = false;
  }

  /** Resolves when every socket is closed. */
  async stop(): Promise<void> {
    const closed = [...this.#sockets].map(
      (socket) => new Promise<void>((resolve) => socket.once("close", () => resolve())),
    );
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await Promise.all([once(this.#server, "close"), ...closed]);
  }

  #join(near: Socket): void {
    if (this.#isDown) return void near.resetAndDestroy();
    const far = connect(this.target, "127.0.0.1");
    // enough for a request and its answer, and not for much more
    let allowance = 400 + this.#random.below(6_000);
    let isStalled = false;
    const fail = (to: Socket) => {
      this.#left--;
      const fault = this.#random.pick(faults);
      this.broken[fault]++;
      if (fault === "stall") isStalled = true;
      else if (fault === "half-close") to.end();
      else for (const socket of [near, far]) reset(socket);
    };
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      let isCut = false;
      from.on("data", (bytes: Buffer) => {
        if (isStalled || isCut) return;
        if (this.#left === 0) return void to.write(bytes);
        allowance -= bytes.length;
        if (allowance > 0) return void to.write(bytes);
        // some of it arrives before the fault, and nothing afterwards
        isCut = true;
        to.write(bytes.subarray(0, this.#random.below(bytes.length)));
        fail(to);
      });
      from.on("end", () => to.end());
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}

/**
 * Node cannot reset a socket that is just being ended: its handle is then neither reset nor closed, and the process does
 * not end but spins in its last cleanup.
 */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
