// Prompts are awaited for their result, iterated for their updates, and cancelled by a signal.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import {
  aborted,
  chunk,
  inEveryVersion,
  openSession,
  place,
  quiet,
  said,
  text,
  withScriptedAgent,
} from "../../../test/support/peer-probe.ts";
import { type SessionUpdate, textOf } from "../../index.ts";

inEveryVersion("awaiting a prompt gives its result, when the agent has ended its work", async (pair) => {
  const gate = Promise.withResolvers<void>();
  const { session, updates } = await openSession(pair, {
    async prompt(turn) {
      await gate.promise;
      await turn.say("done");
    },
  });
  let isOver = false;
  const result = session.prompt("x").then((each) => {
    isOver = true;
    return each;
  });
  await quiet();
  assert.equal(isOver, false);
  gate.resolve();
  assert.equal((await result).stopReason, "end_turn");
  assert.equal(said(updates), "done");
  const { stopReason } = await session.prompt("again");
  assert.equal(stopReason, "end_turn");
});

inEveryVersion("awaiting a prompt rejects when the agent is gone before it has answered", async (pair) => {
  const { session, cut } = await openSession(pair, { prompt: (turn) => aborted(turn.signal) });
  const prompt = session.prompt("x");
  await prompt.accepted.catch(() => undefined);
  await cut();
  await assert.rejects(async () => prompt, { name: "ConnectionError" });
});

inEveryVersion("a prompt is iterated first, and awaited during the loop or after it", async (pair) => {
  const { session } = await openSession(pair, {
    async prompt(turn) {
      await turn.say("one ");
      await turn.say("two");
    },
  });
  const prompt = session.prompt("x");
  const seen: SessionUpdate[] = [];
  const loop = (async () => {
    for await (const update of prompt) seen.push(update);
  })();
  assert.equal((await prompt).stopReason, "end_turn");
  await loop;
  assert.equal(said(seen), "one two");
  assert.equal((await prompt).stopReason, "end_turn");
});

test("a loop over a prompt that was awaited throws, and says what to do", async () => {
  const done = Promise.withResolvers<object>();
  const { agent, peer } = await withScriptedAgent(1, { "session/prompt": () => done.promise });
  const session = await agent.newSession(place);
  const prompt = session.prompt("x");
  const result = prompt.then(({ stopReason }) => stopReason);
  // more than is kept for a loop: it is not that they were lost
  for (let i = 0; i < 2_000; i++) peer.update("s1", chunk("x"));
  await quiet();
  done.resolve({ stopReason: "end_turn" });
  assert.equal(await result, "end_turn");
  const loop = async () => {
    for await (const _ of prompt) assert.fail("there is nothing to see");
  };
  await assert.rejects(loop, {
    name: "TypeError",
    message:
      /awaited before the loop .* iterate or call text\(\) before you await, or use session\.onUpdate$/,
  });
});

test("reading the result of a prompt leaves its updates to the loop", async () => {
  const done = Promise.withResolvers<object>();
  const { agent, peer } = await withScriptedAgent(1, { "session/prompt": () => done.promise });
  const session = await agent.newSession(place);
  const prompt = session.prompt("x");
  await quiet();
  peer.update("s1", chunk("early"));
  done.resolve({ stopReason: "end_turn" });
  assert.equal((await prompt.result).stopReason, "end_turn");
  const seen: SessionUpdate[] = [];
  for await (const update of prompt) seen.push(update);
  assert.equal(said(seen), "early");
});

inEveryVersion("a second loop over a prompt throws, also after the first has ended", async (pair) => {
  const { session } = await openSession(pair, { prompt: async (turn) => void (await turn.say("x")) });
  const prompt = session.prompt("x");
  const again = { name: "TypeError", message: /already has a loop over its updates.*use session\.onUpdate/ };
  const first = prompt[Symbol.asyncIterator]();
  assert.throws(() => prompt[Symbol.asyncIterator](), again);
  for await (const _ of first);
  await assert.rejects(async () => {
    for await (const _ of prompt);
  }, again);
});

inEveryVersion("text() rejects when the agent is gone before it has answered", async (pair) => {
  const { session, cut } = await openSession(pair, { prompt: (turn) => aborted(turn.signal) });
  const prompt = session.prompt("x");
  const answer = prompt.text();
  await prompt.accepted.catch(() => undefined);
  await cut();
  await assert.rejects(answer, { name: "ConnectionError" });
});

