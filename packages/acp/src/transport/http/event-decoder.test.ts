import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cutAt, decode, essence, pieces } from "../../../test/support/decoder-probe.ts";
import { defaultFrameLimits, webPlatform } from "../byte-channel.ts";
import { EventDecoder } from "./event-decoder.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const read = (input: string | Uint8Array, limits = {}) =>
  decode("event", [typeof input === "string" ? utf8(input) : input], limits).events.map((event) =>
    "message" in event ? event.message : "fault" in event ? event.fault.kind : event.fatal,
  );

test("one event is one message; lines end with LF, CR or CRLF (H12)", () => {
  for (const end of ["\n", "\r", "\r\n"]) {
    const text = [": hello", 'data: {"a":1}', "", "", 'data:{"b":2}', "event: message", "", ""].join(end);
    assert.deepEqual(read(text), [{ a: 1 }, { b: 2 }], JSON.stringify(end));
  }
});

test("the lines of one event are joined, so that printed JSON is one message (H12)", () => {
  assert.deepEqual(read('data: {\ndata:  "a": [\ndata: 1,\r\ndata:2]\rdata\ndata: }\n\n'), [{ a: [1, 2] }]);
});

test("comments, unknown fields, events of other kinds and events without data are none (H12)", () => {
  const text = [
    ":keep alive",
    "",
    "retry: 10",
    "datax: {}",
    "dat",
    "id: 3",
    "",
    "event: ping",
    'data: {"no":1}',
    "",
    "data:",
    "",
    'data: {"yes":1}',
    "",
    "",
  ].join("\n");
  assert.deepEqual(read(text), [{ yes: 1 }]);
});

test("a byte order mark before the first line is skipped, one anywhere else is not", () => {
  assert.deepEqual(read('\ufeffdata: {"a":1}\n\n'), [{ a: 1 }]);
  assert.deepEqual(read('data: {"a":1}\n\n\ufeffdata: {"b":1}\n\ndata: {"c":1}\n\n'), [{ a: 1 }, { c: 1 }]);
  for (const half of [[0xef], [0xef, 0xbb]]) {
    assert.deepEqual(read(Buffer.concat([Buffer.from(half), Buffer.from(': x\ndata: {"a":1}\n\n')])), [
      { a: 1 },
    ]);
  }
});

test("invalid JSON, invalid UTF-8 or too much nesting refuses its own event only (J6)", () => {
  const bad = Buffer.concat([Buffer.from('data: {"b":"'), Buffer.from([0xff]), Buffer.from('"}\n\n')]);
  const input = Buffer.concat([
    Buffer.from('data: {"a":1}\n\ndata: {oops\n\n'),
    bad,
    Buffer.from('data: {"c":1}\n\n'),
  ]);
  assert.deepEqual(read(input), [{ a: 1 }, "parse", "utf8", { c: 1 }]);
  assert.deepEqual(read(`data: ${"[".repeat(20)}${"]".repeat(20)}\n\ndata: {}\n\n`, { maxDepth: 10 }), [
    "too_deep",
    {},
  ]);
});

test("an event that never ended is counted and not read", () => {
  const { events } = decode("event", [utf8('data: {"a":1}\n\ndata: {"b":2}\n')]);
  assert.deepEqual(essence(events).slice(1), [{ kind: "parse", bytes: 7, cutOff: true }]);
});

test("however the bytes are cut, the same comes out", () => {
  const input = utf8(
    '\ufeff: c\r\ndata: {"a":"ü✓🙂"}\r\n\r\nid: 1\rdata: [1,\rdata: 2]\r\rdata: {oops\n\nevent: x\ndata: 1\n\ndata: {"z":1}\n\n',
  );
  const whole = essence(decode("event", [input]).events);
  assert.equal(whole.length, 4);
  fc.assert(
    fc.property(fc.array(fc.nat(input.length), { maxLength: 12 }), (places) => {
      assert.deepEqual(essence(decode("event", cutAt(input, places)).events), whole);
    }),
  );
  assert.deepEqual(essence(decode("event", pieces(input, 1)).events), whole);
});

