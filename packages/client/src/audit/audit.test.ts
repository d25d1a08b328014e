import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { auditLog, verifyAudit } from "../index.ts";

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "parley-audit-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A closed log of so many effects. */
function written(t: TestContext, effects: number): string {
  const log = auditLog(folder(t));
  for (let at = 0; at < effects; at++) {
    const of = log.write({ kind: "intent", operation: "write", target: `/w/${at}`, effect: "allow" });
    log.write({ kind: "outcome", of, result: "done" });
  }
  log.close();
  return log.path;
}

test("a log that nobody touched is whole and closed, and every effect has its outcome", (t) => {
  const path = written(t, 1_500);
  const { isWhole, isClosed, entries, unknown, problem } = verifyAudit(path);
  assert.deepEqual([isWhole, isClosed, problem, unknown], [true, true, undefined, []]);
  assert.equal(entries.length, 3_001);
  assert.deepEqual(
    entries.map(({ seq }) => seq),
    entries.map((_, at) => at + 1),
  );
  for (const name of [path, join(path, "../key")]) assert.equal(statSync(name).mode & 0o777, 0o600);
});

test("a change, a deletion, an insertion or a cut is found, wherever it is", (t) => {
  const path = written(t, 40);
  const text = readFileSync(path, "utf8");
  const lines = text.split("\n").slice(0, -1);
  const isFound = (changed: string) => {
    writeFileSync(path, changed);
    const { isWhole, isClosed } = verifyAudit(path);
    return !(isWhole && isClosed);
  };
  const missed: string[] = [];
  for (let at = 0; at < 1_000; at++) {
    const place = Math.floor((at / 1_000) * text.length);
    const other = text[place] === "0" ? "1" : "0";
    if (!isFound(text.slice(0, place) + other + text.slice(place + 1))) missed.push(`flip ${place}`);
    if (!isFound(text.slice(0, place))) missed.push(`cut ${place}`);
  }
  for (const at of lines.keys()) {
    if (!isFound(`${lines.toSpliced(at, 1).join("\n")}\n`)) missed.push(`delete ${at}`);
    if (!isFound(`${lines.toSpliced(at, 0, lines[at] ?? "").join("\n")}\n`)) missed.push(`insert ${at}`);
  }
  assert.deepEqual(missed, []);
  assert.equal(isFound(text), false);
});

test("whoever writes the chain anew lacks the key", (t) => {
  const path = written(t, 3);
  const forged = written(t, 4);
  writeFileSync(path, readFileSync(forged));
  assert.match(verifyAudit(path).problem ?? "", /line 1 was not signed here/);
});

test("what was begun and not ended is unknown, and a log without an end is not closed", (t) => {
  const log = auditLog(folder(t));
  log.write({ kind: "intent", operation: "exec", target: "rm x", effect: "allow" });
  const { isWhole, isClosed, unknown } = verifyAudit(log.path);
  assert.deepEqual([isWhole, isClosed, unknown.map(({ target }) => target)], [true, false, ["rm x"]]);
  log.close();
  assert.throws(() => log.write({ kind: "refused" }), /has been closed/);
});

test("each process has a log of its own, and all are signed with one key", (t) => {
  const place = folder(t);
  const logs = [auditLog(place), auditLog(place), auditLog(place)];
  const [, , unused] = logs;
  for (const log of logs.slice(0, 2)) log.write({ kind: "refused" });
  for (const log of logs) log.close();
  assert.throws(() => readFileSync(unused?.path ?? ""), /ENOENT/, "nothing happened, nothing is written");
  assert.equal(readdirSync(place).length, 3);
  for (const { path } of logs.slice(0, 2)) assert.equal(verifyAudit(path).isWhole, true);
});
