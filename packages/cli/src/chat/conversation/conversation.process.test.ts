// Tests the conversation without a screen: prompts, the queue, steering, stopping, crashes, questions and sessions.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { SessionView } from "@parley/acp/view";
import type { OpenQuestion } from "@parley/client/conversation";
import { scripted } from "../../../../client/test/support/managed-probe.ts";
import {
  chatHome,
  chatWith,
  farAgent,
  patience,
  promptsIn,
  saidIn,
} from "../../../test/support/chat-probe.ts";

/** Says a word, and waits at the gate "go" before it ends; a prompt "quick" ends at once. */
const waits = {
  turns: [{ when: "quick", steps: [{ say: "done quickly" }] }],
  otherwise: [{ say: "working" }, { wait: { gate: "go" } }],
} as const;

const text = (words: string) => ({ text: words });

test("a prompt can be written before the agent has started, and is answered", patience, async (t) => {
  const far = await farAgent(t, { title: "Far", otherwise: [{ say: "hello {{prompt}}" }] });
  const { cwd } = chatHome(t, { far });
  const { session, answered, until } = chatWith(t, { cwd, agent: "far" });
  assert.equal(session.phase, "starting");
  session.send(text("you"));
  assert.equal(session.unsent.filter((each) => each === "you").length, 1);
  assert.equal(await answered(1), "hello you");
  await until(() => session.phase === "ready");
  assert.equal(session.agent.name, "far");
  assert.equal(session.agent.title, "Far 1.0.0");
  assert.equal(session.title, "you");
  assert.equal(session.sandbox, "no sandbox", "it runs its own tools, and nothing of ours confines them");
});

test(
  "prompts wait while the agent works: they can be moved, taken back, and are sent in order",
  patience,
  async (t) => {
    const far = await farAgent(t, waits);
    const { cwd } = chatHome(t, { far });
    const { session, answered, until, caughtUp } = chatWith(t, { cwd, agent: "far" });
    session.send(text("first"));
    await far.agent.reached("go");
    for (const word of ["one", "two", "quick"]) session.send(text(word));
    await caughtUp();
    assert.deepEqual(
      session.queue.map((each) => each.text),
      ["one", "two", "quick"],
    );
    session.moveQueued(session.queue[2]?.id ?? "", -2);
    await caughtUp();
    assert.deepEqual(
      session.queue.map((each) => each.text),
      ["quick", "one", "two"],
    );
    const [, one, two] = session.queue;
    assert.deepEqual(await session.unqueue(two?.id ?? ""), text("two"));
    assert.deepEqual(await session.unqueue(one?.id ?? ""), text("one"));
    far.agent.open("go");
    assert.equal(await answered(2), "working|done quickly");
    await until(() => session.turn === undefined);
    assert.equal(promptsIn(session), "first|quick");
  },
);

test("a cancel stops the turn and holds what waits; the next prompt goes first", patience, async (t) => {
  const far = await farAgent(t, waits);
  const { cwd } = chatHome(t, { far });
  const { session, answered, events, caughtUp } = chatWith(t, { cwd, agent: "far" });
  session.send(text("long work"));
  await far.agent.reached("go");
  session.send(text("quick"));
  session.cancel();
  await caughtUp();
  assert.notEqual(session.turn?.isCancelling, false, "it stops, or has stopped");
  await answered(1);
  const [ended] = events.filter((event) => event.kind === "turn");
  assert.equal(ended?.kind === "turn" && ended.summary.result.stopReason, "cancelled");
  assert.deepEqual(
    session.queue.map((each) => each.text),
    ["quick"],
    "it waits",
  );
  assert.equal(session.turn, undefined);
  far.agent.open("go");
  session.send(text("instead"));
  await answered(3);
  assert.equal(promptsIn(session), "long work|instead|quick");
});

