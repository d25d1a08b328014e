import assert from "node:assert/strict";
import { test } from "node:test";
import type { Conversation } from "@parley/client/conversation";
import type { Conversations, SessionTarget } from "../conversation/conversations.ts";
import { PlainCommands } from "./plain-commands.ts";
import type { LineInput } from "./typed-lines.ts";

/** Commands over a session whose prompts wait, with a user who answers like this. */
function commands(answers: string[], found: readonly SessionTarget[] = []) {
  let queue = ["one", "two", "three"].map((text) => ({ id: text, text }));
  const session = {
    cwd: "/here",
    phase: "ready",
    agent: { name: "near" },
    commands: [
      { name: "plan", description: "make a plan" },
      { name: "undo", description: "theirs" },
    ],
    send: ({ text }: { readonly text: string }) => queue.push({ id: text, text }),
    get queue() {
      return queue;
    },
    moveQueued: (id: string, by: number) => {
      const at = queue.findIndex((each) => each.id === id);
      const moved = queue.slice(at, at + 1);
      queue = queue.toSpliced(at, 1).toSpliced(at + by, 0, ...moved);
    },
    unqueue: async (id: string) => {
      const found = queue.find((each) => each.id === id);
      queue = queue.filter((each) => each !== found);
      return found && { text: found.text };
    },
  } as unknown as Conversation; // what is used
  const opened: SessionTarget[] = [];
  let asked = 0;
  const conversation = {
    current: session,
    find: async () =>
      found.map((target) => ({ agent: "far", title: "t", cwd: "/x", updatedAt: 1, state: "kept", target })),
    open: (target: SessionTarget) => opened.push(target),
    askOthers: async () => {
      asked += 1;
      return ["gone cannot be asked"];
    },
  } as unknown as Conversations; // what is used
  const said: string[] = [];
  const lines = {
    ask: async (question: string) => {
      said.push(question);
      return answers.shift();
    },
  } as unknown as LineInput; // what is used
  const plain = new PlainCommands({
    conversation,
    lines,
    paint: (_, text) => text,
    review: () => undefined,
    say: (text) => said.push(text),
    leave: () => undefined,
  });
  const waiting = () => queue.map(({ text }) => text).join(" ");
  return { plain, said, waiting, opened, asked: () => asked };
}

test("waiting prompts are moved by number, or taken back", async () => {
  const moved = commands(["3", "1"]);
  await moved.plain.handle("/queue");
  assert.equal(moved.waiting(), "three one two");
  assert.match(moved.said.at(-1) ?? "", /^1\. three\n2\. one\n3\. two$/);
  const back = commands(["1", "3"]);
  await back.plain.handle("/queue");
  assert.equal(back.waiting(), "two three one");
  const taken = commands(["2", "t"]);
  await taken.plain.handle("/queue");
  assert.equal(taken.waiting(), "one three");
  for (const wrong of ["4", "0", "x", ""]) {
    const left = commands(["2", wrong]);
    await left.plain.handle("/queue");
    assert.equal(left.waiting(), "one two three");
  }
});

test("a session that an agent says is in another folder is opened only with a yes", async () => {
  const target = { kind: "listed", agent: "far", sessionId: "s", cwd: "/elsewhere" } as const;
  for (const [answer, isOpened] of [
    ["y", true],
    ["", false],
    ["n", false],
  ] as const) {
    const { plain, said, opened } = commands(["1", answer], [target]);
    await plain.handle("/resume");
    assert.match(said.join("\n"), /far says that this session works in \/elsewhere/);
    assert.deepEqual(opened, isOpened ? [target] : []);
  }
  const here = { ...target, cwd: "/here" };
  const { plain, opened } = commands(["1"], [here]);
  await plain.handle("/resume");
  assert.deepEqual(opened, [here]);
});

test("agents that do not run are asked for their sessions by the last number", async () => {
  const kept = { kind: "kept", id: "k" } as const;
  const { plain, said, opened, asked } = commands(["2", "1"], [kept]);
  await plain.handle("/resume");
  assert.equal(asked(), 1);
  assert.match(said.join("\n"), /2\. Ask the other agents[\s\S]*gone cannot be asked/);
  assert.deepEqual(opened, [kept]);
});

test("a command that nobody knows is not sent, unless it is typed again", async () => {
  const { plain, said, waiting } = commands([]);
  await plain.handle("/undp");
  assert.match(said.at(-1) ?? "", /there is no command \/undp: did you mean \/undo\?/);
  assert.equal(waiting(), "one two three");
  await plain.handle("/nosuch thing");
  assert.match(said.at(-1) ?? "", /\/help lists them/);
  await plain.handle("/nosuch thing");
  await plain.handle("/plan it");
  await plain.handle("/etc/hosts has what?");
  assert.equal(waiting(), "one two three /nosuch thing /plan it /etc/hosts has what?");
});

test("the help does not list commands of the agent that ours hide", async () => {
  const { plain, said } = commands([]);
  await plain.handle("/help");
  assert.match(said.join("\n"), /Commands of near:\n\/plan: make a plan$/);
});
