// Node's text functions; decoding first and checking for U+FFFD afterwards is the fastest (measured on Node 24).

import { Buffer, isUtf8 } from "node:buffer";
import type { TextPlatform } from "../transport/byte-channel.ts";

/** The text functions of Node, which are the fastest there, for byte transports and sockets. */
export const nodePlatform: TextPlatform = {
  decode(bytes) {
    const buffer = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const text = buffer.toString("utf8");
    // invalid sequences become U+FFFD, which may also have been sent: only then check the bytes
    return text.includes("\ufffd") && !isUtf8(buffer) ? undefined : text;
  },
  byteLength: (text) => Buffer.byteLength(text, "utf8"),
  defer: (callback) => process.nextTick(callback),
};