test("an agent that takes messages while it works is steered", patience, async (t) => {
  const far = await farAgent(t, {
    concurrentPrompts: "inbox",
    otherwise: [
      { say: "working" },
      { take: true, as: "more" },
      { say: "with {{more}}" },
      { wait: { gate: "go" } },
    ],
  });
  const { cwd } = chatHome(t, { far });
  const { session, until } = chatWith(t, { cwd, agent: "far" });
  session.send(text("long work"));
  await until(() => saidIn(session) === "working");
  assert.equal(session.agent.accepts.steering, true);
  assert.equal(await session.steer(text("and this")), "steered");
  await far.agent.reached("go");
  await until(() => promptsIn(session) === "long work|and this");
  assert.equal(session.turn?.isCancelling, false, "the turn goes on");
  far.agent.open("go");
  await until(() => session.turn === undefined);
});

test("an agent that cannot be steered is stopped, and gets the message next", patience, async (t) => {
  const far = await farAgent(t, { ...waits, editions: ["v1"] });
  const { cwd } = chatHome(t, { far });
  const { session, answered } = chatWith(t, { cwd, agent: "far" });
  session.send(text("long work"));
  await far.agent.reached("go");
  assert.equal(await session.steer(text("quick")), "resent");
  assert.equal(await answered(2), "working|done quickly");
  assert.equal(await session.steer(text("quick")), "sent", "nothing runs");
});

test("an agent that does not stop is ended by force, and the session goes on", patience, async (t) => {
  const { cwd } = chatHome(t);
  const sessions = [{ sessionId: "old", cwd }];
  const stuck = { sessions, otherwise: [{ say: "stuck" }, { hang: "turn" }] };
  const again = { sessions, otherwise: [{ say: "back" }] };
  const { entry, starts } = scripted(t, { play: stuck as never }, { play: again as never });
  const command = [entry.command, ...entry.args];
  const { session, answered, until } = chatWith(t, { cwd, command, session: "old" });
  session.send(text("work"));
  await until(() => saidIn(session) === "stuck");
  session.cancel();
  await session.force();
  assert.equal(session.turn, undefined);
  assert.equal(session.phase, "ready");
  assert.equal(starts().length, 2);
  session.send(text("more"));
  assert.equal(await answered(2), "stuck|back");
});

test("a crash shows why, without secrets, and a restart continues the session", patience, async (t) => {
  const key = "sk-ant-api03-0123456789abcdefghijklmnop";
  const before = process.env["ANTHROPIC_API_KEY"];
  process.env["ANTHROPIC_API_KEY"] = key;
  t.after(() => {
    if (before === undefined) delete process.env["ANTHROPIC_API_KEY"];
    else process.env["ANTHROPIC_API_KEY"] = before;
  });
  const { cwd } = chatHome(t);
  const sessions = [{ sessionId: "old", cwd }];
  const crashes = { sessions, otherwise: [{ say: "begun" }, { crash: {} }] };
  const first = { stderr: `no room left for ${key}\n`, play: crashes };
  const { entry } = scripted(t, first as never, { play: { sessions, otherwise: [{ say: "back" }] } });
  const command = [entry.command, ...entry.args];
  const { session, answered, until } = chatWith(t, { cwd, command, session: "old" });
  session.send(text("work"));
  await until(() => session.phase === "crashed" && session.turn === undefined);
  assert.match(session.problem?.message ?? "", /the agent ended/);
  assert.match(session.problem?.stderr ?? "", /no room left for/);
  assert.doesNotMatch(JSON.stringify(session.problem), new RegExp(key));
  await session.restart();
  assert.equal(session.phase, "ready");
  session.send(text("again"));
  assert.equal(await answered(2), "begun|back");
});

