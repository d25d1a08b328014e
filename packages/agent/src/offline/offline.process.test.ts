// Tests the agent without a configured model, with the real tools.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { SessionUpdate } from "@parley/acp";
import {
  inEveryVersion,
  said,
  says,
  scriptedModel,
  type TalkOptions,
  talk,
  temporaryFolder,
  thought,
  toolStories,
  toolUpdates,
} from "../../test/support/agent-probe.ts";
import { commands } from "./commands.ts";

const project = {
  "src/main.ts": "// TODO\nexport function purr(): string {\n  return 'purr';\n}\n",
  "notes.txt": "hello hello\nworld\n",
  "old.txt": "old\n",
};

type Setup = Pick<TalkOptions, "version" | "cwd">;

/** Says one thing to the agent in its own session and gives what came of it. */
async function say(setup: Setup, words: string, more: Partial<TalkOptions> = {}) {
  const made = await talk({ ...setup, answers: Array(20).fill("allow_once"), ...more });
  const { stopReason } = await made.session.prompt(words).result;
  assert.equal(stopReason, "end_turn", made.log.join("\n"));
  return { ...made, answer: said(made.updates), stories: toolStories(made.updates) };
}

function plans(updates: readonly SessionUpdate[]): string[][] {
  return updates.flatMap((update) =>
    update.sessionUpdate === "plan_update" && update.plan.type === "items"
      ? [update.plan.entries.map(({ status }) => status)]
      : [],
  );
}

const docs = (name: string) => readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), "utf8");
const page = docs("offline.md");
const rows = [...page.matchAll(/^\| `(.+?)` \| `(.+)` \| (.+) \|$/gm)].map((row) => row.slice(1));
const blocks = [...page.matchAll(/^(```|~~~)text\n([\s\S]*?)\n\1$/gm)].map((block) => block[2] ?? "");

test("docs/offline.md lists every command", () => {
  const usages = rows.map(([usage]) => usage).filter((usage) => !usage?.startsWith("@"));
  assert.deepEqual(
    usages,
    commands.map(({ usage }) => usage),
  );
  assert.equal(blocks.length, 4);
});

test("parley help agent, /help and the word that the first notice names list every command", async (t) => {
  const help = docs("cli.md").replaceAll(/\s+/g, " ");
  const { answer } = await say({ version: 2, cwd: temporaryFolder(t, {}) }, "/help");
  const typed = await say({ version: 2, cwd: temporaryFolder(t, {}) }, "help");
  const [notice] = typed.updates.filter((update) => update.sessionUpdate === "notice");
  assert.match(String(notice?.description), /^Type `help` to see its commands\./);
  assert.doesNotMatch(typed.answer, /did not understand/);
  for (const { usage } of commands) {
    assert.ok(typed.answer.includes(`\`${usage}\``), usage);
    assert.ok(help.includes(usage.replace("[:FROM[-TO]]", "")), usage);
    assert.ok(answer.includes(`\`${usage}\``), usage);
  }
});

