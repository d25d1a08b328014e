import assert from "node:assert/strict";
import { test } from "node:test";
import { webPlatform } from "../transport/byte-channel.ts";
import { nodePlatform } from "./stream-channel.ts";

const cases: Record<string, Uint8Array> = {
  empty: Buffer.from(""),
  ascii: Buffer.from('{"a":1}'),
  latin: Buffer.from("é"),
  astral: Buffer.from("😀漢字"),
  "a leading BOM": Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]),
  "U+FFFD that was sent": Buffer.from("a\ufffdb"),
  "a lone FF": Buffer.from([0x61, 0xff]),
  "C3 28": Buffer.from([0xc3, 0x28]),
  "overlong C0 AF": Buffer.from([0xc0, 0xaf]),
  "surrogate ED A0 80": Buffer.from([0xed, 0xa0, 0x80]),
  "half a character": Buffer.from([0xe2, 0x82]),
  "U+FFFD beside an invalid byte": Buffer.from([0xef, 0xbf, 0xbd, 0xff]),
  "a plain Uint8Array inside a larger buffer": new Uint8Array([0x61, 0xc3, 0xa9, 0x62]).subarray(1, 3),
};

for (const [name, bytes] of Object.entries(cases)) {
  test(`Node decodes ${name} as a browser does`, () => {
    assert.equal(nodePlatform.decode(bytes), webPlatform.decode(bytes));
  });
}

test("byte lengths are counted in UTF-8", () => {
  assert.equal(nodePlatform.byteLength("a€😀"), 8);
});