test(
  "a prompt at which the agent crashes before it says a word is sent again, and shown once",
  patience,
  async (t) => {
    const { cwd } = chatHome(t);
    const sessions = [{ sessionId: "old", cwd }];
    const { entry } = scripted(t, { play: { sessions, otherwise: [{ crash: {} }] } } as never, {
      play: { sessions, otherwise: [{ say: "back" }] },
    });
    const command = [entry.command, ...entry.args];
    const { session, answered, conversation } = chatWith(t, { cwd, command, session: "old" });
    const kinds = ({ view }: { readonly view: SessionView }) => view.timeline.map(({ kind }) => kind);
    session.send(text("work"));
    assert.equal(await answered(1), "back");
    assert.deepEqual(kinds(session), ["user_message", "agent_message"]);
    const [first] = session.view.timeline;
    assert.equal(first?.kind === "user_message" && first.result?.stopReason, "end_turn");
    // typed again, it is another one
    session.send(text("work"));
    await answered(2);
    assert.equal(kinds(session).length, 4);
    const { historyId = "" } = session;
    await conversation.close();
    const again = chatWith(t, { cwd, command, session: historyId });
    await again.until(() => again.session.phase === "ready");
    assert.equal(kinds(again.session).length, 4, "in the history too");
  },
);

test(
  "where the agent has lost the session, a no to a new one keeps the prompt, and it is asked again",
  patience,
  async (t) => {
    const { cwd } = chatHome(t);
    const sessions = [{ sessionId: "old", cwd }];
    const { entry } = scripted(t, { play: { sessions, otherwise: [{ crash: {} }] } } as never, {
      play: { sessions: [{ sessionId: "other", cwd }], otherwise: [{ say: "here" }] },
    });
    const command = [entry.command, ...entry.args];
    const { session, answered, until } = chatWith(t, { cwd, command, session: "old" });
    const asked = async () => {
      await until(() => session.questions.length > 0);
      const [question] = session.questions;
      return question?.kind === "confirm" ? question : assert.fail("another question");
    };
    session.send(text("work"));
    (await asked()).answer(false);
    await until(() => session.phase === "crashed" && session.turn === undefined);
    assert.deepEqual(
      session.queue.map((each) => each.text),
      ["work"],
    );
    const restarted = session.restart();
    const again = await asked();
    assert.match(again.ask, /Start a new one/);
    again.answer(true);
    await restarted;
    const [waiting] = session.queue;
    session.send((await session.unqueue(waiting?.id ?? "")) ?? text("lost"));
    assert.equal(await answered(2), "here");
  },
);

test("a connection that is cut between two turns is made again for the next prompt", patience, async (t) => {
  const far = await farAgent(t, { otherwise: [{ say: "hello {{prompt}}" }] });
  const { cwd } = chatHome(t, { far });
  const { session, answered, until } = chatWith(t, { cwd, agent: "far" });
  session.send(text("one"));
  await answered(1);
  await until(() => session.turn === undefined);
  far.cut();
  await until(() => session.phase === "crashed");
  session.send(text("two"));
  assert.equal(await answered(2), "hello one|hello two");
  assert.equal(session.phase, "ready");
});

test(
  "an agent that does not start has failed with the reason, and can be tried again",
  patience,
  async (t) => {
    const { entry } = scripted(
      t,
      { exit: 3, stderr: "no config\n" },
      { play: { otherwise: [{ say: "here" }] } },
    );
    const { cwd } = chatHome(t);
    const { session, answered, until } = chatWith(t, { cwd, command: [entry.command, ...entry.args] });
    session.send(text("hi"));
    await until(() => session.phase === "failed");
    assert.match(`${session.problem?.message}${session.problem?.stderr}`, /no config/);
    assert.equal(session.queue.length, 1, "the prompt is not lost");
    await session.restart();
    assert.equal(await answered(1), "here");
  },
);

test(
  "what was written and not sent is there after a crash of Parley, and gone when it was sent",
  patience,
  async (t) => {
    const far = await farAgent(t, waits);
    const { cwd, home } = chatHome(t, { far });
    const one = chatWith(t, { cwd, agent: "far" });
    one.session.draft = "half a thought";
    await one.conversation.close();
    const folder = join(home, "state", "drafts");
    const [file = ""] = readdirSync(folder);
    assert.equal(readFileSync(join(folder, file), "utf8"), "half a thought");
    assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600);
    const two = chatWith(t, { cwd, agent: "far" });
    assert.equal(two.session.draft, "half a thought");
    two.session.draft = "";
    two.session.send(text("half a thought"));
    await far.agent.reached("go");
    two.session.send(text("waiting"));
    await two.caughtUp();
    await two.conversation.close();
    assert.equal(chatWith(t, { cwd, agent: "far" }).session.draft, "waiting", "the queue is kept, too");
  },
);

