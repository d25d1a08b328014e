import assert from "node:assert/strict";
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { TapRecorder } from "./tap-recorder.ts";

const limit = { timeout: 20_000 };

test(
  "every byte is in a record or counted as dropped, also of a line that is cut by a gap",
  limit,
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "parley-recorder-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "x.trace");
    const recorder = new TapRecorder({
      fd: openSync(file, "w"),
      header: { parley: "trace" },
      queueBytes: 200,
      maxLineBytes: 1_000_000,
      maxBytes: 1_000_000,
      failed: assert.fail,
    });
    const written = async (text: string) => {
      while (!readFileSync(file, "utf8").includes(text))
        await new Promise((resolve) => setImmediate(resolve));
    };
    let total = 0;
    const chunk = (text: string) => {
      total += text.length;
      recorder.chunk("agent", Buffer.from(text));
    };
    // the header still waits for the disk, so what is larger than the queue is dropped
    chunk(`${"a".repeat(300)}\n`);
    await written("trace");
    chunk('{"whole":1}\n{"begun":"');
    chunk("b".repeat(300));
    await written("whole");
    chunk("c".repeat(40));
    await written('"bytes":310'); // the gap, with the beginning of its line
    chunk('"}\n{"last":1}\n');
    const { droppedBytes } = await recorder.finish({
      stillMs: 5_000,
      maxMs: 10_000,
      hurried: new Promise(() => undefined),
    });
    const records = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const texts = records.flatMap(({ text }) => text ?? []);
    assert.deepEqual(texts, ['{"whole":1}', '{"last":1}']);
    const recorded = records.flatMap(({ from, bytes }) => (from === "agent" ? [bytes] : []));
    const dropped = records.flatMap(({ event, bytes }) => (event === "dropped" ? [bytes] : []));
    const sum = (list: number[]) => list.reduce((one, other) => one + other, 0);
    assert.equal(sum(recorded) + sum(dropped), total);
    // the stderr notice counts what did not fit, and what was skipped because of it
    assert.ok(droppedBytes > 0 && droppedBytes <= sum(dropped));
  },
);

test("the credentials of a login are in no record, however they are written and cut", limit, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-recorder-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "x.trace");
  const recorder = new TapRecorder({
    fd: openSync(file, "w"),
    header: { parley: "trace" },
    queueBytes: 1_000_000,
    maxLineBytes: 300,
    maxBytes: 1_000_000,
    failed: assert.fail,
  });
  const login = (params: object) => `${JSON.stringify({ id: 1, method: "authenticate", params })}\n`;
  const chunk = (text: string) => recorder.chunk("client", Buffer.from(text));
  chunk(login({ methodId: "plain" }) + login({ methodId: "a", credentials: { key: "hunter2", pin: 77001 } }));
  const cut = login({
    methodId: "b",
    _meta: { "_parley.dev/credentials": { nested: [{ key: "hunter2" }] } },
  });
  chunk(cut.slice(0, 90));
  chunk(cut.slice(90));
  chunk(login({ methodId: "c", credentials: { key: `hunter2${"x".repeat(400)}` } }));
  await recorder.finish({ stillMs: 1_000, maxMs: 10_000, hurried: new Promise(() => undefined) });
  const trace = readFileSync(file, "utf8");
  assert.doesNotMatch(trace, /hunter2|77001/);
  const texts = trace.split("\n").flatMap((line) => (line.includes('"text"') ? [JSON.parse(line).text] : []));
  assert.deepEqual(
    texts.map((text) => JSON.parse(text).params),
    [
      { methodId: "plain" },
      { methodId: "a", credentials: { key: "[redacted]", pin: "[redacted]" } },
      { methodId: "b", _meta: { "_parley.dev/credentials": { nested: [{ key: "[redacted]" }] } } },
    ],
  );
});
