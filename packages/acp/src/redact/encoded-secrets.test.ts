import assert from "node:assert/strict";
import { test } from "node:test";
import { redactor, streamRedactor } from "@parley/acp/redact";
import fc from "fast-check";

const secret = "birch-lake/7&<x>%";
const hex = (letter: string) => letter.charCodeAt(0).toString(16);
const named: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "/": "&sol;" };

/** Ways to write one ASCII character. */
const encodings: Readonly<Record<string, (letter: string) => string>> = {
  plain: (letter) => letter,
  percent: (letter) => `%${hex(letter)}`,
  "percent, upper case": (letter) => `%${hex(letter).toUpperCase()}`,
  "percent, twice": (letter) => `%25${hex(letter)}`,
  "percent, encoded digits": (letter) => `%&#${hex(letter).charCodeAt(0)};${hex(letter).slice(1)}`,
  "decimal entity": (letter) => `&#${letter.charCodeAt(0)};`,
  "hexadecimal entity": (letter) => `&#x00${hex(letter).toUpperCase()};`,
  "entity, twice": (letter) => `&amp;#${letter.charCodeAt(0)};`,
  "named entity": (letter) => named[letter] ?? letter,
  "unicode escape": (letter) => `\\u00${hex(letter)}`,
  "unicode escape in JSON in JSON": (letter) => `\\\\\\\\u00${hex(letter)}`,
  "braced escape": (letter) => `\\u{${hex(letter)}}`,
  "hexadecimal escape": (letter) => `\\x${hex(letter)}`,
};
const breaks: Readonly<Record<string, string>> = {
  none: "",
  wrapped: "\n",
  indented: "\r\n      ",
  "quoted-printable": "=\r\n",
  "continued in a shell": " \\\n  ",
  "escaped in JSON": "\\n\\t",
};

for (const [name, encode] of Object.entries(encodings)) {
  test(`V14 a secret is found in this encoding throughout: ${name}`, () => {
    const text = [...secret].map(encode).join("");
    assert.equal(redactor({ secrets: [secret] }).text(`it is ${text}, or so`), "it is [secret 1], or so");
  });
}

for (const [name, between] of Object.entries(breaks)) {
  test(`V14 a secret is found when it is broken over lines: ${name}`, () => {
    for (const given of [secret, "correct horse battery", "wren=nest+seven=7"]) {
      for (const size of [1, 3, 8]) {
        const text = (given.match(new RegExp(`.{1,${size}}`, "gs")) ?? []).join(between);
        const clean = streamRedactor([given]).text(`it is (${text}), or so`);
        assert.equal(clean, "it is ([secret 1]), or so");
      }
    }
  });
}

test("V14 hexadecimal bytes are found, also when they are broken over lines", () => {
  const bytes = [...secret].map(hex).join("");
  const clean = streamRedactor([secret]);
  for (const text of [bytes, bytes.toUpperCase(), bytes.replaceAll(/.{10}/g, "$&\n")])
    assert.equal(clean.text(`is ${text}.`), "is [secret 1].");
});

test("V14 base64 is found when it is broken over lines, and quoted-printable text with its own escapes", () => {
  const key = "birch-lake-7-and-some-more-of-it";
  const lines = btoa(`x${key}`).replaceAll(/.{10}/g, "$&\r\n");
  const clean = streamRedactor([key, "wren=nest=7"]);
  assert.match(clean.text(lines), /^.{1,2}\[secret 1\].{0,4}\s*$/);
  assert.equal(clean.text("is wren=3Dnest=\r\n=3D7."), "is [secret 2].");
});

test("V14 a secret with other letters is found in the encodings of its bytes and of its characters", () => {
  const given = "über-größe-🙂-7";
  const bytes = [...new TextEncoder().encode(given)].map((byte) => byte.toString(16).padStart(2, "0"));
  const units = given.split("").map((unit) => unit.charCodeAt(0));
  for (const text of [
    bytes.map((byte) => `%${byte}`).join(""),
    bytes.map((byte) => `\\x${byte}`).join(""),
    units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join(""),
    [...given].map((letter) => `&#${letter.codePointAt(0)};`).join(""),
    [...given].map((letter, at) => (at % 2 === 0 ? encodeURIComponent(letter) : letter)).join("\n"),
  ]) {
    assert.equal(streamRedactor([given]).text(`is ${text}.`), "is [secret 1].", text);
  }
});

