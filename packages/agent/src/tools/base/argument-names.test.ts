import assert from "node:assert/strict";
import { test } from "node:test";
import { probe, refusal } from "../../../test/support/tool-probe.ts";
import { codingTools } from "../coding-tools.ts";
import { bashTool } from "../commands/bash.ts";
import { todoTool } from "../conversation/conversation-tools.ts";
import { moveTool } from "../files/delete-and-move.ts";
import { editTool } from "../files/edit.ts";
import { readTool } from "../files/read.ts";
import { writeTool } from "../files/write.ts";
import { findTool } from "../search/find-and-list.ts";
import { grepTool } from "../search/grep.ts";

test("arguments are understood under the names that models know from other agents", async (t) => {
  const { call, put, get } = await probe(t);
  put("a.ts", "one\ntwo\n");
  assert.equal((await call(readTool, { file_path: "a.ts", start_line: "2" })).told, "two");
  assert.equal(
    (await call(readTool, { filename: "a.ts", limit: "1", offset: "1" })).told.split("\n")[0],
    "one",
  );
  await call(editTool, { filePath: "a.ts", edits: [{ old_string: "one", new_string: "1" }] });
  await call(writeTool, { file: "b.ts", file_text: "x\n" });
  await call(moveTool, { source: "b.ts", destination: "c.ts" });
  assert.deepEqual([get("a.ts"), get("c.ts")], ["1\ntwo\n", "x\n"]);
  assert.match((await call(grepTool, { query: "TWO", include: "*.ts", "-i": true })).told, /^a\.ts:2:two/);
  assert.equal((await call(findTool, { glob: "*.ts" })).told, "a.ts\nc.ts");
  const { presentation } = (await call(bashTool, { cmd: "true", description: "does nothing" })).prepared;
  assert.equal(presentation.title, "true");
  const steps = { plan: [{ step: "look", status: "completed", activeForm: "looking" }] };
  assert.match((await call(todoTool, steps)).told, /^the plan is shown: 1 done/);
});

test("one edit may be written without its list, in a string, or beside the path", async (t) => {
  const { call, put, get } = await probe(t);
  put("a", "0\n");
  const shapes = [
    { path: "a", edits: { oldText: "0", newText: "1" } },
    { path: "a", edits: '{"old_str":"1","new_str":"2"}' },
    { path: "a", oldText: "2", newText: "3" },
    { file_path: "a", old_string: "3", new_string: "4", replace_all: "true" },
    JSON.stringify({ path: "a", edits: [{ search: "4", replace: "5" }] }),
  ];
  for (const shape of shapes) await call(editTool, shape);
  assert.equal(get("a"), "5\n");
});

test("a text that looks like JSON stays the text that it is", async (t) => {
  const { call, get } = await probe(t);
  await call(writeTool, { path: "a.json", content: '{"file_path":1}' });
  assert.equal(get("a.json"), '{"file_path":1}');
});

test("the same said twice is fine, a contradiction and an unknown name are reported", async (t) => {
  const { call, put } = await probe(t);
  put("a", "one");
  assert.equal((await call(readTool, { path: "a", file_path: "a" })).told, "one");
  assert.equal(
    await refusal(call(readTool, { path: "a", file_path: "b" })),
    'read has no argument "file_path"; it takes path, offset, limit',
  );
  assert.match(await refusal(call(readTool, { paht: "a" })), /^read has no argument "paht"/);
  const half = { path: "a", old_string: "one" };
  assert.match(await refusal(call(editTool, half)), /^edit needs edits\[0\]\.newText/);
});

test("no other name of an argument is part of a schema, and none has two meanings", () => {
  for (const { name, aliases = {}, inputSchema } of codingTools) {
    const schema = JSON.stringify(inputSchema);
    const known = Object.values(aliases).flat();
    assert.equal(new Set(known).size, known.length, name);
    for (const [ours, others] of Object.entries(aliases)) {
      assert.ok(schema.includes(`"${ours}":{`), `${name}: ${ours}`);
      for (const other of others) assert.ok(!schema.includes(`"${other}":{`), `${name}: ${other}`);
    }
  }
});
