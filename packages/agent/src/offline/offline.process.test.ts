// Tests the agent without a configured model, with the real tools.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { SessionUpdate } from "@parley/acp";
import {
  inEveryVersion,
  said,
  type TalkOptions,
  talk,
  temporaryFolder,
  thought,
  toolStories,
  toolUpdates,
} from "../../test/support/agent-probe.ts";

const project = {
  "README.md": "# Cats\n\nA program about cats.\n",
  "package.json": '{ "name": "cats", "scripts": { "test": "node -e \\"console.log(6 * 7)\\"" } }\n',
  "src/cat.ts":
    '// What a cat is.\nexport class Cat {}\nexport function purr(): string {\n  return "purr";\n}\n',
  "notes.txt": "hello hello\nworld\n",
};

type Setup = Pick<TalkOptions, "version" | "cwd">;

/** Says one thing to the agent in its own session and gives what came of it. */
async function say(setup: Setup, words: string, more: Partial<TalkOptions> = {}) {
  const made = await talk({ ...setup, answers: Array(20).fill("allow_once"), ...more });
  const { stopReason } = await made.session.prompt(words).result;
  assert.equal(stopReason, "end_turn", made.log.join("\n"));
  return { ...made, answer: said(made.updates), stories: toolStories(made.updates) };
}

const completed = (title: string) => `${title}: pending > in_progress > completed`;

function plans(updates: readonly SessionUpdate[]): string[][] {
  return updates.flatMap((update) =>
    update.sessionUpdate === "plan_update" && update.plan.type === "items"
      ? [update.plan.entries.map(({ status }) => status)]
      : [],
  );
}

inEveryVersion("it looks around and says what the project is", project, async (setup) => {
  const { answer, stories, asks, updates } = await say(setup, "What is in this project?");
  assert.equal(stories.length, 3);
  assert.match(
    answer,
    /src\/[\s\S]*\*\*Cats\*\*: A program about cats\.[\s\S]*npm package `cats` with the scripts `test`/,
  );
  const notices = updates.flatMap((each) => (each.sessionUpdate === "notice" ? [each.title] : []));
  assert.deepEqual(notices, ["This is the offline model: fixed rules, no AI"]);
  assert.doesNotMatch(answer, /offline model/);
  assert.equal(asks.length, 0);
});

inEveryVersion("it reads, explains, searches and finds", project, async (setup) => {
  const { session, updates } = await say(setup, "read src/cat.ts lines 1-2");
  const ask = async (words: string) => {
    updates.length = 0;
    await session.prompt(words).result;
    return said(updates);
  };
  assert.match(
    await ask("explain src/cat.ts"),
    /TypeScript, 5 lines.*What a cat is[\s\S]*class `Cat` \(line 2\)\n- function `purr` \(line 3\)/,
  );
  assert.match(await ask("search for purr"), /src\/cat\.ts/);
  assert.match(await ask("find files named cat"), /src\/cat\.ts/);
  assert.match(await ask("read absent.txt"), /^I cannot read `absent.txt`: there is no file absent\.txt\.?$/);
  const [failed] = toolUpdates(updates).filter(({ status }) => status === "failed");
  assert.deepEqual(failed?.content, [
    { type: "content", content: { type: "text", text: "there is no file absent.txt" } },
  ]);
  await ask("hello");
  assert.ok(!updates.some(({ sessionUpdate }) => sessionUpdate === "notice"));
});

inEveryVersion("it edits with a diff in the question, and respects a rejection", project, async (setup) => {
  const { answer, asks } = await say(setup, 'replace "hello" with "goodbye" in notes.txt');
  assert.equal(readFileSync(join(setup.cwd, "notes.txt"), "utf8"), "goodbye goodbye\nworld\n");
  assert.match(answer, /Replaced `hello` with `goodbye` in `notes.txt`, 2 times/);
  const [ask] = asks;
  assert.equal(ask?.subject?.type === "tool_call" && ask.subject.toolCall.content?.[0]?.type, "diff");
  const refused = await say(setup, "delete notes.txt", { answers: ["reject_once"] });
  assert.ok(existsSync(join(setup.cwd, "notes.txt")));
  assert.match(refused.answer, /^You said no, so I did not do it\./);
});

