import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cutAt, decode, essence, pieces } from "../../test/support/decoder-probe.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const framed = (text: string, headers = "") => {
  const body = utf8(text);
  return Buffer.concat([utf8(`${headers}Content-Length: ${body.length}\r\n\r\n`), body]);
};
const texts = (input: Uint8Array) =>
  decode("header", [input], {}, { end: false }).events.map((event) =>
    "message" in event ? event.text : "fault" in event ? event.fault.kind : event.fatal,
  );

test("the length counts bytes, not characters (L1)", () => {
  const input = Buffer.concat([framed('{"s":"ü€🙂"}'), framed('{"n":1}')]);
  assert.deepEqual(texts(input), ['{"s":"ü€🙂"}', '{"n":1}']);
});

test("header names are compared without case, other headers are skipped, LF alone ends a header too (L3)", () => {
  assert.deepEqual(texts(utf8('content-LENGTH:7\r\n\r\n{"a":1}')), ['{"a":1}']);
  assert.deepEqual(texts(framed('{"a":1}', "Content-Type: application/json; charset=utf-8\r\nX: y\r\n")), [
    '{"a":1}',
  ]);
  assert.deepEqual(texts(utf8('Content-Length: 7 \n\n{"a":1}')), ['{"a":1}']);
});

test("a message may contain line breaks and be followed by blank lines", () => {
  assert.deepEqual(texts(Buffer.concat([framed('{\n"a": 1\r\n}'), utf8("\r\n\n"), framed("[]")])), [
    '{\n"a": 1\r\n}',
    "[]",
  ]);
});

test("a missing, repeated or unreadable length, or headers without end, close the connection (L3)", () => {
  const bad = [
    "Content-Type: x\r\n\r\n{}",
    "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "Content-Length: 2, 2\r\n\r\n{}",
    "Content-Length: two\r\n\r\n{}",
    "Content-Length: -2\r\n\r\n{}",
    "Content-Length: 0x2\r\n\r\n{}",
    "Content-Length:\r\n\r\n{}",
    "Content-Length: 1e1\r\n\r\n{}",
    "Content-Length: 9999999999999999999999\r\n\r\n{}",
    `X: ${"x".repeat(9_000)}\r\n`,
    "X: y\r\n".repeat(100),
    '{"jsonrpc":"2.0"}\n\n',
  ];
  for (const text of bad) {
    for (const size of [1, 5, 20_000]) {
      const { events } = decode("header", pieces(utf8(`${text}\r\n`), size), {}, { end: true });
      assert.deepEqual(events, [{ fatal: "protocol" }], JSON.stringify(text.slice(0, 60)));
    }
  }
});

test("an empty or blank body, broken JSON and invalid UTF-8 are refused, and the next message is read (J6)", () => {
  const bad = Buffer.concat([utf8("Content-Length: 3\r\n\r\n"), Buffer.from([0x22, 0xff, 0x22])]);
  const input = Buffer.concat([framed(""), framed("  "), framed("{oops"), bad, framed("[]")]);
  assert.deepEqual(texts(input), ["parse", "parse", "parse", "utf8", "[]"]);
});

test("exactly the limit is read, more is drained and refused, more than twice announced closes (N023, N024)", () => {
  const body = (size: number) => framed(`"${"x".repeat(size - 2)}"`);
  for (const size of [1, 7, 1_000]) {
    const input = Buffer.concat([
      body(100),
      body(101),
      body(200),
      framed('"ok"'),
      body(201),
      framed('"never"'),
    ]);
    const { events } = decode("header", pieces(input, size), { maxMessageBytes: 100 });
    assert.deepEqual(essence(events).slice(1, 3), [
      { kind: "too_large", bytes: 101, cutOff: false },
      { kind: "too_large", bytes: 200, cutOff: false },
    ]);
    assert.deepEqual(events.slice(3), [{ message: "ok", text: '"ok"' }, { fatal: "too_large" }]);
  }
});

test("the head of a message over the limit shows its id, also when it is cut inside a character (N024)", () => {
  const start = '{"id":7,"method":"m","params":"';
  for (const pad of ["", "x", "xx"]) {
    const input = framed(`${start}${pad}${"€".repeat(100_000)}"}`);
    for (const size of [1_000, 65_536, input.length]) {
      const [event] = decode("header", pieces(input, size), { maxMessageBytes: 200_000 }).events;
      assert.ok(event !== undefined && "fault" in event);
      assert.ok(event.fault.head.startsWith(start));
    }
  }
});

test("an end of input inside headers or a body is counted, not answered (N028)", () => {
  for (const text of [
    "Content-Le",
    "Content-Length: 5\r\n",
    "Content-Length: 5\r\n\r\n",
    'Content-Length: 5\r\n\r\n"ab',
  ]) {
    const { events } = decode("header", [utf8(text)]);
    assert.equal(events.length, 1, text);
    assert.equal(essence(events)[0] && (essence(events)[0] as { cutOff: boolean }).cutOff, true, text);
  }
  assert.deepEqual(decode("header", [framed("[]"), utf8("\r\n")]).events.length, 1);
});

test("any cut of the same bytes gives the same messages and faults (T5, L1)", () => {
  const frame = fc.oneof(
    fc.json({ maxDepth: 2 }).map((text) => framed(text)),
    fc.constantFrom(
      framed('{"s":"ü✓🙂"}'),
      framed(""),
      framed("{oops"),
      utf8("\r\n"),
      utf8("Content-Length: x\r\n\r\n"),
    ),
    fc.integer({ min: 50, max: 150 }).map((size) => framed(`"${"x".repeat(size)}"`)),
    fc.uint8Array({ maxLength: 8 }),
  );
  const limits = { maxMessageBytes: 64, maxDepth: 3 };
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 8 }),
      fc.array(fc.nat(400), { maxLength: 20 }),
      (frames, cuts) => {
        const input = new Uint8Array(Buffer.concat(frames));
        const whole = essence(decode("header", [input], limits).events);
        assert.deepEqual(essence(decode("header", cutAt(input, cuts), limits).events), whole);
        assert.deepEqual(essence(decode("header", pieces(input, 1), limits).events), whole);
      },
    ),
    { numRuns: 400 },
  );
});
