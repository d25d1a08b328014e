import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { test } from "node:test";
import { probe, refusal } from "../../../test/support/tool-probe.ts";
import { moveTool } from "./delete-and-move.ts";
import { editTool } from "./edit.ts";
import { readTool } from "./read.ts";
import { writeTool } from "./write.ts";

test("a new file is created with its directories, and its diff is there before it is", async (t) => {
  const { call, prepare, get, at } = await probe(t);
  const { presentation, access } = await prepare(writeTool, { path: "src/deep/a.ts", content: "one\ntwo\n" });
  assert.throws(() => get("src/deep/a.ts"));
  assert.equal(presentation.title, "Create src/deep/a.ts");
  assert.equal(presentation.kind, "edit");
  assert.deepEqual(access, { type: "write", paths: [at("src/deep/a.ts")] });
  const [diff] = presentation.content ?? [];
  assert.ok(diff?.type === "diff");
  assert.equal(diff.newText, "one\ntwo\n");
  assert.equal(diff.oldText, undefined);
  const { told } = await call(writeTool, { path: "src/deep/a.ts", content: "one\ntwo\n" });
  assert.equal(told, "created src/deep/a.ts: 2 lines, 8 bytes");
  assert.equal(get("src/deep/a.ts"), "one\ntwo\n");
});

test("a file that was read is replaced, and may be replaced again", async (t) => {
  const { call, put, get } = await probe(t);
  put("a", "old\n");
  await call(readTool, { path: "a" });
  const { prepared } = await call(writeTool, { path: "a", content: "new\n" });
  assert.equal(prepared.presentation.title, "Write a");
  await call(writeTool, { path: "a", content: "newer\n" });
  assert.equal(get("a"), "newer\n");
});

test("a file that was not read, has changed since, or has the content already is left alone", async (t) => {
  const { call, put, get } = await probe(t);
  put("a", "mine\n");
  assert.equal(
    await refusal(call(writeTool, { path: "a", content: "x" })),
    "a already exists and has not been read; read it first, then write or edit it",
  );
  await call(readTool, { path: "a" });
  put("a", "changed\n");
  assert.match(
    await refusal(call(writeTool, { path: "a", content: "x" })),
    /^a has changed since it was read; read it again/,
  );
  await call(readTool, { path: "a" });
  assert.match(await refusal(call(writeTool, { path: "a", content: "changed\n" })), /nothing was written$/);
  assert.equal(get("a"), "changed\n");
});

test("a change between the question and the write is not overwritten", async (t) => {
  const { call, put, get, at } = await probe(t, {
    version: 1,
    client: {
      files: {
        canRead: true,
        canWrite: false,
        async readText() {
          // the disk changes while the text is on its way
          return get("a");
        },
        writeText: () => Promise.reject(new Error("not offered")),
      },
    },
  });
  put("a", "one\n");
  await call(readTool, { path: "a" });
  const racing = {
    ...writeTool,
    async prepare(...given: Parameters<typeof writeTool.prepare>) {
      const prepared = await writeTool.prepare(...given);
      put("a", "theirs\n");
      return prepared;
    },
  };
  const message = await refusal(call(racing, { path: "a", content: "ours\n" }));
  assert.equal(message, `${at("a")} has changed since it was read; read it again, then repeat the change`);
  assert.equal(get("a"), "theirs\n");
});

test("A18 A43 nothing outside the roots is written, by whatever name", async (t) => {
  const { call, at, base } = await probe(t);
  symlinkSync(base, at("up"));
  for (const path of ["../x", "/tmp/x", "up/x"]) {
    assert.match(await refusal(call(writeTool, { path, content: "x" })), /outside the workspace/);
  }
});

test("the client writes where it offers to, and keeps its byte order mark", async (t) => {
  let buffer = "\ufeffold\r\n";
  const { call } = await probe(t, {
    version: 1,
    client: {
      files: {
        canRead: true,
        canWrite: true,
        readText: async () => buffer,
        async writeText(_, content) {
          buffer = content;
        },
      },
    },
  });
  await call(readTool, { path: "a" });
  await call(writeTool, { path: "a", content: "new\r\n" });
  assert.equal(buffer, "\ufeffnew\r\n");
});

test("a client is not asked to read a file that is created, which it would report as an error", async (t) => {
  const asked: string[] = [];
  const { call, get, put } = await probe(t, {
    version: 1,
    client: {
      files: {
        canRead: true,
        canWrite: true,
        async readText(path) {
          asked.push("read");
          return get(path.split("/").at(-1) ?? "");
        },
        async writeText(path, content) {
          asked.push("write");
          put(path.split("/").at(-1) ?? "", content);
        },
      },
    },
  });
  const { told } = await call(writeTool, { path: "new.ts", content: "x\n" });
  assert.equal(told, "created new.ts: 1 lines, 2 bytes");
  // the client may have changed what was written, so that it is read afterwards
  assert.deepEqual(asked, ["write", "read"]);
  await call(writeTool, { path: "new.ts", content: "y\n" });
  assert.equal(get("new.ts"), "y\n");
});

test("a change that is too large for a message is made, and only its size is shown", async (t) => {
  const { call, get, put } = await probe(t);
  const rest = `${"\x01".repeat(1_023)}\n`.repeat(9 * 1_024);
  put("a", `old\n${rest}`);
  const { prepared } = await call(editTool, { path: "a", edits: [{ oldText: "old\n", newText: "new\n" }] });
  assert.equal(get("a"), `new\n${rest}`);
  const [shown] = prepared.presentation.content ?? [];
  assert.ok(shown?.type === "content" && shown.content.type === "text");
  assert.match(
    String(shown.content.text),
    /^The change to .* is too large to show: 9437188 characters before, 9437188 after/,
  );
});

test("B6 a file that was read in part is not replaced", async (t) => {
  const { call, put, get } = await probe(t);
  const text = Array.from({ length: 500 }, (_, i) => `line ${i + 1}\n`).join("");
  put("a", text);
  const refused =
    "only part of a has been read, but write replaces all of it; use edit, or read the rest first";
  await call(readTool, { path: "a", limit: 1 });
  assert.equal(await refusal(call(writeTool, { path: "a", content: "x\n" })), refused);
  // an edit shows no more of it
  await call(editTool, { path: "a", edits: [{ oldText: "line 1\n", newText: "LINE 1\n" }] });
  assert.equal(await refusal(call(writeTool, { path: "a", content: "x\n" })), refused);
  await call(moveTool, { from: "a", to: "b" });
  assert.match(await refusal(call(writeTool, { path: "b", content: "x\n" })), /^only part of b/);
  assert.equal(get("b"), text.replace("line", "LINE"));
  await call(readTool, { path: "b", offset: 200 });
  assert.match(await refusal(call(writeTool, { path: "b", content: "x\n" })), /^only part of b/);
  await call(readTool, { path: "b", limit: 199 });
  await call(writeTool, { path: "b", content: "x\n" });
  assert.equal(get("b"), "x\n");
  await call(writeTool, { path: "b", content: "y\n" });
  assert.equal(get("b"), "y\n");
});
