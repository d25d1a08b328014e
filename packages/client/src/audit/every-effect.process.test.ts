// Thousands of effects, and a process that is killed during one.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { auditLog, verifyAudit } from "@parley/client/audit";
import { folder, rules } from "../../test/support/gate-probe.ts";
import { type Decision, permissionGate } from "../policy.ts";

test("of ten thousand effects each has one decision, one intent and one outcome", {
  timeout: 120_000,
}, async (t) => {
  const cwd = folder(t, { a: "text\n" });
  const audit = auditLog(join(folder(t), "audit"));
  const gate = permissionGate({ audit, rules: rules("deny read b") });
  const decisions: Decision[] = [];
  gate.onDecision((decision) => decisions.push(decision));
  const { files } = gate.services({ sessionId: "s", cwd, roots: [cwd] });
  t.after(() => files.close?.());
  const count = 10_000;
  for (let at = 0; at < count; at += 50) {
    const batch = Array.from({ length: 50 }, (_, index) =>
      files.readText(join(cwd, index % 10 === 0 ? "b" : "a")),
    );
    await Promise.allSettled(batch);
  }
  audit.close();
  const { isWhole, entries, unknown } = verifyAudit(audit.path);
  const kinds = Object.groupBy(entries, ({ kind }) => kind);
  assert.deepEqual([isWhole, unknown.length, decisions.length], [true, 0, count]);
  assert.deepEqual(
    [kinds.intent?.length, kinds.outcome?.length, kinds.refused?.length],
    [count * 0.9, count * 0.9, count * 0.1],
  );
  assert.equal(new Set(kinds.outcome?.map(({ of }) => of)).size, count * 0.9);
});

test("what a killed process had begun is unknown, and its log is whole", {
  skip: process.platform === "win32" ? "needs signals" : false,
  timeout: 60_000,
}, async (t) => {
  const place = folder(t);
  const program = `
    import { auditLog } from "@parley/client/audit";
    const log = auditLog(process.argv[1]);
    const of = log.write({ kind: "intent", operation: "write", target: "/w/a", effect: "allow" });
    log.write({ kind: "outcome", of, result: "done" });
    log.write({ kind: "intent", operation: "exec", target: "make", effect: "allow" });
    process.stdout.write("begun");
    setInterval(() => undefined, 1_000);
  `;
  const child = spawn(
    process.execPath,
    ["--conditions=parley-source", "--input-type=module", "-e", program, place],
    { stdio: ["ignore", "pipe", "inherit"], cwd: import.meta.dirname },
  );
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "close");
  const name = readdirSync(place).find((each) => each.endsWith(".ndjson")) ?? "";
  const { isWhole, isClosed, isRunning, unknown } = verifyAudit(join(place, name));
  assert.deepEqual(
    [isWhole, isClosed, isRunning, unknown.map(({ target }) => target)],
    [true, false, false, ["make"]],
  );
});