inEveryVersion("several steps become a plan that is carried out", project, async (setup) => {
  const words = [
    "Please:",
    '1. create list.txt with "one"',
    '2. append "two" to list.txt',
    "3. rename list.txt to items.txt",
    "4. run cat items.txt",
    "5. delete items.txt",
  ].join("\n");
  const { answer, updates, stories, asks } = await say(setup, words);
  assert.match(answer, /4\. run cat items\.txt: `cat items\.txt`:\n```\none\ntwo/);
  assert.equal(existsSync(join(setup.cwd, "items.txt")), false);
  assert.ok(
    stories.every((story) => story.endsWith("completed")),
    stories.join("\n"),
  );
  assert.deepEqual(
    asks.map(({ title }) => title),
    ["Create list.txt", "Write list.txt", "Move list.txt to items.txt", "cat items.txt", "Delete items.txt"],
  );
  const seen = plans(updates);
  assert.deepEqual(seen[0], ["in_progress", "pending", "pending", "pending", "pending"]);
  assert.deepEqual(seen.at(-1), Array(5).fill("completed"));
  assert.match(thought(updates), /That is 5 steps, so I will make a plan/);
  const kinds = new Set(toolUpdates(updates).map(({ kind }) => kind));
  for (const kind of ["think", "edit", "move", "execute", "delete"] as const)
    assert.ok(kinds.has(kind), kind);
});

inEveryVersion("it runs the tests in a terminal, after asking", project, async (setup) => {
  const { answer, updates, asks, stories } = await say(setup, "run the tests");
  assert.match(answer, /The tests passed \(`npm test`\)[\s\S]*42/);
  assert.deepEqual(
    asks.map(({ title }) => title),
    ["npm test"],
  );
  assert.deepEqual(stories.at(-1), completed("npm test"));
  const shown = toolUpdates(updates).flatMap(({ content }) => content ?? []);
  assert.ok(shown.length > 0, "its output is shown");
});

inEveryVersion("a step that fails stops the plan and says what is left", project, async (setup) => {
  const { answer } = await say(setup, "read absent.txt, then delete notes.txt and run the tests");
  assert.match(answer, /1\. read absent\.txt: I cannot read[\s\S]*I stopped there: 2 steps are left/);
  assert.ok(existsSync(join(setup.cwd, "notes.txt")));
});

inEveryVersion(
  "in mode architect it plans, and carries the plan out when the user agrees",
  project,
  async (setup) => {
    const words = 'create a.txt with "one", then delete notes.txt';
    const kept = await say(setup, words, { mode: "architect", answers: ["architect"] });
    assert.match(
      kept.answer,
      /The plan:\n1\. create a\.txt.*\n2\. delete notes\.txt[\s\S]*Nothing was changed/,
    );
    assert.equal(existsSync(join(setup.cwd, "a.txt")), false);
    const agreed = await say(setup, words, { mode: "architect", answers: ["code"] });
    assert.equal(agreed.asks.length, 1, "mode code does not ask again");
    assert.equal(existsSync(join(setup.cwd, "a.txt")), true);
    assert.equal(existsSync(join(setup.cwd, "notes.txt")), false);
    const mode = agreed.session.configOptions.find(({ category }) => category === "mode");
    assert.equal(mode?.type === "select" && mode.currentValue, "code");
  },
);

inEveryVersion("/plan only plans", project, async (setup) => {
  const { answer, asks } = await say(setup, "/plan delete notes.txt, then run the tests", { mode: "code" });
  assert.match(answer, /The plan:\n1\. delete notes\.txt\n2\. run the tests/);
  assert.equal(asks.length, 0);
  assert.ok(existsSync(join(setup.cwd, "notes.txt")));
});

inEveryVersion("/test runs the tests", project, async (setup) => {
  const { answer } = await say(setup, "/test");
  assert.match(answer, /The tests passed/);
});

inEveryVersion("in mode chat it has no tools and says so", project, async (setup) => {
  const { answer, stories } = await say(setup, "read notes.txt", { mode: "chat" });
  assert.match(answer, /In mode chat I have no tools/);
  assert.deepEqual(stories, []);
});

inEveryVersion("it reports what it did not understand, with examples", project, async (setup) => {
  const { answer } = await say(setup, "make me a sandwich");
  assert.match(answer, /I did not understand “make me a sandwich”[\s\S]*look around/);
});

inEveryVersion("a file that comes as a link is what “this” means", project, async (setup) => {
  const { session, updates } = await say(setup, "hello");
  updates.length = 0;
  await session.prompt([
    { type: "text", text: "explain this" },
    { type: "resource_link", uri: `file://${setup.cwd}/src/cat.ts`, name: "cat.ts" },
  ]).result;
  assert.match(said(updates), /TypeScript, 5 lines/);
});

inEveryVersion("the same words have the same effect every time", project, async (setup) => {
  const words = "look around, then search for purr and explain src/cat.ts";
  const [first, second] = [await say(setup, words), await say(setup, words)];
  assert.equal(first.answer, second.answer);
  assert.deepEqual(first.stories, second.stories);
});

test("it reads and changes unsaved text of the editor", {
  timeout: 20_000,
}, async (context) => {
  // only version 1 has files of the client
  const setup = { version: 1, cwd: temporaryFolder(context, project) } as const;
  const buffers = new Map([[join(setup.cwd, "notes.txt"), "unsaved hello\n"]]);
  const files = {
    canRead: true,
    canWrite: true,
    readText: async (path: string) => buffers.get(path) ?? readFileSync(path, "utf8"),
    writeText: async (path: string, content: string) => void buffers.set(path, content),
  };
  const { answer } = await say(setup, 'replace "hello" with "bye" in notes.txt', {
    clientDefinition: { files },
  });
  assert.match(answer, /Replaced/);
  assert.equal(buffers.get(join(setup.cwd, "notes.txt")), "unsaved bye\n");
  assert.equal(
    readFileSync(join(setup.cwd, "notes.txt"), "utf8"),
    project["notes.txt"],
    "saving is the editor's",
  );
});

inEveryVersion(
  "/plan plans what it could not do itself, and says so; nothing changes",
  project,
  async (setup) => {
    const { answer, asks } = await say(setup, "/plan rename notes.txt to old.txt, then write a good poem");
    assert.match(answer, /1\. rename notes\.txt to old\.txt\n2\. write a good poem/);
    assert.match(answer, /cannot carry out “write a good poem”: that takes another model/);
    assert.equal(asks.length, 0);
    assert.ok(existsSync(join(setup.cwd, "notes.txt")));
    assert.match((await say(setup, "/plan")).answer, /What should I plan\?/);
  },
);
