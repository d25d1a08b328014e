import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cutAt, decode, essence, pieces } from "../../test/support/decoder-probe.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const bytes = (...parts: (string | readonly number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));
const messages = (input: Uint8Array) =>
  decode("line", [input]).events.map((event) =>
    "message" in event ? event.message : "fault" in event ? event.fault.kind : event.fatal,
  );

test("lines end at 0x0A alone: CR, U+2028, U+2029, U+0085 and vertical tabs do not end one (T2, N006, N008, N009)", () => {
  assert.deepEqual(messages(utf8('{"a":"\u2028\u2029\u0085"}\n')), [{ a: "\u2028\u2029\u0085" }]);
  assert.deepEqual(messages(utf8('{"a":1}\r\n{"b":2}\r\n')), [{ a: 1 }, { b: 2 }]);
  assert.deepEqual(messages(utf8('{"a":1}\r{"b":2}\n{"c":3}\n')), ["parse", { c: 3 }]);
  assert.deepEqual(messages(utf8('{"a":1}\v{"b":2}\n')), ["parse"]);
});

test("blank lines and lines of spaces are skipped (T2, N005)", () => {
  assert.deepEqual(messages(utf8('\n\n  \t \r\n{"a":1}\n\n\n{"b":2}\n \n')), [{ a: 1 }, { b: 2 }]);
});

test("the last line is read without a line feed; a piece of one is counted, not answered (T2, N027, N028)", () => {
  assert.deepEqual(messages(utf8('{"a":1}\n{"b":2}')), [{ a: 1 }, { b: 2 }]);
  const { events } = decode("line", [utf8('{"a":1}\n{"b":')]);
  assert.deepEqual(essence(events).slice(1), [{ kind: "parse", bytes: 5, cutOff: true }]);
  assert.deepEqual(essence(decode("line", [bytes([0x22, 0xc3])]).events), [
    { kind: "utf8", bytes: 2, cutOff: true },
  ]);
  assert.deepEqual(decode("line", [utf8(" \r")]).events, []);
});

test("two objects on a line, and an object over several lines, are refused, never run (N010, N011)", () => {
  assert.deepEqual(messages(utf8('{"a":1}{"b":2}\n{"c":3}\n')), ["parse", { c: 3 }]);
  assert.deepEqual(messages(utf8('{\n"a":1\n}\n{"c":3}\n')), ["parse", "parse", "parse", { c: 3 }]);
});

test("invalid UTF-8 refuses its own line only and is never replaced by U+FFFD (N012, N013, N014)", () => {
  for (const bad of [
    [0xff],
    [0xc3, 0x28],
    [0xc0, 0xaf],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xe2, 0x82],
  ]) {
    assert.deepEqual(messages(bytes('{"a":1}\n{"b":"', bad, '"}\n{"c":"\ufffd"}\n')), [
      { a: 1 },
      "utf8",
      { c: "\ufffd" },
    ]);
  }
});

test("a raw NUL, NaN, trailing commas, comments and single quotes are not JSON (N016, N019-N022)", () => {
  for (const text of ['{"a":"\0"}', '{"a":NaN}', '{"a":1,}', '{/**/"a":1}', "{'a':1}"]) {
    assert.deepEqual(messages(utf8(`${text}\n{"ok":1}\n`)), ["parse", { ok: 1 }], text);
  }
});

test("UTF-16 input breaks its own lines only; the second line after it is read (N018)", () => {
  const input = bytes([...Buffer.from('{"a":1}\n', "utf16le")], '{"spoilt":1}\n{"ok":1}\n');
  assert.deepEqual(messages(input), ["parse", "parse", { ok: 1 }]);
});

