// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// An agent that sends much more than anybody keeps, and the memory that this takes.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Transport } from "../../src/index.ts";
import type { ServingPeer } from "../../src/server.ts";

const mebibyte = 1024 * 1024;
const chunk = "x".repeat(64 * 1024);
/** Much more than all buffers together. */
export const chunks = 3_200;

setFlagsFromString("--expose-gc");
// the flag gives it to new contexts only
const collect = runInNewContext("gc") as () => void;

/** Of this process, without what can be collected. */
export function usedMebibytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / mebibyte;
}

/** An agent that answers every request, and sends 200 MiB when it is asked to flood. */
export class Flooder {
  /** Resolves when a client does not read. */
  readonly full = Promise.withResolvers<void>();
  readonly flooded = Promise.withResolvers<void>();
  sent = 0;
  readonly connect = (transport: Transport): ServingPeer => {
    let drained = (): void => undefined;
    const flood = async () => {
      while (this.sent < chunks) {
        this.sent++;
        if (transport.send({ jsonrpc: "2.0", method: "n", params: { chunk } })) {
          // others have their turn, as with an agent that waits for its model
          if (this.sent % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
          continue;
        }
        this.full.resolve();
        await new Promise<void>((resolve) => {
          drained = resolve;
        });
      }
      this.flooded.resolve();
    };
    transport.start({
      message(value) {
        const { id, method } = value as { id?: unknown; method?: string };
        if (id !== undefined) transport.send({ jsonrpc: "2.0", id, result: { protocolVersion: 1 } });
        if (method === "flood") void flood();
      },
      idle: () => undefined,
      reject: () => undefined,
      drain: () => drained(),
      end: () => drained(),
    });
    return { close: () => transport.close() };
  };
}
