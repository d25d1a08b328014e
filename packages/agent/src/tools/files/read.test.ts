import assert from "node:assert/strict";
import { rmSync, symlinkSync } from "node:fs";
import { test } from "node:test";
import { probe, refusal } from "../../../test/support/tool-probe.ts";
import type { Tool } from "../base/tool.ts";
import { readTool } from "./read.ts";

test("a file is read whole and shown verbatim, with its place", async (t) => {
  const { put, call, at } = await probe(t);
  put("src/a.md", "# title\n```\ncode\n```\n");
  const { told, prepared, result } = await call(readTool, { path: "src/a.md" });
  assert.equal(told, "# title\n```\ncode\n```");
  assert.deepEqual(prepared.presentation, {
    title: "Read src/a.md",
    kind: "read",
    locations: [{ path: at("src/a.md"), line: 1 }],
  });
  assert.deepEqual(prepared.access, { type: "read", paths: [at("src/a.md")] });
  assert.deepEqual(result.shown, [
    { type: "content", content: { type: "text", text: "````md\n# title\n```\ncode\n```\n````" } },
  ]);
});

test("a part of a file says how to continue", async (t) => {
  const { put, call } = await probe(t);
  put("a", Array.from({ length: 9_120 }, (_, i) => `${i + 1}`).join("\n"));
  const head = await call(readTool, { path: "a" });
  assert.ok(head.told.startsWith("1\n2\n"));
  assert.ok(head.told.endsWith("\n2000\n\n[lines 1-2000 of 9120; continue with offset=2001]"));
  const part = await call(readTool, { path: "a", offset: 401, limit: 2 });
  assert.equal(part.told, "401\n402\n\n[lines 401-402 of 9120; continue with offset=403]");
  assert.equal(part.prepared.presentation.title, "Read a (lines 401-402)");
  const end = await call(readTool, { path: "a", offset: 9_119 });
  assert.equal(end.told, "9119\n9120");
  assert.equal(
    await refusal(call(readTool, { path: "a", offset: 9_121 })),
    "a has 9120 lines; offset 9121 is beyond its end",
  );
});

test("an image is recognised whatever its name", async (t) => {
  const { put, call } = await probe(t);
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0);
  put("picture.txt", png);
  const { result } = await call(readTool, { path: "picture.txt" });
  const data = Buffer.from(png).toString("base64");
  assert.deepEqual(result.content[1], { type: "image", mediaType: "image/png", data });
  assert.deepEqual(result.shown, [
    { type: "content", content: { type: "image", data, mimeType: "image/png" } },
  ]);
});

test("binary files, directories, missing files and endless lines are refused in words", async (t) => {
  const { put, call, cwd } = await probe(t);
  put("program", Uint8Array.of(1, 2, 0, 3));
  put("long", "x".repeat(60_000));
  put("src/UserName.test.ts", "");
  assert.equal(
    await refusal(call(readTool, { path: "program" })),
    "program is a binary file of 4 bytes, not text; inspect it with bash if you must",
  );
  assert.equal(await refusal(call(readTool, { path: cwd })), ". is a directory; use list");
  assert.match(await refusal(call(readTool, { path: "long" })), /^line 1 of long alone is longer than 50 KB/);
  assert.equal(
    await refusal(call(readTool, { path: "src/user-name.ts" })),
    "there is no file src/user-name.ts; did you mean src/UserName.test.ts?",
  );
  assert.equal(
    await refusal(call(readTool, { path: "nope" })),
    "there is no file nope; search for the file by name with find",
  );
});

test("an empty file is said to be empty", async (t) => {
  const { put, call } = await probe(t);
  put("e", "");
  assert.equal((await call(readTool, { path: "e" })).told, "[e is empty]");
});

