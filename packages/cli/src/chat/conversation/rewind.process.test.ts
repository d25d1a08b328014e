// Tests rewinding a session: the conversation goes on from an earlier prompt, with the files as they were.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { codingAgent } from "@parley/agent";
import type { Conversation, RewindOutcome } from "@parley/client/conversation";
import type { AgentScenario } from "@parley/conformance/testing";
import { atEnd } from "../../../../acp/test/support/at-end.ts";
import {
  chatHome,
  chatWith,
  farAgent,
  patience,
  promptsIn,
  saidIn,
  servedBySocket,
} from "../../../test/support/chat-probe.ts";
import type { LiveOptions } from "../../live/live-options.ts";
import { SessionReview } from "../review/session-review.ts";

const text = (words: string) => ({ text: words });

/** An agent during whose turns files change: it waits meanwhile. */
const turn = (name: string) => ({
  when: { contains: name },
  steps: [{ wait: { gate: name } }, { say: `did ${name}` }],
});
const works: Partial<AgentScenario> = {
  turns: ["fourth", "third", "second", "first"].map(turn),
  otherwise: [{ say: "heard {{prompt}}" }],
};

/** A conversation whose turns are followed by a review. */
function chat(t: TestContext, given: Partial<LiveOptions> & { readonly cwd: string }) {
  const reviews = new Set<SessionReview>();
  atEnd(t, () => Promise.all([...reviews].map((review) => review.close())));
  const probe = chatWith(
    t,
    { agent: "far", ...given },
    {
      changes(place) {
        const review = new SessionReview(place);
        reviews.add(review);
        return review;
      },
    },
  );
  const { conversation } = probe;
  const idle = (session: Conversation, said: string) =>
    probe.until(() => session.turn === undefined && saidIn(session).endsWith(said));
  return {
    ...probe,
    async ask(words: string, said: string, session = conversation.current): Promise<void> {
      session.send(text(words));
      await idle(session, said);
    },
    /** Opens the session of a rewind. */
    opened({ session }: RewindOutcome): Conversation {
      return conversation.open({ kind: "kept", id: session.historyId ?? "" });
    },
    async leave(): Promise<void> {
      await conversation.close();
      await Promise.all([...reviews].map((review) => review.close()));
      reviews.clear();
    },
  };
}

type Files = Readonly<Record<string, string>>;

const changes: Readonly<Record<string, Files>> = {
  first: { "a.txt": "one\n" },
  second: { "a.txt": "one\ntwo\n", "b.txt": "b\n" },
  third: { "b.txt": "c\n" },
  fourth: { "b.txt": "d\n" },
};

/** Turns in which these files change. */
async function turns(
  { ask }: Pick<ReturnType<typeof chat>, "ask">,
  { agent }: Pick<Awaited<ReturnType<typeof farAgent>>, "agent">,
  cwd: string,
  names: readonly string[] = ["first", "second", "third"],
): Promise<void> {
  for (const name of names) {
    const answered = ask(name, `did ${name}`);
    await agent.reached(name);
    for (const [file, content] of Object.entries(changes[name] ?? {}))
      writeFileSync(join(cwd, file), content);
    agent.open(name);
    await answered;
  }
}

/** The id of the prompt with these words. */
function prompt({ prompts }: Conversation, words: string): string {
  return prompts.find((each) => each.text === words)?.messageId ?? assert.fail(`no prompt ${words}`);
}

const read = (cwd: string, name: string) =>
  existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), "utf8") : undefined;

