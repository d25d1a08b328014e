import assert from "node:assert/strict";
import { test } from "node:test";
import { isTraceMessage, readTrace, TraceError } from "@parley/conformance";

const header = '{"parley":"trace","version":1}';
const message = '{"t":1.5,"from":"client","bytes":3,"text":"{}"}';

test("a trace is its header and its records", () => {
  const {
    header: first,
    records,
    isCutOff: cutOff,
  } = readTrace(`${header}\n${message}\n{"t":2,"event":"end"}\n`);
  assert.deepEqual(first, { parley: "trace", version: 1 });
  assert.deepEqual(records.map(isTraceMessage), [true, false]);
  assert.equal(cutOff, false);
});

test("a last line that was cut off is left out, and so is what a newer minor version adds", () => {
  const newer = '{"parley":"trace","version":1,"minor":9,"colour":"blue"}';
  const { records, isCutOff: cutOff } = readTrace(
    `${newer}\n{"t":0,"event":"sunrise"}\n${message}\n{"t":2,"fro`,
  );
  assert.equal(records.length, 1);
  assert.equal(cutOff, true);
  assert.deepEqual(readTrace(header), { header: JSON.parse(header), records: [], isCutOff: true });
});

test("another major version is refused, and so is a file that is not a trace", () => {
  assert.throws(
    () => readTrace('{"parley":"trace","version":2}\n'),
    /expected trace version 1, got 2; update/,
  );
  assert.throws(() => readTrace('{"parley":"trace"}\n'), /expected trace version 1, got none/);
  for (const text of ["", "\n", "prose", "[1]", '{"jsonrpc":"2.0"}\n']) {
    assert.throws(() => readTrace(text), /this is not a trace: its first line must be \{"parley":"trace"/);
  }
});

test("damage in the middle is reported with its line and what was expected", () => {
  for (const [line, problem] of [
    ["nonsense", "is not a JSON object"],
    ['{"from":"client","bytes":1,"text":""}', "t must be a number"],
    ['{"t":1,"from":"server","bytes":1,"text":""}', 'from must be "client" or "agent"'],
    ['{"t":1,"from":"agent","text":""}', "bytes must be a number"],
    ['{"t":1,"from":"agent","bytes":1}', "expected exactly one of text, base64 and head"],
    ['{"t":1,"event":7}', "event must be a string"],
  ] as const) {
    assert.throws(
      () => readTrace(`${header}\n${message}\n${line}\n${message}\n`),
      (error) => error instanceof TraceError && error.line === 3 && error.message.includes(problem),
    );
  }
});