test("A18 A43 a path outside the roots is a question about the path where links lead, in words of its own", async (t) => {
  const { call, prepare, at, put, base } = await probe(t);
  put("../secret", "s");
  symlinkSync(`${base}/secret`, at("out"));
  put(".env", "KEY=1");
  symlinkSync(".env", at("notes"));
  const { presentation, access } = await prepare(readTool, { path: "../secret" });
  assert.deepEqual(access, { type: "read", paths: [`${base}/secret`], outside: "file" });
  assert.equal(presentation.title, `Read ${base}/secret`);
  const linked = await call(readTool, { path: "out" });
  assert.deepEqual(linked.prepared.access, {
    type: "read",
    paths: [at("out"), `${base}/secret`],
    outside: "file",
  });
  assert.equal(linked.told, "s");
  assert.deepEqual((await prepare(readTool, { path: "notes" })).access, {
    type: "read",
    paths: [at("notes"), at(".env")],
  });
});

test("what is outside is not looked at before the user agrees, and the system's own files never are", async (t) => {
  const { prepare, call, base } = await probe(t);
  for (const path of [`${base}/none`, `${base}/no/such/folder/none`])
    assert.deepEqual((await prepare(readTool, { path })).access, {
      type: "read",
      paths: [path],
      outside: "file",
    });
  assert.equal(
    await refusal(call(readTool, { path: `${base}/none` })),
    `there is no file ${base}/none; search for the file by name with find`,
  );
  for (const path of ["/proc/self/environ", "/dev/mem", "/sys/kernel"])
    assert.match(await refusal(prepare(readTool, { path })), /belongs to the system and cannot be read/);
});

/** Does something between the question about a call and the call. */
function withSwap(tool: Tool, swap: () => void): Tool {
  return {
    ...tool,
    async prepare(input, context) {
      const prepared = await tool.prepare(input, context);
      swap();
      return prepared;
    },
  };
}

test("a link that is put in place of what was asked about is not followed", async (t) => {
  const { call, put, base } = await probe(t);
  const swapped = (path: string, target: string) => () => {
    rmSync(path, { recursive: true });
    symlinkSync(target, path);
  };
  put("../other/plain", "plain");
  put("../other/secret", "secret");
  const file = withSwap(readTool, swapped(`${base}/other/plain`, `${base}/other/secret`));
  assert.match(await refusal(call(file, { path: "../other/plain" })), /link/);
  put("../hidden/plain", "secret");
  put("../shown/plain", "plain");
  const folder = withSwap(readTool, swapped(`${base}/shown`, `${base}/hidden`));
  assert.match(await refusal(call(folder, { path: "../shown/plain" })), /leads elsewhere now than/);
});

test("the client's text is read, with what is not saved, and only below the roots", async (t) => {
  const asked: string[] = [];
  const { call, put, at } = await probe(t, {
    version: 1,
    client: {
      files: {
        canRead: true,
        canWrite: false,
        async readText(path) {
          asked.push(path);
          return "\ufeffunsaved\n";
        },
        writeText: () => Promise.reject(new Error("not offered")),
      },
    },
  });
  put("a", "saved\n");
  assert.equal((await call(readTool, { path: "a" })).told, "unsaved");
  assert.equal((await call(readTool, { path: "only-in-the-editor" })).told, "unsaved");
  put("../outside", "on disk");
  assert.equal((await call(readTool, { path: "../outside" })).told, "on disk");
  assert.deepEqual(asked, [at("a"), at("only-in-the-editor")]);
});

test("a PDF file is given to the model as a document", async (t) => {
  const { put, call } = await probe(t);
  const bytes = Buffer.from("%PDF-1.7\n\0binary");
  put("docs/spec", bytes);
  const { result } = await call(readTool, { path: "docs/spec" });
  assert.deepEqual(result.content, [
    { type: "text", text: `[docs/spec, application/pdf, ${bytes.length} bytes]` },
    { type: "document", mediaType: "application/pdf", data: bytes.toString("base64"), name: "spec" },
  ]);
});