inEveryVersion(
  "text() throws for a prompt that was awaited or is read already, and so does a loop after it",
  async (pair) => {
    const { session } = await openSession(pair, { prompt: async (turn) => void (await turn.say("x")) });
    const again = { name: "TypeError", message: /or a call of text\(\).*use session\.onUpdate/ };
    const awaited = session.prompt("x");
    await awaited;
    assert.throws(() => awaited.text(), { name: "TypeError", message: /call text\(\) before you await/ });
    const prompt = session.prompt("x");
    const answer = prompt.text();
    assert.throws(() => prompt.text(), again);
    assert.throws(() => prompt[Symbol.asyncIterator](), again);
    assert.equal(await answer, "x");
    assert.throws(() => prompt.text(), again);
    assert.equal((await prompt).stopReason, "end_turn");
  },
);

inEveryVersion("text() is the agent's answer without thoughts, one line per message", async (pair) => {
  const image = { type: "image", data: "AA==", mimeType: "image/png" } as const;
  const { session } = await openSession(pair, {
    async prompt(turn) {
      await turn.think("let me see");
      await turn.say("I look");
      await turn.say(image);
      await turn.say(" first.");
      await turn.tool({ title: "Look" }, () => undefined);
      await turn.say(image);
      await turn.tool({ title: "Look again" }, () => undefined);
      await turn.say("Done.");
      return "max_tokens" as const;
    },
  });
  const prompt = session.prompt("x");
  assert.equal(await prompt.text(), "I look first.\nDone.");
  assert.equal((await prompt).stopReason, "max_tokens");
});

test("text() has a message that replaces its chunks once", async () => {
  const { session } = await openSession(
    { editions: ["v2"], version: 2 },
    {
      async prompt(turn) {
        const draft = {
          sessionUpdate: "agent_message_chunk",
          messageId: "m1",
          content: text("draft"),
        } as const;
        await turn.update(draft);
        const content = [text("fair "), text("copy")];
        await turn.update({ sessionUpdate: "agent_message", messageId: "m1", content });
        await turn.update({ ...draft, content: text("!") });
        await turn.update({ sessionUpdate: "agent_message", messageId: "m2", content: [text("gone")] });
        await turn.update({ sessionUpdate: "agent_message", messageId: "m2", content: null });
      },
    },
  );
  assert.equal(await session.prompt("x").text(), "fair copy!");
});

test("textOf gives the text of blocks, and nothing for blocks of other types", () => {
  const link = { type: "resource_link", name: "a.ts", uri: "file:///a.ts" } as const;
  assert.deepEqual([textOf(link), textOf([]), textOf([link])], ["", "", ""]);
  assert.equal(textOf({ type: "_acme", text: 1 }), "");
  assert.equal(textOf(text("one")), "one");
  assert.equal(textOf([text("one "), link, text("two")]), "one two");
});

inEveryVersion("a signal cancels the prompt that it was given to", async (pair) => {
  const started = Promise.withResolvers<void>();
  const { session } = await openSession(pair, {
    prompt(turn) {
      if (turn.text !== "long") return;
      started.resolve();
      return aborted(turn.signal);
    },
  });
  const controller = new AbortController();
  const prompt = session.prompt("long", { signal: controller.signal });
  await started.promise;
  controller.abort();
  assert.equal((await prompt).stopReason, "cancelled");
  assert.equal((await session.prompt("short")).stopReason, "end_turn");
});

test("a signal withdraws a prompt that waits, and the one before it goes on", async () => {
  const first = Promise.withResolvers<object>();
  const { agent, peer } = await withScriptedAgent(1, { "session/prompt": () => first.promise });
  const session = await agent.newSession(place);
  const running = session.prompt("one");
  const controller = new AbortController();
  const waiting = session.prompt("two", { signal: controller.signal });
  controller.abort();
  assert.equal((await waiting).stopReason, "cancelled");
  first.resolve({ stopReason: "end_turn" });
  assert.equal((await running).stopReason, "end_turn");
  assert.deepEqual(peer.methods().slice(2), ["session/prompt"]);
});

test("a prompt whose signal has aborted is not sent, and ends as cancelled", async () => {
  for (const version of [1, 2] as const) {
    const { agent, peer } = await withScriptedAgent(version, {});
    const session = await agent.newSession(place);
    const prompt = session.prompt("x", { signal: AbortSignal.abort() });
    assert.deepEqual(await prompt, { stopReason: "cancelled" });
    await assert.rejects(prompt.accepted, { kind: "aborted" });
    await quiet();
    assert.ok(!peer.methods().includes("session/prompt"));
  }
});

inEveryVersion("a prompt that has ended holds on to its signal no longer", async (pair) => {
  const { session, wire } = await openSession(pair, { prompt: () => undefined });
  const controller = new AbortController();
  await session.prompt("x", { signal: controller.signal });
  assert.deepEqual(getEventListeners(controller.signal, "abort"), []);
  const sent = wire.length;
  controller.abort();
  await quiet();
  assert.equal(wire.length, sent);
});