/** Waits for a question of this kind. */
async function asked<Kind extends OpenQuestion["kind"]>(
  { session, until }: ReturnType<typeof chatWith>,
  kind: Kind,
): Promise<Extract<OpenQuestion, { kind: Kind }>> {
  await until(() => session.questions.some((each) => each.kind === kind));
  const found = session.questions.find((each) => each.kind === kind);
  return found as Extract<OpenQuestion, { kind: Kind }>; // of this kind
}

test("questions are listed, answered once, and a no with words reaches the agent", patience, async (t) => {
  const far = await farAgent(t, {
    turns: [
      {
        when: "do it",
        steps: [
          {
            tool: { title: "Delete everything", kind: "delete" },
            steps: [{ ask: true, on: { refused: [{ say: "not done" }], allowed: [{ say: "deleted" }] } }],
          },
        ],
      },
    ],
    otherwise: [{ say: "you said: {{prompt}}" }],
  } as never);
  const { cwd } = chatHome(t, { far });
  const chat = chatWith(t, { cwd, agent: "far" });
  chat.session.send(text("do it"));
  const question = await asked(chat, "permission");
  question.answer({ id: "deny:once", said: "keep the logs" });
  question.answer("allow:once");
  await chat.caughtUp();
  assert.equal(chat.session.questions.length, 0);
  assert.match(
    await chat.answered(1),
    /^not done\|you said: About ".*", which I did not allow: keep the logs$/,
  );
});

test("a question that the agent needs no more leaves the list", patience, async (t) => {
  const far = await farAgent(t, {
    otherwise: [{ tool: { title: "Look around", kind: "delete" }, steps: [{ ask: true }] }],
  } as never);
  const { cwd } = chatHome(t, { far });
  const chat = chatWith(t, { cwd, agent: "far" });
  chat.session.send(text("work"));
  await asked(chat, "permission");
  chat.session.cancel();
  await chat.until(() => chat.session.questions.length === 0);
  await chat.answered(1);
});

test("a question of a subagent carries its name", patience, async (t) => {
  const parent = { toolCallId: "p", title: "Task: find bugs", kind: "think" };
  const _meta = { claudeCode: { parentToolUseId: "p" } };
  const child = {
    tool: { title: "Remove it", kind: "delete" },
    steps: [{ patch: { _meta } }, { ask: true }],
  };
  const far = await farAgent(t, { otherwise: [{ tool: parent, steps: [child] }] } as never);
  const { cwd } = chatHome(t, { far });
  const chat = chatWith(t, { cwd, agent: "far" });
  chat.session.send(text("work"));
  const question = await asked(chat, "permission");
  assert.equal(question.from, "Task: find bugs");
  question.answer("deny:once");
  await chat.answered(1);
});

test("a form of the agent is a question", patience, async (t) => {
  const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  const far = await farAgent(t, {
    otherwise: [
      {
        elicit: { mode: "form", message: "Who are you?", requestedSchema: schema },
        as: "answer",
        on: { accept: [{ say: "welcome" }] },
      },
    ],
  } as never);
  const { cwd } = chatHome(t, { far });
  const chat = chatWith(t, { cwd, agent: "far" });
  chat.session.send(text("work"));
  const { question, answer } = await asked(chat, "elicitation");
  assert.equal(question.message, "Who are you?");
  answer({ action: "accept", content: { name: "Ada" } });
  assert.equal(await chat.answered(1), "welcome");
});