for (const [, example = "", shown = ""] of rows) {
  test(`the example \`${example}\` of docs/offline.md works`, { timeout: 20_000 }, async (t) => {
    const server = createServer((_, response) => response.end("hello")).listen(0, "127.0.0.1");
    t.after(() => server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo; // it listens
    const local = (text: string) => text.replace("https://example.org/", `http://127.0.0.1:${port}/`);
    const setup = { version: 2, cwd: temporaryFolder(t, project) } as const;
    const { answer, stories, updates } = await say(setup, local(example), { privateHosts: ["*"] });
    const [, words = ""] = /^@(?:say|think) (.*)$/.exec(example) ?? [];
    if (!example.startsWith("@")) {
      const titles = local(shown).split(", ");
      assert.deepEqual(
        stories,
        titles.map((title) => `${title}: pending > in_progress > completed`),
        answer,
      );
    } else assert.ok(`${answer}${thought(updates)}`.includes(words), answer);
    assert.doesNotMatch(answer, /did not understand|failed/);
  });
}

for (const block of blocks) {
  inEveryVersion(`the request ${JSON.stringify(block)} of docs/offline.md works`, project, async (setup) => {
    const { answer, stories } = await say(setup, block);
    assert.doesNotMatch(answer, /did not understand|failed/);
    assert.ok(
      stories.length > 0 && stories.every((story) => story.endsWith("completed")),
      stories.join("\n"),
    );
  });
}

inEveryVersion("it says once that it is no AI, and answers plainly", project, async (setup) => {
  const { answer, asks, updates, session } = await say(setup, "list");
  assert.match(answer, /^In `\.`:\n```\nnotes\.txt\n/);
  const notices = () => updates.flatMap((each) => (each.sessionUpdate === "notice" ? [each.title] : []));
  assert.deepEqual(notices(), ["This is the offline model: fixed commands, no AI"]);
  assert.equal(asks.length, 0);
  await session.prompt("read notes.txt").result;
  assert.equal(notices().length, 1);
});

inEveryVersion("what fails is said as it is", project, async (setup) => {
  const { answer, updates } = await say(setup, "read absent.txt");
  assert.match(answer, /^That failed: there is no file absent\.txt/);
  const [failed] = toolUpdates(updates).filter(({ status }) => status === "failed");
  assert.deepEqual(failed?.content, [
    { type: "content", content: { type: "text", text: "there is no file absent.txt" } },
  ]);
  const none = await say(setup, "replace cat with dog in notes.txt");
  assert.equal(none.answer.split("\n")[0], "There is no `cat` in `notes.txt`: nothing was changed.");
});

inEveryVersion("it edits with a diff in the question, and respects a rejection", project, async (setup) => {
  const { answer, asks } = await say(setup, 'replace "hello" with "goodbye" in notes.txt');
  assert.equal(readFileSync(join(setup.cwd, "notes.txt"), "utf8"), "goodbye goodbye\nworld\n");
  assert.match(answer, /^Replaced `hello` with `goodbye` in `notes.txt`\./);
  const [ask] = asks;
  assert.equal(ask?.subject?.type === "tool_call" && ask.subject.toolCall.content?.[0]?.type, "diff");
  const refused = await say(setup, "delete notes.txt", { answers: ["reject_once"] });
  assert.ok(existsSync(join(setup.cwd, "notes.txt")));
  assert.match(refused.answer, /^You said no, so I did not do it\./);
});

inEveryVersion("a file that exists is read before it is replaced", project, async (setup) => {
  const { stories } = await say(setup, 'create notes.txt with "new"');
  assert.deepEqual(stories.slice(1), [
    "Read notes.txt: pending > in_progress > completed",
    "Write notes.txt: pending > in_progress > completed",
  ]);
  assert.equal(readFileSync(join(setup.cwd, "notes.txt"), "utf8"), "new\n");
});

inEveryVersion("several steps become a plan that is carried out", project, async (setup) => {
  const words =
    'create list.txt with "one"\nmove list.txt to items.txt then run cat items.txt, then delete items.txt';
  const { answer, updates, stories, asks } = await say(setup, words);
  assert.match(answer, /3\. run cat items\.txt: `cat items\.txt`:\n```\none/);
  assert.equal(existsSync(join(setup.cwd, "items.txt")), false);
  assert.ok(
    stories.every((story) => story.endsWith("completed")),
    stories.join("\n"),
  );
  assert.deepEqual(
    asks.map(({ title }) => title),
    ["Create list.txt", "Move list.txt to items.txt", "cat items.txt", "Delete items.txt"],
  );
  assert.equal(thought(updates), "These are 4 steps, so I will make a plan.");
  const seen = plans(updates);
  assert.deepEqual(seen[0], ["in_progress", "pending", "pending", "pending"]);
  assert.deepEqual(seen.at(-1), Array(4).fill("completed"));
  const kinds = new Set(toolUpdates(updates).map(({ kind }) => kind));
  for (const kind of ["think", "edit", "move", "execute", "delete"] as const)
    assert.ok(kinds.has(kind), kind);
});

inEveryVersion("a step that fails stops the plan and says what is left", project, async (setup) => {
  const { answer } = await say(setup, "run exit 3 then delete notes.txt then list");
  assert.match(answer, /1\. run exit 3: `exit 3` failed:[\s\S]*I stopped there: 2 steps are left/);
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
    const looked = await say(setup, "list", { mode: "architect", answers: [] });
    assert.match(looked.answer, /^In `\.`/, "looking needs no plan");
  },
);

inEveryVersion("/plan only plans", project, async (setup) => {
  const { answer, asks } = await say(setup, "/plan delete notes.txt, then run npm test", { mode: "code" });
  assert.match(answer, /The plan:\n1\. delete notes\.txt\n2\. run npm test/);
  assert.equal(asks.length, 0);
  assert.ok(existsSync(join(setup.cwd, "notes.txt")));
});

inEveryVersion("in mode chat it has no tools and says so", project, async (setup) => {
  const { answer, stories } = await say(setup, "read notes.txt", { mode: "chat" });
  assert.match(answer, /In mode chat I have no tools/);
  assert.deepEqual(stories, []);
});

inEveryVersion("a scripted line makes any call, and its refusal is the agent's", project, async (setup) => {
  const words = '@tool delete {"path": "notes.txt"}\n@tool read {"file": 1}\n@tool nothing\n@say Done it.';
  const { answer, stories } = await say(setup, words, { answers: ["reject_once"] });
  assert.match(answer, /^Done it\./);
  assert.equal(stories.length, 3);
  assert.ok(!stories.some((story) => story.endsWith("completed")), stories.join("\n"));
  assert.ok(existsSync(join(setup.cwd, "notes.txt")));
});

inEveryVersion("cancelling ends a scripted wait", project, async (setup) => {
  const { session, updates } = await talk(setup);
  const prompt = session.prompt("@say waiting\n@wait 9000");
  while (!said(updates).includes("waiting")) await new Promise(setImmediate);
  await prompt.cancel();
  assert.equal((await prompt.result).stopReason, "cancelled");
});

inEveryVersion(
  "another model is offered where a request needs one, and can be chosen",
  project,
  async (setup) => {
    const models = [scriptedModel([says("It purrs.")], { id: "lmstudio/qwen3", name: "Qwen 3" })];
    const words = "what does this project do?";
    const { answer, session, updates } = await say(setup, words, { models, model: "offline" });
    assert.match(answer, /Qwen 3 is ready, and `\/model lmstudio\/qwen3` uses it/);
    await session.prompt("/model lmstudio/qwen3").result;
    await session.prompt(words).result;
    assert.match(said(updates), /It purrs\.$/);
  },
);

inEveryVersion("a file that comes as a link in place of its name is meant", project, async (setup) => {
  const { session, updates } = await talk(setup);
  await session.prompt([
    { type: "text", text: "read " },
    { type: "resource_link", uri: `file://${setup.cwd}/src/main.ts`, name: "main.ts" },
  ]).result;
  assert.match(said(updates), /export function purr/);
});

inEveryVersion("the same words have the same effect every time", project, async (setup) => {
  const words = "list, then search purr then read src/main.ts";
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
