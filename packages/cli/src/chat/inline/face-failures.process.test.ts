// Tests what a screen shows of a choice that fails and of a login: the reason below what it is about, and nothing twice.

import assert from "node:assert/strict";
import { test } from "node:test";
import { patience } from "../../../test/support/chat-probe.ts";
import { faceWith, keys } from "../../../test/support/face-probe.ts";

test(
  "a choice that fails adds the reason to what is on the screen, and nothing else",
  patience,
  async (t) => {
    const play = { otherwise: [{ say: "hello {{prompt}}" }] };
    const { send, shows, session, conversation, until } = await faceWith(t, play);
    await shows(/^far \(/);
    send("first");
    // the turn is over; how long it took is a line only if that is worth one
    await shows(/hello first\n\n[\s\S]*?far · no sandbox\n/);
    for (const agent of ["nosuch", "gemini"]) {
      send(`/agent ${agent}`);
      const text = await shows(new RegExp(`unknown agent ${agent}|${agent} was not found`));
      assert.equal(conversation.current, session);
      assert.equal(text.split("hello first").length, 2, text);
      assert.doesNotMatch(text, /──.*(?:nosuch|gemini|first ·)/);
    }
    // another session that opens has a line with its name
    conversation.open({ kind: "new", agent: "far" });
    await until(() => conversation.current !== session && conversation.current.phase === "ready");
    assert.match(await shows(/── new session · far/), /hello first[\s\S]*── new session · far/);
    send("second");
    await shows(/hello second/);
    conversation.show(session);
    assert.match(await shows(/── first · far/), /── first · far[\s\S]*hello first/);
  },
);

test(
  "what is written for an agent that cannot be started stays in the prompt, and goes to the one chosen instead",
  patience,
  async (t) => {
    const play = { otherwise: [{ say: "hello {{prompt}}" }] };
    const { send, shows, terminal, face, conversation, session } = await faceWith(t, play, {
      started: "nosuch",
    });
    await shows(/unknown agent nosuch[\s\S]*nosuch · failed/);
    for (const words of ["fix", " the bug"]) {
      send(words);
      // it tries again, and fails again
      await shows(() => session.phase === "failed" && session.queue.length === 0 && !face.composer.isEmpty);
    }
    assert.equal(face.composer.text, "fix the bug");
    const chosen = conversation.open({ kind: "new", agent: "far" });
    assert.equal(face.composer.text, "fix the bug");
    await shows(() => chosen.phase === "ready");
    assert.deepEqual(
      conversation.sessions.map(({ key, phase }) => [key, phase]),
      [[chosen.key, "ready"]],
    );
    terminal.press(keys.enter);
    await shows(/hello fix the bug/);
  },
);

test("why a login is wanted stands below the prompt that wanted it", patience, async (t) => {
  const why = "the key was not accepted";
  const play = {
    authMethods: [
      { methodId: "web", type: "agent", name: "Browser" },
      { methodId: "key", type: "agent", name: "Key" },
    ] as never,
    otherwise: [{ say: "I try." }, { fail: { code: -32000, message: why } }],
  };
  const bare = { ...play, otherwise: play.otherwise.slice(1) };
  // keys count only after a question has been there for a while
  let ahead = 0;
  const now = performance.now.bind(performance);
  t.mock.method(performance, "now", () => now() + ahead);
  for (const each of [bare, play]) {
    const { send, shows, terminal } = await faceWith(t, each as typeof play);
    await shows(/^far \(/);
    send("work");
    await shows(/› work[\s\S]*the key was not accepted[\s\S]*Log in to far/);
    ahead += 1_000;
    terminal.press(keys.escape);
    await shows(/› work[\s\S]*the key was not accepted[\s\S]*no login method was chosen[\s\S]*error/);
  }
});
