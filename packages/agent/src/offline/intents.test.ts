import assert from "node:assert/strict";
import { test } from "node:test";
import { type Intent, tasksOf } from "./intents.ts";

const sentences: readonly (readonly [words: string, ...intents: Intent[]])[] = [
  ["look around", { type: "look", path: "." }],
  ["run sleep 1; echo done", { type: "run", command: "sleep 1; echo done" }],
  ["What is in this project?", { type: "look", path: "." }],
  ["Please list the files", { type: "look", path: "." }],
  ["list src", { type: "look", path: "src" }],
  ["list the files in src/app", { type: "look", path: "src/app" }],
  ["explain this project", { type: "look", path: "." }],
  ["Can you read README.md?", { type: "read", path: "README.md" }],
  ["show me src/a.ts lines 10-20", { type: "read", path: "src/a.ts", from: 10, to: 20 }],
  ["read src/a.ts:7", { type: "read", path: "src/a.ts", from: 7 }],
  ["read @src/a.ts:7", { type: "read", path: "src/a.ts", from: 7 }],
  ["explain @src/a.ts", { type: "explain", path: "src/a.ts" }],
  ["explain @src/a.ts:10-40", { type: "explain", path: "src/a.ts", from: 10, to: 40 }],
  ['explain @"my notes.txt"', { type: "explain", path: "my notes.txt" }],
  ["cat 'my file.txt'", { type: "read", path: "my file.txt" }],
  ["explain src/a.ts", { type: "explain", path: "src/a.ts" }],
  ["what does src/a.ts do?", { type: "explain", path: "src/a.ts" }],
  ["What is in Makefile?", { type: "explain", path: "Makefile" }],
  ["search for TODO", { type: "search", pattern: "TODO", path: "." }],
  ['grep "foo bar" in src', { type: "search", pattern: "foo bar", path: "src" }],
  ["where is parseThing defined?", { type: "search", pattern: "parseThing", path: "." }],
  ["find all uses of parseThing in this project", { type: "search", pattern: "parseThing", path: "." }],
  ["find files named *.test.ts", { type: "find", pattern: "*.test.ts" }],
  ["find all *.md files", { type: "find", pattern: "*.md" }],
  ['create notes.txt with "hello"', { type: "create", path: "notes.txt", content: "hello" }],
  ["create a new file called a/b.txt", { type: "create", path: "a/b.txt", content: "" }],
  ["write a.ts:\n```ts\nconst a = 1;\n```", { type: "create", path: "a.ts", content: "const a = 1;\n" }],
  ['write "one, then two" to list.txt', { type: "create", path: "list.txt", content: "one, then two" }],
  ['append "more" to notes.txt', { type: "append", path: "notes.txt", text: "more" }],
  ["add `x = 1` to the end of a.py", { type: "append", path: "a.py", text: "x = 1" }],
  [
    'replace "hello" with "good bye" in notes.txt',
    { type: "replace", path: "notes.txt", oldText: "hello", newText: "good bye" },
  ],
  ["change foo to bar in src/a.ts", { type: "replace", path: "src/a.ts", oldText: "foo", newText: "bar" }],
  [
    "in src/a.ts, replace foo with bar",
    { type: "replace", path: "src/a.ts", oldText: "foo", newText: "bar" },
  ],
  ["delete old.txt", { type: "delete", path: "old.txt" }],
  ["remove the file old.txt, please", { type: "delete", path: "old.txt" }],
  ["rename a.txt to b.txt", { type: "move", from: "a.txt", to: "b.txt" }],
  ["move the file a.txt to sub/a.txt", { type: "move", from: "a.txt", to: "sub/a.txt" }],
  ["run ls -l", { type: "run", command: "ls -l" }],
  ["run `echo a; echo b`", { type: "run", command: "echo a; echo b" }],
  ["run the command: wc -l a.txt", { type: "run", command: "wc -l a.txt" }],
  ["Plan: read a.txt, then delete b.txt", { type: "read", path: "a.txt" }, { type: "delete", path: "b.txt" }],
  ["$ git status", { type: "run", command: "git status" }],
  ["run the tests", { type: "test", which: "" }],
  ["Run the project's tests and explain what fails.", { type: "test", which: "" }],
  ["test this", { type: "test", which: "" }],
  ["fetch https://example.org/a", { type: "fetch", url: "https://example.org/a" }],
  ["hello", { type: "greet" }],
  ["stop", { type: "stop" }],
  ["make me a sandwich", { type: "unknown" }],
  [
    "read a.txt, then run the tests and delete b.txt",
    { type: "read", path: "a.txt" },
    { type: "test", which: "" },
    { type: "delete", path: "b.txt" },
  ],
  [
    "Please do this:\n1. create a.txt with 'one'\n2. read a.txt\n3. delete a.txt",
    { type: "create", path: "a.txt", content: "one" },
    { type: "read", path: "a.txt" },
    { type: "delete", path: "a.txt" },
  ],
  ["look around; explain README.md", { type: "look", path: "." }, { type: "explain", path: "README.md" }],
];

for (const [words, ...intents] of sentences) {
  test(`“${words.replaceAll("\n", " / ")}” is understood`, () => {
    assert.deepEqual(
      tasksOf(words).map(({ intent }) => intent),
      intents,
    );
  });
}
