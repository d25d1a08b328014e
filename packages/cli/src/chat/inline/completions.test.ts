import assert from "node:assert/strict";
import { test } from "node:test";
import type { Conversations } from "../conversation/conversations.ts";
import { chatCompletions } from "./completions.ts";

const signal = new AbortController().signal;

test("TH5 names of files that would be sequences or lines in the prompt are not offered", async () => {
  const files = ["a.txt", "n\nl\u001b[2J\u001b]0;t\u0007.txt", 'q"; x".txt', "\u202efdp.exe"];
  const conversation = { findFiles: async () => files } as unknown as Conversations; // what is read
  const found = await chatCompletions(conversation).getSuggestions(["@"], 0, 1, { signal });
  assert.deepEqual(
    found?.items.map(({ label, value }) => [label, value]),
    [
      ["a.txt", "@a.txt"],
      ["\\u202efdp.exe", '@"\u202efdp.exe"'],
    ],
  );
});

test("a name that is written in full is not completed, so that Enter sends the prompt", async () => {
  const offered = async (typed: string, files: readonly string[]) => {
    const conversation = { findFiles: async () => files } as unknown as Conversations; // what is read
    const found = await chatCompletions(conversation).getSuggestions([typed], 0, typed.length, { signal });
    return found?.items.map(({ label }) => label) ?? [];
  };
  assert.deepEqual(await offered("read @a.txt", ["a.txt", "old/a.txt"]), []);
  assert.deepEqual(await offered("read @a", ["a", "a.txt"]), ["a", "a.txt"]);
  assert.deepEqual(await offered("read @src/", ["src/", "src/a.ts"]), ["src/", "src/a.ts"]);
});
