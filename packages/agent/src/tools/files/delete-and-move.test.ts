import assert from "node:assert/strict";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { test } from "node:test";
import { probe, refusal } from "../../../test/support/tool-probe.ts";
import { deleteTool, moveTool } from "./delete-and-move.ts";
import { editTool } from "./edit.ts";
import { readTool } from "./read.ts";

test("a file is deleted, and what is lost is shown before", async (t) => {
  const { call, put, at } = await probe(t);
  put("src/a.ts", "one\n");
  const { told, prepared } = await call(deleteTool, { path: "src/a.ts" });
  assert.equal(told, "deleted src/a.ts");
  assert.ok(!existsSync(at("src/a.ts")));
  const { title, kind, content } = prepared.presentation;
  assert.deepEqual([title, kind], ["Delete src/a.ts", "delete"]);
  const [diff] = content ?? [];
  assert.ok(diff?.type === "diff");
  assert.deepEqual([diff.oldText, diff.changes[0]?.operation], ["one\n", "delete"]);
  assert.deepEqual(prepared.access, { type: "write", paths: [at("src/a.ts")], verb: "delete" });
});

test("a directory with files in it is deleted only when asked for", async (t) => {
  const { call, put, at } = await probe(t);
  put("d/x/y", "1");
  mkdirSync(at("empty"));
  await call(deleteTool, { path: "empty" });
  assert.equal(
    await refusal(call(deleteTool, { path: "d" })),
    "d is a directory with 2 files and directories in it; set recursive to delete them too",
  );
  const { told, prepared } = await call(deleteTool, { path: "d", recursive: true });
  assert.equal(told, "deleted d with 2 files and directories");
  assert.equal(prepared.presentation.title, "Delete d and everything in it");
  assert.ok(!existsSync(at("d")));
});

test("a link is deleted, what it leads to stays; roots and what is outside stay too", async (t) => {
  const { call, put, at, cwd, base } = await probe(t);
  put("../kept", "1");
  symlinkSync(base, at("out"));
  assert.match(await refusal(call(deleteTool, { path: "out/kept" })), /outside the workspace/);
  await call(deleteTool, { path: "out" });
  assert.ok(existsSync(`${base}/kept`));
  assert.equal(
    await refusal(call(deleteTool, { path: cwd })),
    ". is a root of the workspace and cannot be deleted",
  );
  assert.match(await refusal(call(deleteTool, { path: "../kept" })), /outside the workspace/);
  assert.equal(
    await refusal(call(deleteTool, { path: "nope" })),
    "there is no file or directory nope; search for it by name with find",
  );
});

test("a file is moved to a free path, and counts as read there", async (t) => {
  const { call, put, get, at } = await probe(t);
  put("a", "one\n");
  put("taken", "2");
  await call(readTool, { path: "a" });
  const { told, prepared } = await call(moveTool, { from: "a", to: "new/b" });
  assert.equal(told, "moved a to new/b");
  assert.deepEqual(prepared.access, { type: "write", paths: [at("a"), at("new/b")], verb: "move" });
  assert.deepEqual([prepared.presentation.title, prepared.presentation.kind], ["Move a to new/b", "move"]);
  put("new/b", "changed\n");
  const edit = { path: "new/b", edits: [{ oldText: "changed", newText: "x" }] };
  assert.match(await refusal(call(editTool, edit)), /^new\/b has changed since it was read/);
  assert.match(await refusal(call(moveTool, { from: "new/b", to: "taken" })), /"[^"]*taken" exists already/);
  assert.equal(get("taken"), "2");
  assert.match(await refusal(call(moveTool, { from: "taken", to: "../x" })), /outside the workspace/);
  assert.match(await refusal(call(moveTool, { from: "nope", to: "x" })), /ENOENT/);
});

test("changes that the user has not saved are not lost", async (t) => {
  const { call, put, get } = await probe(t, {
    version: 1,
    client: {
      files: {
        canRead: true,
        canWrite: false,
        readText: async (path) => (path.endsWith("dirty") ? "unsaved" : "saved"),
        writeText: () => Promise.reject(new Error("not offered")),
      },
    },
  });
  put("dirty", "saved");
  put("clean", "saved");
  const message = "dirty has unsaved changes in the editor; ask the user to save or discard them";
  assert.equal(await refusal(call(deleteTool, { path: "dirty" })), message);
  assert.equal(await refusal(call(moveTool, { from: "dirty", to: "x" })), message);
  assert.equal(get("dirty"), "saved");
  await call(moveTool, { from: "clean", to: "x" });
  await call(deleteTool, { path: "x" });
});
