import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndReason } from "../jsonrpc/transport.ts";
import { watch } from "../testing/contracts/watched-transport.ts";
import type { ByteChannel, ByteReceiver } from "./byte-channel.ts";
import { type ByteTransportOptions, byteTransport } from "./byte-transport.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const bom = [0xef, 0xbb, 0xbf];
const header = 'Content-Length: 7\r\n\r\n{"a":1}';

/** Feeds a transport the chunks, then a message to send, and says what it read and wrote. */
async function exchange(
  chunks: readonly Uint8Array[],
  options: ByteTransportOptions & { readonly end?: EndReason } = {},
): Promise<{ values: unknown[]; faults: string[]; ends: (string | undefined)[]; written: string }> {
  let receiver: ByteReceiver | undefined;
  let written = "";
  const channel: ByteChannel = {
    open(given) {
      receiver = given;
    },
    write(text) {
      written += text;
      return true;
    },
    queuedBytes: () => 0,
    pause: () => undefined,
    resume: () => undefined,
    close: async () => undefined,
  };
  const transport = byteTransport(channel, options);
  const watched = watch(transport);
  await new Promise((resolve) => setImmediate(resolve));
  for (const chunk of chunks) receiver?.bytes(chunk);
  transport.send({ reply: "ü" });
  await new Promise((resolve) => setImmediate(resolve));
  if (options.end !== undefined) receiver?.ended(options.end);
  return {
    values: watched.values,
    faults: watched.faults.map(({ kind }) => kind),
    ends: watched.ends.map(({ kind }) => kind),
    written,
  };
}

test("a connection that begins with Content-Length is answered in kind, in any case and in pieces (L2, L3)", async () => {
  for (const text of [header, header.replace("Content-Length", "CONTENT-length")]) {
    for (const chunks of [[utf8(text)], [...utf8(text)].map((byte) => Uint8Array.of(byte))]) {
      const { values, written } = await exchange(chunks);
      assert.deepEqual(values, [{ a: 1 }]);
      assert.equal(written, 'Content-Length: 14\r\n\r\n{"reply":"ü"}');
    }
  }
});

test("everything else is lines, and is answered with lines (L2, Q12)", async () => {
  for (const text of ['{"a":1}\n', '\n{"a":1}\n', 'C\n{"a":1}\n', 'Content-Type: x\n{"a":1}\n']) {
    const { values, written } = await exchange([...utf8(text)].map((byte) => Uint8Array.of(byte)));
    assert.deepEqual([values, written], [[{ a: 1 }], '{"reply":"ü"}\n'], text);
  }
});

test("a header later on a connection of lines is a parse error; the message after it is read (L2, N004)", async () => {
  const { values, faults, written } = await exchange([utf8(`{"first":1}\n${header}\n`)]);
  assert.deepEqual([values, faults], [[{ first: 1 }, { a: 1 }], ["parse"]]);
  assert.match(written, /^\{"reply"/);
});

test("a byte order mark at the very beginning is dropped in either framing, later it is an error (N007)", async () => {
  for (const options of [{}, { framing: "ndjson" as const }]) {
    const lines = [...bom, ...utf8('{"a":1}\n'), ...bom, ...utf8('{"b":2}\n{"c":3}\n')];
    const { values, faults } = await exchange(
      lines.map((byte) => Uint8Array.of(byte)),
      options,
    );
    assert.deepEqual([values, faults], [[{ a: 1 }, { c: 3 }], ["parse"]]);
  }
  for (const options of [{}, { framing: "content-length" as const }]) {
    const { values } = await exchange([Uint8Array.from([...bom, ...utf8(header)])], options);
    assert.deepEqual(values, [{ a: 1 }]);
  }
});

test("with a fixed framing nothing is detected: headers are invalid lines, lines are invalid headers (L2)", async () => {
  const lines = await exchange([utf8(`${header}\n`)], { framing: "ndjson" });
  assert.deepEqual([lines.values, lines.faults], [[{ a: 1 }], ["parse"]]);
  const headers = await exchange([utf8('{"a":1}\n\n')], { framing: "content-length" });
  assert.deepEqual([headers.values, headers.ends], [[], ["protocol"]]);
});

test("configured for Content-Length it writes headers before anything was read (L3)", async () => {
  const { written } = await exchange([], { framing: "content-length" });
  assert.match(written, /^Content-Length: 14\r\n\r\n/);
});

test("input that ends while it could still become a header is judged as a line (L2, N028)", async () => {
  const cut = await exchange([utf8("Content-")], { end: { kind: "eof" } });
  assert.deepEqual([cut.faults, cut.ends], [["parse"], ["eof"]]);
  const nothing = await exchange([], { end: { kind: "eof" } });
  assert.deepEqual([nothing.faults, nothing.ends], [[], ["eof"]]);
});

test("a broken header closes the connection with protocol, reported once (L3)", async () => {
  const { ends, values } = await exchange([utf8(`${header}Content-Length: x\r\n\r\n`), utf8(header)], {
    end: { kind: "eof" },
  });
  assert.deepEqual([values, ends], [[{ a: 1 }], ["protocol"]]);
});

test("an end of input after which writing fails is reported once (T7)", async () => {
  let receiver: ByteReceiver | undefined;
  const transport = byteTransport({
    open(given) {
      receiver = given;
    },
    write: () => true,
    queuedBytes: () => 0,
    pause: () => undefined,
    resume: () => undefined,
    close: async () => undefined,
  });
  const watched = watch(transport);
  await new Promise((resolve) => setImmediate(resolve));
  receiver?.ended({ kind: "eof" });
  receiver?.ended({ kind: "closed" });
  assert.deepEqual(watched.ends, [{ kind: "eof" }]);
});