for (const [how, play, memory] of [
  ["whose agent forks at a message", { unstable: ["fork"] }, "kept"],
  ["whose agent forks, but at no message", { unstable: ["fork"], editions: ["v1"] }, "told"],
  ["whose agent has no forks", {}, "told"],
] as const)
  test(
    `a session ${how} goes on from an earlier prompt, with the files as they were`,
    patience,
    async (t) => {
      const agent = await farAgent(t, { ...works, ...play });
      const { cwd } = chatHome(t, { far: agent });
      const far = chat(t, { cwd });
      const { session, conversation, ask } = far;
      await turns(far, agent, cwd);
      const [, second] = session.prompts;
      assert.deepEqual([second?.text, second?.changed], ["second", { files: 2, added: 2, removed: 0 }]);
      const rewound = await session.rewind(prompt(session, "second"));
      assert.equal(rewound.memory, memory);
      assert.deepEqual(rewound.input, { text: "second" });
      assert.deepEqual([read(cwd, "a.txt"), read(cwd, "b.txt")], ["one\n", undefined]);
      assert.deepEqual(rewound.files, { files: 2, kept: [], notes: [] });
      const branch = far.opened(rewound);
      assert.equal(conversation.current, branch);
      assert.equal(promptsIn(branch), "first");
      assert.deepEqual([session.title, branch.title], ["first", "first"]);
      await turns(far, agent, cwd, ["fourth"]);
      assert.equal(read(cwd, "b.txt"), "d\n");
      // the branch that was left is still there, and says so
      assert.equal(promptsIn(session), "first|second|third");
      const found = await conversation.find("", new AbortController().signal);
      const here = found.filter((each) => each.cwd === cwd);
      assert.deepEqual(
        here.map(({ isLeft }) => isLeft),
        [true, false],
      );
      // back again
      const back = await branch.undoRewind();
      assert.equal(back.memory, "back");
      assert.equal(far.opened(back), session);
      assert.deepEqual([read(cwd, "a.txt"), read(cwd, "b.txt")], ["one\ntwo\n", "c\n"]);
      assert.equal(session.branches, undefined);
      await ask("more", "heard more");
    },
  );