test("events that a chunk has whole are read as those that come byte by byte, in every form and with every id", () => {
  const forms = [
    'id: 1\ndata: {"a":1}\n\n',
    'data: {"b":"ü🙂"}\n\n',
    'id: x\0y\ndata: {"c":1}\n\n',
    "\n\n: comment\n\n",
    "\n",
    'id: 4\nevent: other\ndata: {"no":1}\n\n',
    'data: {"d":\ndata: 1}\n\n',
    "id: 5\n\n",
    'data:{"e":1}\nid: 6\n\n',
    "data: {oops\n\n",
    `id: ${"7".repeat(2_000)}\ndata: {"f":1}\n\n`,
  ];
  const idAndEvents = (chunks: Iterable<Uint8Array>) => {
    const got: unknown[] = [];
    const decoder = new EventDecoder(
      {
        message: (value) => got.push([value, decoder.lastEventId]),
        reject: ({ kind }) => got.push(kind),
        fatal: (why) => got.push(why),
      },
      defaultFrameLimits,
      webPlatform,
    );
    for (const chunk of chunks) decoder.push(chunk);
    return { got, events: decoder.events, last: decoder.lastEventId };
  };
  fc.assert(
    fc.property(
      fc.array(fc.nat(forms.length - 1), { minLength: 1, maxLength: 12 }),
      fc.nat(40),
      (picked, cut) => {
        const input = utf8(picked.map((at) => forms[at]).join(""));
        const slowly = idAndEvents(pieces(input, 1));
        assert.deepEqual(idAndEvents([input]), slowly);
        assert.deepEqual(idAndEvents([input.subarray(0, cut), input.subarray(cut)]), slowly);
      },
    ),
  );
});

test("an event beyond the limit is drained and refused, and the next one arrives, however it comes (G8)", () => {
  const limits = { maxMessageBytes: 1_000 };
  const long = `{"id":7,"s":"${"x".repeat(1_200)}"}`;
  const texts = [
    `data: ${long}\n\ndata: {"next":1}\n\n`,
    `${long
      .match(/.{1,100}/g)
      ?.map((line) => `data: ${line}\n`)
      .join("")}\ndata: {"next":1}\n\n`,
  ];
  for (const text of texts) {
    for (const size of [1, 7, 100_000]) {
      const { events } = decode("event", pieces(utf8(text), size), limits);
      const [first, second] = events;
      assert.ok(first !== undefined && "fault" in first && first.fault.kind === "too_large");
      assert.match(first.fault.head, /^\{"id":7,/);
      assert.deepEqual(second, { message: { next: 1 }, text: '{"next":1}' });
    }
  }
});

test("an event, or a line, without an end closes at twice the limit and is never kept (G8)", () => {
  const limits = { maxMessageBytes: 1_000 };
  const endless = (part: string, times: number) =>
    decode("event", [utf8("data: {"), ...Array(times).fill(utf8(part))], limits, { end: false }).events;
  assert.deepEqual(endless("x".repeat(100), 50), [{ fatal: "too_large" }]);
  assert.deepEqual(endless("\ndata: y", 3_000), [{ fatal: "too_large" }]);
  // what is no data costs nothing, however long it is
  const noise = [utf8(": "), ...Array(50).fill(utf8("x".repeat(100)))];
  const field = [utf8("\nfield: "), ...Array(50).fill(utf8("x".repeat(100))), utf8('\ndata: {"a":1}\n\n')];
  assert.deepEqual(decode("event", [...noise, ...field], limits).events, [
    { message: { a: 1 }, text: '{"a":1}' },
  ]);
});

test("the last id is known only when its event is whole; one that cannot be sent back is none (H12)", () => {
  const ignore = { message: () => undefined, reject: () => undefined, fatal: () => undefined };
  const decoder = new EventDecoder(ignore, defaultFrameLimits, webPlatform);
  decoder.push(utf8("id: 1\ndata: {}\n\nid: 2\ndata: {}\n"));
  assert.deepEqual([decoder.lastEventId, decoder.isInsideEvent], ["1", true]);
  decoder.push(utf8(`\nid: a\0b\ndata: {}\n\nid: ${"9".repeat(2_000)}\ndata: {}\n\n`));
  assert.deepEqual([decoder.lastEventId, decoder.isInsideEvent], ["2", false]);
});

test("a stream that is opened again knows the last id until it gives another one (H12)", () => {
  const ignore = { message: () => undefined, reject: () => undefined, fatal: () => undefined };
  const decoder = new EventDecoder(ignore, defaultFrameLimits, webPlatform);
  decoder.lastEventId = "7";
  decoder.push(utf8(": ping\n\ndata: {}\n\n"));
  assert.equal(decoder.lastEventId, "7");
  decoder.push(utf8("id: 8\ndata: {}\n\n"));
  assert.equal(decoder.lastEventId, "8");
  decoder.push(utf8("id\ndata: {}\n\n"));
  assert.equal(decoder.lastEventId, "");
});
