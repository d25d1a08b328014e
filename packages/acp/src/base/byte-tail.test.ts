import assert from "node:assert/strict";
import { test } from "node:test";
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
