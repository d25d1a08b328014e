import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ByteTail } from "./byte-tail.ts";

test("the tail of a short stream is all of it", () => {
  const tail = new ByteTail(16);
  tail.push(Buffer.from("one "));
  tail.push(Buffer.from("two"));
  assert.equal(tail.text(), "one two");
});

test("the tail of a long stream is its last bytes, however they were chunked", () => {
  const all = Buffer.from(Array.from({ length: 500 }, (_, index) => `line ${index}\n`).join(""));
  for (const size of [1, 7, 99, 100, 101, 1000, all.length]) {
    const tail = new ByteTail(100);
    for (let at = 0; at < all.length; at += size) tail.push(all.subarray(at, at + size));
    assert.equal(tail.text(), all.subarray(-100).toString(), `chunks of ${size}`);
  }
});

test("the tail never begins with half a character", () => {
  const all = Buffer.from("€".repeat(50));
  for (const size of [1, 2, 3, 10, all.length]) {
    const tail = new ByteTail(10);
    for (let at = 0; at < all.length; at += size) tail.push(all.subarray(at, at + size));
    assert.equal(tail.text(), "€€€", `chunks of ${size}`);
  }
});

test("a tail of zero bytes keeps nothing", () => {
  const tail = new ByteTail(0);
  tail.push(Buffer.from("secret"));
  assert.equal(tail.text(), "");
});

function tailOf(limit: number, ...chunks: (string | number[])[]): ByteTail {
  const tail = new ByteTail(limit);
  // Each chunk in a buffer that is overwritten afterwards, as the reader's is.
  for (const chunk of chunks) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk);
    tail.push(bytes);
    bytes.fill(0x21);
  }
  return tail;
}

const running = { complete: false };
const complete = { complete: true };

test("output within the limit is kept whole (C31)", () => {
  const tail = tailOf(11, "hello", " ", "world");
  assert.equal(tail.text(complete), "hello world");
  assert.equal(tail.dropped > 0, false);
  tail.push(Buffer.from("!"));
  assert.equal(tail.text(complete), "ello world!");
  assert.equal(tail.dropped > 0, true);
});

test("a limit of 4 bytes on '€€' leaves '€', truncated (N192)", () => {
  for (const chunks of [["€€"], ["€", "€"], [...Buffer.from("€€")].map((byte) => [byte])]) {
    const tail = tailOf(4, ...chunks);
    assert.equal(tail.text(complete), "€");
    assert.equal(tail.text(running), "€");
    assert.equal(tail.dropped > 0, true);
  }
});

test("a limit of 0 keeps nothing, and says so once there was something (N193)", () => {
  const tail = tailOf(0);
  assert.deepEqual([tail.text(complete), tail.dropped > 0], ["", false]);
  tail.push(Buffer.from("secret"));
  assert.deepEqual([tail.text(complete), tail.dropped > 0], ["", true]);
});

test("a character that arrives byte by byte is never seen in halves (N194)", () => {
  const tail = new ByteTail(100);
  const seen: string[] = [];
  for (const byte of Buffer.from("a€é😀.")) {
    tail.push(Uint8Array.of(byte));
    seen.push(tail.text(running));
  }
  const expected = ["a", "a", "a", "a€", "a€", "a€é", "a€é", "a€é", "a€é", "a€é😀", "a€é😀."];
  assert.deepEqual(seen, expected);
});

test("invalid bytes become U+FFFD, and only they (N195)", () => {
  assert.equal(tailOf(100, "a€", [0xff], "b", [0x80], "ü").text(running), "a€\ufffdb\ufffdü");
  assert.equal(tailOf(100, "a", [0xe2, 0x82], "b").text(running), "a\ufffdb");
});

test("a character that will never be completed becomes one U+FFFD at the end (N195)", () => {
  const tail = tailOf(100, "a", [0xe2, 0x82]);
  assert.equal(tail.text(running), "a");
  assert.equal(tail.text(complete), "a\ufffd");
});

test("output that is no text at all is not mistaken for the rest of a character", () => {
  const tail = tailOf(10, new Array<number>(1000).fill(0x80));
  assert.equal(tail.text(running), "\ufffd".repeat(7));
});

test("what is kept is the end of the text, at most a character short, however it was chunked (C31)", () => {
  // fast-check's own "binary" takes most of a second to list all code points first
  const unit = fc
    .oneof(fc.nat(0x7f), fc.nat(0x7ff), fc.nat(0xffff), fc.nat(0x10ffff))
    .map((code) => String.fromCodePoint(code));
  const pieces = fc.array(fc.string({ unit, maxLength: 20 }), { maxLength: 15 });
  const chunkSize = fc.integer({ min: 1, max: 50 });
  const limit = fc.integer({ min: 0, max: 100 });
  fc.assert(
    fc.property(pieces, chunkSize, limit, (texts, size, most) => {
      const all = texts.join("").toWellFormed();
      const bytes = Buffer.from(all);
      const tail = new ByteTail(most);
      for (let at = 0; at < bytes.length; at += size) {
        tail.push(bytes.subarray(at, at + size));
        // A look in between must not disturb anything, nor see half a character.
        if (!all.includes(tail.text(running))) assert.fail("not a part of the text");
      }
      const text = tail.text(complete);
      const kept = Buffer.byteLength(text);
      if (!all.endsWith(text)) assert.fail(`not the end of the text: ${JSON.stringify(text)}`);
      assert.equal(tail.dropped > 0, bytes.length > most);
      assert.ok(kept <= most);
      assert.ok(kept >= Math.min(bytes.length, most) - 3);
    }),
  );
});