test("settings of a folder are used only when the user trusts it", patience, async (t) => {
  const far = await farAgent(t, { otherwise: [{ say: "hi" }] });
  const { cwd } = chatHome(t, { far });
  mkdirSync(join(cwd, ".parley"));
  writeFileSync(join(cwd, ".parley", "policy"), "deny write secret/**\n");
  const chat = chatWith(t, { cwd, agent: "far" });
  const question = await asked(chat, "confirm");
  assert.match(question.lines.join("\n"), /secret/);
  question.answer(true);
  chat.session.send(text("hi"));
  assert.equal(await chat.answered(1), "hi");
});

test("sessions of several agents live at once; each is found, shown and closed", patience, async (t) => {
  const one = await farAgent(t, { otherwise: [{ say: "one: {{prompt}}" }] });
  const two = await farAgent(t, waits);
  const { cwd } = chatHome(t, { one, two });
  const { conversation, session, answered, until } = chatWith(t, { cwd, agent: "one" });
  session.send(text("about bread"));
  await answered(1);
  const other = conversation.open({ kind: "new", agent: "two" });
  assert.equal(conversation.current, other);
  other.send(text("about cake"));
  await two.agent.reached("go");
  await until(() => saidIn(other) === "working");
  const signal = new AbortController().signal;
  const all = await conversation.find("", signal);
  assert.deepEqual(
    all.map(({ agent, title, state }) => `${agent} ${title} ${state}`),
    ["one about bread open", "two about cake working"],
  );
  assert.deepEqual(conversation.open(all[0]?.target ?? assert.fail()), session);
  assert.equal(conversation.current, session);
  await other.close();
  await until(() => conversation.sessions.length === 1);
  assert.deepEqual(
    (await conversation.agents()).filter(({ name }) => name === "two"),
    [{ name: "two", description: `two, at ${new URL(two.url).host}`, isInstalled: true, isDefault: false }],
  );
});

