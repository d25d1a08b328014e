// What Bedrock's converse-stream sends: frames of the event stream, each with headers and two checksums.

import { crc32 } from "node:zlib";
import type { Answer } from "./fake-provider.ts";

/** One frame: lengths, checksum of these, headers, payload, checksum of everything. */
export function frame(headers: Readonly<Record<string, string>>, payload: unknown): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(8 + 4 + head.length + body.length + 4, 0);
  prelude.writeUInt32BE(head.length, 4);
  const start = Buffer.concat([prelude, checksum(prelude), head, body]);
  return Buffer.concat([start, checksum(start)]);
}

/** Type 7 is a string. */
function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([7]),
    length,
    Buffer.from(value),
  ]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}

export function event(type: string, payload: unknown): Buffer {
  return frame(
    { ":message-type": "event", ":event-type": type, ":content-type": "application/json" },
    payload,
  );
}

export function exception(type: string, message: string): Buffer {
  return frame(
    { ":message-type": "exception", ":exception-type": type, ":content-type": "application/json" },
    { message },
  );
}

/** Text, then calls. */
export function converseEvents(
  text: string,
  calls: readonly (readonly [id: string, name: string, input: unknown])[] = [],
): Buffer[] {
  const blocks = calls.flatMap(([toolUseId, name, input], index) => {
    const contentBlockIndex = index + 1;
    return [
      event("contentBlockStart", { contentBlockIndex, start: { toolUse: { toolUseId, name } } }),
      event("contentBlockDelta", { contentBlockIndex, delta: { toolUse: { input: JSON.stringify(input) } } }),
      event("contentBlockStop", { contentBlockIndex }),
    ];
  });
  return [
    event("messageStart", { role: "assistant" }),
    event("contentBlockDelta", { contentBlockIndex: 0, delta: { text } }),
    event("contentBlockStop", { contentBlockIndex: 0 }),
    ...blocks,
    event("messageStop", { stopReason: calls.length > 0 ? "tool_use" : "end_turn" }),
    event("metadata", {
      usage: {
        inputTokens: 10,
        outputTokens: 5,
        totalTokens: 115,
        cacheReadInputTokens: 100,
        cacheWriteInputTokens: 0,
      },
      metrics: { latencyMs: 1 },
    }),
  ];
}

export function eventStream(frames: readonly Buffer[]): Answer {
  return (exchange) => {
    exchange.open({ "content-type": "application/vnd.amazon.eventstream" });
    void exchange.write(Buffer.concat(frames));
    exchange.end();
  };
}
