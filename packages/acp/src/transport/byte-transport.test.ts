import assert from "node:assert/strict";
import { test } from "node:test";
import { bytePipe } from "../../test/support/byte-pipe.ts";
import { transportContract } from "../testing/contracts/transport-contract.ts";
import { byteTransport } from "./byte-transport.ts";

const utf8 = new TextEncoder();
const framings = {
  ndjson: (text: string) => utf8.encode(`${text}\n`),
  "content-length": (text: string) => {
    const body = utf8.encode(text);
    return Buffer.concat([utf8.encode(`Content-Length: ${body.length}\r\n\r\n`), body]);
  },
} as const;

for (const framing of ["ndjson", "content-length"] as const) {
  const encode = framings[framing];
  transportContract(
    { test, assert },
    framing,
    (limits) => {
      const [a, b] = bytePipe();
      return {
        near: byteTransport(a, { framing, limits }),
        far: byteTransport(b, { framing, limits }),
        frameToNear: (text) => a.inject(encode(text)),
        bytesToNear: (bytes) => a.inject(bytes),
        halfClose: () => b.endOutput(),
        cut: () => a.cut(),
      };
    },
    { encode },
  );
}