test("V14 words that only together are a secret stay, unless a line break is between them", () => {
  const clean = streamRedactor(["therapist-7"]);
  assert.equal(clean.text("100% the rapist-7 & co"), "100% the rapist-7 & co");
  assert.equal(clean.text("the\n  rapist-7"), "[secret 1]");
});

test("a text without secrets is not changed by decoding", () => {
  const clean = redactor({ secrets: [secret] });
  for (const text of ["100% &amp; \\u0041\n=3D %41", "C:\\new\\table\n%", "a=\n&#99999999999; \\u{110000}"])
    assert.equal(clean.text(text), text);
});

const letter = fc.constantFrom(...secret, ..."azAZ09~!$'()*,:@_;{}|^`#?. -");
const written = fc.record({
  encode: fc.constantFrom(...Object.values(encodings)),
  between: fc.oneof({ weight: 4, arbitrary: fc.constant("") }, fc.constantFrom(...Object.values(breaks))),
});
const cases = fc
  .array(letter, { minLength: 16, maxLength: 40 })
  .map((letters) => `k${letters.join("")}k`)
  .filter((given) => given.replaceAll(/\s/g, "").length >= 12)
  .chain((given) =>
    fc.record({
      given: fc.constant(given),
      ways: fc.array(written, { minLength: given.length, maxLength: given.length }),
      size: fc.integer({ min: 1, max: 30 }),
    }),
  );

/** The text, its first letter without a line break in front. */
const mixed = (given: string, ways: readonly { encode: (letter: string) => string; between: string }[]) =>
  [...given].map((each, at) => (at === 0 ? "" : ways[at]?.between) + (ways[at]?.encode(each) ?? "")).join("");

test("V14 TH25 whatever mixture of encodings and line breaks, a secret does not survive", () => {
  fc.assert(
    fc.property(cases, ({ given, ways }) => {
      const clean = redactor({ secrets: [given], names: false });
      assert.equal(clean.text(`it is (${mixed(given, ways)}).`), "it is ([secret 1]).");
    }),
    { numRuns: 500 },
  );
});

interface Chunk {
  readonly update: { readonly content: { readonly text: string } };
}

test("V14 whatever mixture, a secret in pieces does not survive, however it is cut", () => {
  const chunk = (text: string) => ({
    kind: "update",
    update: { sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text } },
  });
  const textOf = (items: readonly unknown[]) =>
    items.map((item) => (item as Chunk).update.content.text).join("");
  fc.assert(
    fc.property(cases, ({ given, ways, size }) => {
      const whole = `it is (${mixed(given, ways)}).`;
      const pieces = (whole.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []).map(chunk);
      const live = streamRedactor<object>([given]);
      const shown = [...pieces.flatMap((piece) => live.next(piece)), ...live.end()];
      assert.equal(textOf(shown), "it is ([secret 1]).");
      const kept = redactor({ secrets: [given], names: false });
      const pass = () => pieces.map((piece) => kept.value(piece));
      pass();
      kept.again();
      assert.equal(textOf(pass()), "it is ([secret 1]).");
    }),
    { numRuns: 200 },
  );
});

test("V14 texts that are hard to decode take time in proportion to their length", () => {
  const clean = streamRedactor([secret]);
  const started = performance.now();
  for (const piece of [
    "%25",
    "%",
    "%252525252541",
    "&",
    "&amp;",
    "&#",
    "\\",
    "\\u0041",
    "\n ",
    "=\n",
    ";\n",
    "\\u{",
  ])
    clean.text(piece.repeat(300_000 / piece.length));
  clean.text(`\n${secret.slice(0, -1)}`.repeat(20_000));
  clean.text(`\n${encodeURIComponent(secret)}`.repeat(20_000));
  // what grows with the square of the length takes longer by far
  assert.ok(performance.now() - started < 10_000);
});
