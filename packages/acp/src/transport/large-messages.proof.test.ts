// Messages of megabytes, whole and in pieces: the decoders' cost is linear in bytes, counted and not timed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, pieces } from "../../test/support/decoder-probe.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

test("a line of 1 MB that comes byte by byte is decoded once, and copied a bounded number of times (N026, G8)", () => {
  const input = utf8(`"${"x".repeat(1_000_000)}"\n`);
  const copied = countCopies(() => {
    const { events, decodedBytes } = decode("line", pieces(input, 1));
    assert.equal(events.length, 1);
    assert.equal(decodedBytes, input.length - 1);
  });
  // once into the held pieces, once into the whole
  assert.ok(copied <= 2.1 * input.length, `${copied} bytes were copied for ${input.length}`);
});

test("a line of 64 MiB, with the limit raised, in pieces of 64 KiB is decoded once and copied twice (N023, G8)", () => {
  const limit = 64 * 1024 * 1024;
  const input = Buffer.alloc(limit + 1, "x");
  input[0] = 0x22;
  input[input.length - 2] = 0x22;
  input[input.length - 1] = 0x0a;
  const copied = countCopies(() => {
    const { events, decodedBytes } = decode("line", pieces(input, 64 * 1024), { maxMessageBytes: limit });
    assert.equal(events.length, 1);
    assert.equal(decodedBytes, input.length - 1);
  });
  assert.ok(copied <= 2.1 * input.length, `${copied} bytes were copied for ${input.length}`);
});

test("64 MiB without a line feed: no byte over the limit is kept or decoded (N025, G8)", () => {
  const piece = Buffer.alloc(64 * 1024, "x");
  const limit = 8 * 1024 * 1024;
  const copied = countCopies(() => {
    const chunks = Array.from({ length: 1_024 }, () => piece);
    const { events, decodedBytes } = decode("line", chunks, { maxMessageBytes: limit });
    assert.deepEqual(events, [{ fatal: "too_large" }]);
    assert.equal(decodedBytes, 0);
  });
  assert.ok(copied <= limit + 1024 * 1024, `${copied} bytes were copied for a limit of ${limit}`);
});

test("a body of 1 MB that comes byte by byte is decoded once (N026, G8)", () => {
  const body = `"${"x".repeat(1_000_000)}"`;
  const input = utf8(`Content-Length: ${body.length}\r\n\r\n${body}`);
  const { events, decodedBytes } = decode("header", pieces(input, 1));
  assert.equal(events.length, 1);
  assert.equal(decodedBytes, input.length - 4, "the header line and the body, each once");
});

/** Counts the bytes that `set` copies, which is how the decoders move bytes. */
function countCopies(work: () => void): number {
  let copied = 0;
  const { set } = Uint8Array.prototype;
  // not a mock of node:test: that one keeps a stack trace for each of a million calls
  Uint8Array.prototype.set = function (from, at) {
    copied += from.length;
    set.call(this, from, at);
  };
  try {
    work();
  } finally {
    Uint8Array.prototype.set = set;
  }
  return copied;
}
