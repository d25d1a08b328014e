// Connects the fuzzer with a subject: by memory, or by bytes in chunks of any size.

import { byteTransport, memoryPair, type Transport } from "@parley/acp/transport";
import { bytePipe } from "../../../acp/test/support/byte-pipe.ts";
import type { Random } from "../../../acp/test/support/random.ts";

export interface Wire {
  /** The subject's end. */
  readonly transport: Transport;
  /** The longest frame that the subject reads, in characters. */
  readonly maxChars: number;
  /** Calls back with each message of the subject, and at its end. */
  open(message: (text: string) => void, ended: () => void): void;
  send(frame: string): void;
  close(): Promise<void>;
}

export function memoryWire(): Wire {
  const [near, far] = memoryPair();
  return {
    transport: far,
    maxChars: 32 * 1024 * 1024,
    open(message, ended) {
      near.start({
        message: (_value, text) => message(text),
        idle: () => undefined,
        reject: ({ head }) => message(head),
        drain: () => undefined,
        end: ended,
      });
    },
    send: (frame) => void near.send({}, frame),
    close: () => near.close(),
  };
}

/** Half of `maxFrameChars`, so that long frames are refused and none ends the connection. */
const maxMessageBytes = 400_000;

export function byteWire(random: Random): Wire {
  const [near, far] = bytePipe();
  const encoder = new TextEncoder();
  return {
    // the fuzzer is read by hand, so that these limits hold for the subject alone
    transport: byteTransport(far, { framing: "ndjson", limits: { maxMessageBytes } }),
    maxChars: maxMessageBytes,
    open(message, ended) {
      let rest = "";
      const decoder = new TextDecoder();
      near.open({
        bytes(chunk) {
          const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines) message(line);
        },
        drained: () => undefined,
        ended,
      });
    },
    send(frame) {
      const bytes = encoder.encode(`${frame}\n`);
      const size = random.chance(0.5) ? bytes.length : 1 + random.below(200_000);
      for (let from = 0; from < bytes.length; from += size) far.inject(bytes.subarray(from, from + size));
    },
    close: () => near.close(),
  };
}
