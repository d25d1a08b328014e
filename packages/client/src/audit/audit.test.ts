import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import { type AuditOptions, auditLog, verifyAudit, verifyAuditFolder } from "@parley/client/audit";
import { permissionGate, rememberedRules } from "@parley/client/policy";
import { inSoak } from "../../../acp/test/support/soak.ts";
import { rules } from "../../test/support/gate-probe.ts";

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
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("a change, a deletion, an insertion or a cut is found, wherever it is", (t) => {
  const path = written(t, 40);
  const text = readFileSync(path, "utf8");
  const lines = text.split("\n").slice(0, -1);
  const isFound = (changed: string) => {
    writeFileSync(path, changed);
    return !verifyAudit(path).isWhole;
  };
  const missed: string[] = [];
  const places = inSoak(150, 1_000);
  for (let at = 0; at < places; at++) {
    const place = Math.floor((at / places) * text.length);
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

test("what was begun and not ended is unknown, and a log without an end is that of a process that runs", (t) => {
  const log = auditLog(folder(t));
  log.write({ kind: "intent", operation: "exec", target: "rm x", effect: "allow" });
  const { isWhole, isClosed, isRunning, unknown } = verifyAudit(log.path);
  assert.deepEqual(
    [isWhole, isClosed, isRunning, unknown.map(({ target }) => target)],
    [true, false, true, ["rm x"]],
  );
  log.close();
  assert.equal(verifyAudit(log.path).isRunning, false);
  assert.throws(() => log.write({ kind: "refused" }), /has been closed/);
});

test("each process has a log of its own", (t) => {
  const place = folder(t);
  const logs = [auditLog(place), auditLog(place), auditLog(place)];
  const [, , unused] = logs;
  for (const log of logs.slice(0, 2)) log.write({ kind: "refused" });
  for (const log of logs) log.close();
  assert.throws(() => readFileSync(unused?.path ?? ""), /ENOENT/, "nothing happened, nothing is written");
  assert.equal(readdirSync(place).filter((name) => name !== "pruned").length, 2);
  for (const { path } of logs.slice(0, 2)) assert.equal(verifyAudit(path).isWhole, true);
});

test("lines that are cut off a log without an end are missed, one by one", (t) => {
  const log = auditLog(folder(t));
  for (let at = 0; at < 5; at++) log.write({ kind: "refused", target: `/w/${at}` });
  const whole = readFileSync(log.path);
  assert.equal(verifyAudit(log.path).isWhole, true);
  const lines = whole.toString().split("\n");
  for (let left = 1; left < lines.length - 1; left++) {
    truncateSync(log.path, Buffer.byteLength(lines.slice(0, left).join("\n")) + 1);
    assert.match(verifyAudit(log.path).problem ?? "", /lines were cut off/, `${left} lines`);
    writeFileSync(log.path, whole);
  }
  // nor can what says how long it is be lost
  const count = log.path.replace(/ndjson$/, "head");
  const kept = readFileSync(count, "utf8");
  for (const text of ["", "x", undefined]) {
    if (text === undefined) rmSync(count);
    else writeFileSync(count, text);
    assert.match(verifyAudit(log.path).problem ?? "", /nothing says how long it was/, text);
  }
  writeFileSync(count, kept);
  assert.equal(verifyAudit(log.path).isWhole, true);
});

test("every line has a checksum: one without it is found", (t) => {
  const path = written(t, 5);
  const lines = readFileSync(path, "utf8").split("\n");
  assert.ok(lines.slice(0, -1).every((line) => /"sum":"[\da-f]{8}"\}$/.test(line)));
  for (const other of ["", `,"mac":"${"0".repeat(64)}"`]) {
    writeFileSync(path, lines.with(3, lines[3]?.replace(/,"sum":"[\da-f]+"/, other) ?? "").join("\n"));
    assert.match(verifyAudit(path).problem ?? "", /line 4 is not as it was written/);
  }
});

/** A log as version 2 wrote it, with a signature of the line before in each line. */
function signedLog(place: string, ...lines: readonly object[]): string {
  const path = join(place, "20260101T000000-1.1.1-abcdef.ndjson");
  const all = [{ parley: "audit", version: 2, pid: 1, time: "2026-01-01T00:00:00.000Z" }, ...lines];
  const text = all.map((line) => `${JSON.stringify({ ...line, mac: "ab".repeat(32) })}\n`).join("");
  writeFileSync(path, text);
  writeFileSync(join(place, "key"), "00".repeat(32));
  return path;
}

test("a log of an older version is read, and lost lines are found", (t) => {
  const place = folder(t);
  const time = "2026-01-01T00:00:00.000Z";
  const first = { seq: 1, time, after: 0, kind: "intent", operation: "exec", target: "make" };
  const second = { seq: 2, time, after: 1, kind: "outcome", of: 1, result: "done" };
  const end = { seq: 3, time, after: 2, kind: "end" };
  const closed = verifyAudit(signedLog(place, first, second, end));
  assert.deepEqual([closed.isWhole, closed.isOlder, closed.isClosed, closed.unknown], [true, true, true, []]);
  assert.equal(closed.entries[0]?.target, "make");
  assert.match(verifyAudit(signedLog(place, first, end)).problem ?? "", /line 3 has number 3, wanted 2/);

  const killed = signedLog(place, first, second);
  assert.match(verifyAudit(killed).problem ?? "", /nothing says how long it was/);
  const head = (seq: number) =>
    writeFileSync(killed.replace(/ndjson$/, "head"), JSON.stringify({ seq, line: "ab", mac: "cd" }));
  head(2);
  assert.equal(verifyAudit(killed).isWhole, true);
  head(3);
  assert.match(verifyAudit(killed).problem ?? "", /lines were cut off: it had 4, and has 3/);

  const current = auditLog(place);
  current.write({ kind: "refused" });
  current.close();
  const { reports, missing } = verifyAuditFolder(place);
  assert.deepEqual([reports.map(({ isOlder }) => isOlder), missing], [[true, false], []]);
});

test("a log that is missing is missed by the one that came after it", (t) => {
  const place = folder(t);
  let now = Date.UTC(2030, 0, 1);
  const next = () => {
    const log = auditLog(place, { now: () => now });
    log.write({ kind: "refused" });
    log.close();
    now += 60_000;
    return log.path;
  };
  const paths = [next(), next(), next(), next()];
  const missing = () => verifyAuditFolder(place).missing.map((name) => join(place, name));
  assert.deepEqual([verifyAuditFolder(place).reports.length, missing()], [4, []]);
  for (const path of paths.slice(0, 3)) {
    copyFileSync(path, `${path}.kept`);
    rmSync(path);
    assert.deepEqual(missing(), [path]);
    copyFileSync(`${path}.kept`, path);
  }
  for (const path of paths.slice(1, 3)) rmSync(path);
  assert.deepEqual(missing(), paths.slice(2, 3), "the log that names the other one is gone, too");
  assert.deepEqual(verifyAuditFolder(join(place, "nothing")), { reports: [], missing: [] });
});

test("an entry says which rule it was, and until when it holds", async (t) => {
  const cwd = realpathSync(folder(t));
  const place = folder(t);
  const now = Date.UTC(2030, 0, 1);
  const audit = auditLog(place, { now: () => now });
  const remembered = rememberedRules(join(place, "permissions.ndjson"), () => now);
  const kept = remembered.add({
    operation: "write",
    pattern: join(cwd, "kept"),
    effect: "allow",
    scope: "always",
  });
  const gate = permissionGate({
    audit,
    remembered,
    now: () => now,
    rules: rules("allow write ruled"),
    asker: {
      permission: ({ subjects }) => (subjects[0]?.path?.endsWith("once") ? "allow:once" : "allow:workspace"),
    },
  });
  const { files } = gate.services({ sessionId: "s", cwd, roots: [cwd] });
  t.after(() => files.close());
  for (const name of ["kept", "ruled", "asked", "once"]) await files.writeText(join(cwd, name), "");
  audit.close();
  const [, answered] = remembered.list();
  const told = verifyAudit(audit.path).entries.flatMap(({ kind, rule, expires, scope }) =>
    kind === "intent" ? [{ rule, expires, scope }] : [],
  );
  const after = (days: number) => new Date(now + days * 86_400_000).toISOString();
  assert.deepEqual(told, [
    { rule: kept.id, expires: after(90), scope: "always" },
    { rule: "write ruled", expires: undefined, scope: undefined },
    { rule: answered?.id, expires: after(30), scope: "workspace" },
    { rule: undefined, expires: undefined, scope: "once" },
  ]);
});

test("what cannot be made into a line leaves the log whole", (t) => {
  const place = folder(t);
  const log = auditLog(place);
  log.write({ kind: "refused" });
  const target: { circular?: unknown } = {};
  target.circular = target;
  assert.throws(() => log.write({ kind: "refused", target: target as unknown as string }), TypeError);
  assert.equal(log.write({ kind: "refused" }), 2, "what was never begun breaks nothing");
  log.close();
  assert.equal(verifyAudit(log.path).isWhole, true);
});

/** One closed log after the other; those of the past have not been written to for so many days. */
function logsOf(place: string, ages: readonly number[], options: AuditOptions = {}): string[] {
  const begin = Date.now() - 1_000_000;
  return ages.map((days, at) => {
    const log = auditLog(place, { ...options, now: () => begin + at * 1_000 });
    log.write({ kind: "refused", target: "x".repeat(1_000) });
    log.close();
    const last = new Date(Date.now() - days * 86_400_000);
    utimesSync(log.path, last, last);
    return log.path;
  });
}

test("logs that are too old, or too much, go once a day, and are not missed then", (t) => {
  for (const [ages, bounds, kept] of [
    [[200, 100, 80, 0], {}, 2],
    [[3, 2, 1, 0], { keepBytes: 4_000 }, 2],
    [[3, 2, 1, 0], {}, 4],
  ] as const) {
    const place = folder(t);
    const paths = logsOf(place, ages);
    rmSync(join(place, "pruned"));
    const last = auditLog(place, bounds);
    last.write({ kind: "refused" });
    last.close();
    const there = paths.filter((path) => existsSync(path));
    assert.deepEqual(there, paths.slice(4 - kept));
    const { reports, missing } = verifyAuditFolder(place);
    assert.deepEqual([reports.length, missing], [kept + 1, []]);
    assert.ok(reports.every(({ isWhole }) => isWhole));
    // and a loss that nobody decided is missed as before
    rmSync(paths[3] ?? "");
    assert.deepEqual(verifyAuditFolder(place).missing, [basename(paths[3] ?? "")]);
  }
});

test("the log of a process that runs stays, however old, and one day has one look", (t) => {
  const place = folder(t);
  const running = auditLog(place);
  running.write({ kind: "refused" });
  utimesSync(running.path, 0, 0);
  const [old = ""] = logsOf(place, [200, 0]);
  assert.ok(existsSync(running.path) && existsSync(old), "it was looked at today");
  rmSync(join(place, "pruned"));
  logsOf(place, [0]);
  assert.deepEqual([existsSync(running.path), existsSync(old)], [true, false]);
  running.close();
});

test("the log of a process that was killed goes, although another process has its pid now", (t) => {
  const place = folder(t);
  const log = auditLog(place);
  log.write({ kind: "refused" });
  const reused = log.path.replace(/-(\d+)\.(\d+)\./, (_, pid, start) => `-${pid}.${Number(start) - 1}.`);
  for (const end of ["ndjson", "head"])
    renameSync(log.path.replace(/ndjson$/, end), reused.replace(/ndjson$/, end));
  assert.equal(verifyAudit(reused).isRunning, false);
  utimesSync(reused, 0, 0);
  logsOf(place, [0]);
  assert.equal(existsSync(reused), false);
});