test("a session of the history is found by its words and goes on where it was", patience, async (t) => {
  const far = await farAgent(t, { otherwise: [{ say: "hello {{prompt}}" }] });
  const { cwd } = chatHome(t, { far });
  const before = chatWith(t, { cwd, agent: "far" });
  before.session.send(text("marmalade"));
  await before.answered(1);
  await before.session.rename("Breakfast");
  assert.match(await before.exported("markdown"), /# Breakfast[\s\S]*hello marmalade/);
  await before.conversation.close();
  const { conversation, until } = chatWith(t, { cwd, agent: "far" });
  const [found] = await conversation.find("marmalade", new AbortController().signal);
  assert.equal(found?.title, "Breakfast");
  assert.match(found?.excerpt ?? "", /marmalade/);
  const session = conversation.open(found?.target ?? assert.fail());
  session.send(text("toast"));
  await until(() => saidIn(session) === "hello marmalade|hello toast");
  assert.deepEqual(await conversation.prompts("oa"), ["toast"]);
  assert.deepEqual(await conversation.prompts(), ["toast", "marmalade"]);
});

test(
  "sessions of agents that do not run are found when these are asked; choosing one starts its agent",
  patience,
  async (t) => {
    const far = await farAgent(t, { otherwise: [{ say: "far" }] });
    const sessions = [{ sessionId: "theirs", cwd: "", title: "Made elsewhere" }];
    const work = mkdtempSync(join(tmpdir(), "parley-elsewhere-"));
    t.after(() => rmSync(work, { recursive: true, force: true }));
    const other = await farAgent(t, {
      sessions: sessions.map((each) => ({ ...each, cwd: work })),
      otherwise: [{ say: "other" }],
    } as never);
    const gone = { ...far, url: "ws://127.0.0.1:1/" };
    const { cwd } = chatHome(t, { far, other, gone });
    const { conversation, session, until } = chatWith(t, { cwd, agent: "far" });
    await until(() => session.phase === "ready");
    const find = async () =>
      (await conversation.find("elsewhere", new AbortController().signal)).map(
        ({ agent, title, target }) => ({
          agent,
          title,
          target,
        }),
      );
    assert.deepEqual(await find(), []);
    const problems = await conversation.askOthers();
    assert.match(problems.join("\n"), /gone cannot be asked: /);
    const target = { kind: "listed", agent: "other", sessionId: "theirs", cwd: work } as const;
    assert.deepEqual(await find(), [{ agent: "other", title: "Made elsewhere", target }]);
    const opened = conversation.open(target);
    await until(() => opened.phase === "ready");
    assert.equal(opened.agent.name, "other");
    assert.equal(opened.cwd, work);
  },
);

test(
  "a shell line keeps its directory, is shown, and the next prompt tells the agent",
  patience,
  async (t) => {
    const far = await farAgent(t, { otherwise: [{ say: "ok" }] });
    const { cwd } = chatHome(t, { far });
    mkdirSync(join(cwd, "inner"));
    const { session, answered } = chatWith(t, { cwd, agent: "far" });
    await session.shell("cd inner");
    await session.shell("pwd; exit 3");
    const calls = [...session.view.toolCalls.values()];
    assert.deepEqual(
      calls.map(({ label, status }) => `${label}: ${status}`),
      ["! cd inner: completed", "! pwd; exit 3: failed"],
    );
    const [, terminal] = session.view.terminals.values();
    assert.equal(terminal?.output.text(), `${join(cwd, "inner")}\n`);
    session.send(text("what now"));
    await answered(1);
    const [prompt] = session.view.timeline.filter((item) => item.kind === "user_message");
    assert.match(JSON.stringify(prompt), /I ran this command in .*inner \(exit code 3\)/);
  },
);

test(
  "a turn ends with what it changed, and files and folders are found for mentions",
  patience,
  async (t) => {
    const far = await farAgent(t, { otherwise: [{ say: "ok" }] });
    const { cwd } = chatHome(t, { far });
    writeFileSync(join(cwd, "session-view.ts"), "");
    writeFileSync(join(cwd, "other.ts"), "");
    const order: string[] = [];
    const changes = () => ({
      begin: async () => void order.push("begin"),
      protect: async () => undefined,
      takeReport: () => undefined,
      end: async () => ({ files: 3, added: 92, removed: 46 }),
    });
    const { conversation, session, answered, events } = chatWith(t, { cwd, agent: "far" }, { changes });
    session.send(text("go"));
    await answered(1);
    const ended = events.find((event) => event.kind === "turn");
    assert.deepEqual(ended?.kind === "turn" && ended.summary.changed, { files: 3, added: 92, removed: 46 });
    assert.deepEqual(order, ["begin"]);
    const { signal } = new AbortController();
    assert.deepEqual(await conversation.findFiles("svi", signal), ["session-view.ts"]);
    mkdirSync(join(cwd, "src/deep"), { recursive: true });
    writeFileSync(join(cwd, "src/deep/a.ts"), "");
    const other = chatWith(t, { cwd, agent: "far" });
    assert.deepEqual(
      (await other.conversation.findFiles("", signal))[0],
      "src/",
      "folders of the top level first",
    );
    assert.deepEqual(await other.conversation.findFiles("deep", signal), ["src/deep/", "src/deep/a.ts"]);
    assert.deepEqual(await other.conversation.findFiles("src/deep/", signal), ["src/deep/", "src/deep/a.ts"]);
  },
);

test("a prompt that the agent does not have yet is kept when Parley ends", patience, async (t) => {
  const far = await farAgent(t, { otherwise: [{ say: "ok" }] });
  const { cwd } = chatHome(t, { far });
  const snapshot = Promise.withResolvers<void>();
  const changes = () => ({
    begin: () => snapshot.promise,
    protect: async () => undefined,
    takeReport: () => undefined,
    end: async () => undefined,
  });
  const { session, conversation, until } = chatWith(t, { cwd, agent: "far" }, { changes });
  session.send(text("a long thought"));
  await until(() => session.turn !== undefined);
  assert.equal(session.queue.length, 0);
  await conversation.close();
  snapshot.resolve();
  assert.equal(chatWith(t, { cwd, agent: "far" }).session.draft, "a long thought");
});