test("a line of exactly the limit is read, one byte more is refused with its size and the next line is read (N023, N024)", () => {
  const line = (size: number) => `"${"x".repeat(size - 2)}"\n`;
  for (const size of [1, 7, 64, 1_000]) {
    const input = utf8(`${line(100)}${line(101)}${line(200)}"ok"\n`);
    const { events } = decode("line", pieces(input, size), { maxMessageBytes: 100 });
    assert.deepEqual(essence(events).slice(1, -1), [
      { kind: "too_large", bytes: 101, cutOff: false },
      { kind: "too_large", bytes: 200, cutOff: false },
    ]);
    assert.deepEqual(
      events.filter((event) => "message" in event).map(({ text }) => text.length),
      [100, 4],
    );
  }
});

test("a line beyond twice the limit ends the stream, however it was cut (N025)", () => {
  const input = utf8(`"ok"\n"${"x".repeat(250)}"\n"never"\n`);
  for (const size of [1, 10, 100, 1_000]) {
    const { events } = decode("line", pieces(input, size), { maxMessageBytes: 100 });
    assert.deepEqual(events, [{ message: "ok", text: '"ok"' }, { fatal: "too_large" }], `pieces of ${size}`);
  }
  const endless = decode("line", pieces(utf8("x".repeat(1_000)), 50), { maxMessageBytes: 100 });
  assert.deepEqual(endless.events, [{ fatal: "too_large" }]);
});

test("the head of a line over the limit shows its id, also when its first 64 KiB end inside a character (N024)", () => {
  const start = '{"id":7,"method":"m","params":"';
  for (const pad of ["", "x", "xx"]) {
    const input = utf8(`${start}${pad}${"€".repeat(100_000)}"}\n`);
    for (const size of [1_000, 65_536, input.length]) {
      const { events } = decode("line", pieces(input, size), { maxMessageBytes: 200_000 });
      const [event] = events;
      assert.ok(event !== undefined && "fault" in event);
      assert.ok(event.fault.head.startsWith(start));
      assert.ok(event.fault.head.length <= 64 * 1024);
      assert.equal(event.fault.bytes, input.length - 1);
    }
  }
});

const word = fc.oneof(
  fc.json({ maxDepth: 2 }).map(utf8),
  fc.constantFrom(
    ...["", " ", "\r", '{"a":"ü✓🙂\u2028"}', "{", "nonsense", '"'].map(utf8),
    Uint8Array.of(0xff),
    Uint8Array.of(0x22, 0xc3, 0x22),
    Uint8Array.of(0xef, 0xbb, 0xbf),
  ),
  fc.integer({ min: 50, max: 130 }).map((size) => utf8(`"${"x".repeat(size)}"`)),
  fc.uint8Array({ maxLength: 12 }),
);
const stream = fc.tuple(fc.array(word, { maxLength: 12 }), fc.boolean()).map(([lines, isEnded]) => {
  const parts = lines.flatMap((line) => [line, Uint8Array.of(0x0a)]);
  return new Uint8Array(Buffer.concat(isEnded ? parts : parts.slice(0, -1)));
});
const places = fc.array(fc.nat(400), { maxLength: 30 });

test("any cut of the same bytes gives the same messages and faults (T5)", () => {
  const limits = { maxMessageBytes: 64, maxDepth: 3 };
  fc.assert(
    fc.property(stream, places, (input, cuts) => {
      const whole = essence(decode("line", [input], limits).events);
      assert.deepEqual(essence(decode("line", cutAt(input, cuts), limits).events), whole);
      assert.deepEqual(essence(decode("line", pieces(input, 1), limits).events), whole);
    }),
    { numRuns: 400 },
  );
});

test("a line cut at every byte, with characters of one to four bytes, arrives whole (T5)", () => {
  const input = utf8('{"s":"aü€🙂"}\n');
  for (let at = 0; at <= input.length; at++) {
    assert.deepEqual(decode("line", cutAt(input, [at])).events, [
      { message: { s: "aü€🙂" }, text: '{"s":"aü€🙂"}' },
    ]);
  }
});

test("a block of lines is decoded once, however many lines it has", () => {
  const { events, decodes, decodedBytes } = decode("line", [utf8('{"n":1}\n'.repeat(1_000))]);
  assert.deepEqual([events.length, decodes, decodedBytes], [1_000, 1, 8_000]);
});