test(
  "a new session is told the conversation with its first prompt, once, also after a restart",
  patience,
  async (t) => {
    const agent = await farAgent(t, { otherwise: [{ say: "heard {{prompt}}" }] });
    const { cwd } = chatHome(t, { far: agent });
    const first = chat(t, { cwd });
    await first.ask("one", "heard one");
    await first.ask("two", "heard two");
    const branch = first.opened(await first.session.rewind(prompt(first.session, "two")));
    const id = branch.historyId ?? "";
    await first.leave();
    const second = chat(t, { cwd, agent: undefined, session: id });
    await second.until(() => second.session.phase === "ready");
    assert.equal(promptsIn(second.session), "one");
    second.session.send(text("three"));
    await second.answered(1);
    assert.match(saidIn(second.session), /heard three[\s\S]*User: one\s+Assistant: heard one\s+```$/);
    second.session.send(text("four"));
    await second.answered(2);
    assert.match(saidIn(second.session), /\|heard four$/);
  },
);

test(
  "what the user changed meanwhile stays, and it is said what could not be put back",
  patience,
  async (t) => {
    const agent = await farAgent(t, works);
    const { cwd } = chatHome(t, { far: agent });
    const far = chat(t, { cwd });
    const { session } = far;
    await turns(far, agent, cwd);
    // beside the agent's lines, and instead of them
    writeFileSync(join(cwd, "a.txt"), "mine\none\ntwo\n");
    writeFileSync(join(cwd, "b.txt"), "mine\n");
    const { files, session: branch } = await session.rewind(prompt(session, "second"));
    assert.equal(read(cwd, "a.txt"), "mine\none\n");
    assert.equal(read(cwd, "b.txt"), "mine\n");
    assert.deepEqual(
      files.kept.map(({ path }) => path),
      [join(cwd, "b.txt")],
    );
    assert.equal(files.files, 1);
    await far.opened({ session: branch, memory: "kept", files }).undoRewind();
    assert.deepEqual([read(cwd, "a.txt"), read(cwd, "b.txt")], ["mine\none\ntwo\n", "mine\n"]);
  },
);

test(
  "a rewind of a branch takes back the turns of the session that it was rewound from",
  patience,
  async (t) => {
    const agent = await farAgent(t, { ...works, unstable: ["fork"] });
    const { cwd } = chatHome(t, { far: agent });
    const first = chat(t, { cwd });
    await turns(first, agent, cwd);
    const once = first.opened(await first.session.rewind(prompt(first.session, "third")));
    assert.equal(read(cwd, "b.txt"), "b\n");
    await turns(first, agent, cwd, ["fourth"]);
    const id = once.historyId;
    // in another process
    await first.leave();
    const second = chat(t, { cwd, agent: undefined, session: id });
    await second.until(() => second.session.phase === "ready");
    assert.deepEqual(
      second.session.prompts.map((each) => each.text),
      ["first", "second", "fourth"],
    );
    const twice = await second.session.rewind(prompt(second.session, "second"));
    assert.deepEqual([read(cwd, "a.txt"), read(cwd, "b.txt")], ["one\n", undefined]);
    assert.deepEqual(twice.files.kept, []);
    const branch = second.opened(twice);
    assert.equal(promptsIn(branch), "first");
    const back = second.opened(await branch.undoRewind());
    assert.deepEqual([read(cwd, "a.txt"), read(cwd, "b.txt")], ["one\ntwo\n", "d\n"]);
    // the rewind before can still be undone
    const original = second.opened(await back.undoRewind());
    assert.equal(read(cwd, "b.txt"), "c\n");
    assert.equal(promptsIn(original), "first|second|third");
  },
);

test(
  "while a turn runs, and where nothing is stored, a rewind is refused with a sentence",
  patience,
  async (t) => {
    const agent = await farAgent(t, works);
    const { cwd } = chatHome(t, { far: agent });
    const far = chat(t, { cwd });
    const { session } = far;
    await turns(far, agent, cwd, ["first"]);
    session.send(text("second"));
    await agent.agent.reached("second");
    const one = prompt(session, "first");
    await assert.rejects(session.rewind(one), /the agent works: stop the turn or wait for its end/);
    await assert.rejects(session.rewind("nobody"), /the agent works/);
    agent.agent.open("second");
    await far.until(() => session.turn === undefined);
    await assert.rejects(session.rewind("nobody"), /no such prompt/);
    await assert.rejects(session.undoRewind(), /not begun by a rewind/);
    const unstored = chat(t, { cwd, keepsHistory: false });
    await unstored.ask("hello", "heard hello");
    await assert.rejects(unstored.session.rewind(prompt(unstored.session, "hello")), /not stored/);
    assert.equal(unstored.conversation.sessions.length, 1);
  },
);

test("our own agent goes on with its own memory, from the first prompt too", patience, async (t) => {
  const own = await servedBySocket(t, (transport) =>
    codingAgent({ version: "1.0.0", mode: "ask" }).connect(transport),
  );
  const { cwd } = chatHome(t, { far: own });
  writeFileSync(join(cwd, "a.txt"), "one\n");
  const far = chat(t, { cwd });
  const { session, conversation } = far;
  session.send(text("read a.txt"));
  await far.answered(1);
  session.send(text("list ."));
  await far.answered(2);
  const rewound = await session.rewind(prompt(session, "list ."));
  assert.equal(rewound.memory, "kept");
  const branch = far.opened(rewound);
  assert.equal(promptsIn(branch), "read a.txt");
  branch.send(text("/compact"));
  await far.answered(3);
  assert.ok(conversation.current.commands.some(({ name }) => name === "compact"));
  assert.match(saidIn(branch), /replaced by a summary|could not be summarised|nothing to summarise/);
  const again = far.opened(await session.rewind(prompt(session, "read a.txt")));
  assert.equal(promptsIn(again), "");
  assert.equal(again.view.timeline.length, 0);
});

test("a session is begun anew with the same agent, folder and options", patience, async (t) => {
  const mode = {
    type: "select",
    configId: "mode",
    name: "Mode",
    category: "mode",
    currentValue: "ask",
    options: [
      { value: "ask", name: "Ask" },
      { value: "plan", name: "Plan" },
    ],
  } as const;
  const agent = await farAgent(t, {
    open: { configOptions: [mode] },
    otherwise: [{ say: "heard {{prompt}}" }],
  });
  const { cwd } = chatHome(t, { far: agent });
  const far = chat(t, { cwd });
  await far.ask("one", "heard one");
  await far.session.setOption("mode", "plan");
  const fresh = far.conversation.open({ kind: "like", of: far.session });
  await far.until(() => fresh.phase === "ready");
  assert.equal(fresh.options[0]?.currentValue, "plan");
  assert.deepEqual([fresh.cwd, fresh.agent.name, promptsIn(fresh)], [cwd, "far", ""]);
  assert.equal(far.conversation.sessions.length, 2);
});
