// Tests what the user and the next request get of an answer that broke off.

import assert from "node:assert/strict";
import { memoryStore } from "@parley/acp/store";
import { anthropicErrorEvent, anthropicEvents } from "../../test/fake-provider/anthropic-wire.ts";
import { modelAt, testClock, withFake } from "../../test/fake-provider/asking.ts";
import { chatEvents } from "../../test/fake-provider/chat-wire.ts";
import { type Answer, streamed } from "../../test/fake-provider/fake-provider.ts";
import { connected, inEveryVersion, said, talk, toolStories } from "../../test/support/agent-probe.ts";
import { resumeRequest } from "../model/agent-requests.ts";

const sonnet = "anthropic/claude-sonnet-5-5";
const saying = (text: string) => streamed(anthropicEvents({ blocks: [{ type: "text", pieces: [text] }] }));
const overloaded = anthropicErrorEvent("overloaded_error", "Overloaded");
const read = { type: "tool" as const, id: "t", name: "read", json: ['{"path":', '"a.txt"}'] };
/** Says it, reads, and breaks off after so many events. */
const broken = (text: string, events: number) =>
  streamed([
    ...anthropicEvents({ blocks: [{ type: "text", pieces: [text] }, read] }).slice(0, events),
    overloaded,
  ]);

inEveryVersion(
  "an answer that breaks off in a word is void: the user is told, the model is not",
  {},
  async (setup) => {
    await withFake([broken("Hel", 4), saying("Hello."), saying("Bye."), saying("Back.")], async (fake) => {
      const store = memoryStore();
      const models = [modelAt(fake.url, sonnet, {}, { clock: testClock() })];
      const { session, updates, end } = await talk({ ...setup, models, store });
      assert.equal((await session.prompt("Hi").result).stopReason, "end_turn");
      assert.equal(said(updates), "HelHello.");
      const messages = updates.flatMap((update) =>
        update.sessionUpdate === "agent_message_chunk" ? [update.messageId] : [],
      );
      assert.equal(new Set(messages).size, 2, "the new answer is a message of its own");
      const notices = updates.flatMap((update) => (update.sessionUpdate === "notice" ? [update.title] : []));
      assert.match(notices.join(), /Overloaded.*its last words above do not count/);
      await session.prompt("Thanks").result;
      await end();
      const again = await connected({ ...setup, models, store });
      const loaded = await again.agent.loadSession(session.sessionId, { cwd: setup.cwd });
      await loaded.prompt("Again").result;
      await again.end();
      for (const { body } of fake.requests.slice(2)) {
        assert.equal(JSON.stringify(body.messages[1]).match(/"text":"([^"]*)"/)?.[1], "Hello.");
      }
      assert.equal(fake.requests.length, 4);
    });
  },
);

inEveryVersion(
  "a text that was whole stays, the call after it is made again and runs once",
  { "a.txt": "x\n" },
  async (setup) => {
    const rest = streamed(anthropicEvents({ blocks: [read] }));
    // the text, its end, and half of the call
    await withFake([broken("Reading.", 7), rest, saying("It is x.")], async (fake) => {
      const models = [modelAt(fake.url, sonnet, {}, { clock: testClock() })];
      const { session, updates, end } = await talk({ ...setup, models });
      assert.equal((await session.prompt("Read a.txt").result).stopReason, "end_turn");
      assert.equal(said(updates), "Reading.It is x.");
      assert.deepEqual(
        toolStories(updates).map((story) => story.split(" > ").at(-1)),
        ["failed", "completed"],
      );
      const [, second, third] = fake.requests.map(({ body }) => JSON.stringify(body.messages));
      assert.ok(second?.includes("Reading.") && second.includes(resumeRequest));
      assert.ok(third?.includes("Reading.") && !third.includes(resumeRequest));
      await end();
    });
  },
);

for (const [where, silent] of [
  ["before its answer", () => undefined],
  ["after the headers", (exchange) => exchange.open()],
] as const satisfies [string, Answer][]) {
  inEveryVersion(
    `a server of the user that is silent ${where} is asked again, and the user is told`,
    {},
    async (setup) => {
      const listed: Answer = (exchange) => exchange.json(200, { data: [{ id: "qwen" }] });
      const hello = streamed(chatEvents({ text: ["Hello."] }));
      // once for the list of models, once for the answer
      await withFake([silent, listed, silent, hello], async (fake) => {
        const models = [modelAt(fake.url, "vllm", { timeout: 1 }, { clock: testClock() })];
        const { session, updates, end } = await talk({ ...setup, models });
        assert.equal((await session.prompt("Hi").result).stopReason, "end_turn");
        assert.equal(said(updates), "Hello.");
        assert.equal(JSON.stringify(updates).match(/sent no data for 1 s\. Trying again/g)?.length, 2);
        assert.equal(fake.requests.length, 4);
        await end();
      });
    },
  );
}

inEveryVersion("a server that stays silent ends the turn after five attempts", {}, async (setup) => {
  await withFake([() => undefined], async (fake) => {
    const models = [modelAt(fake.url, sonnet, { timeout: 0.3 }, { clock: testClock() })];
    const { session, end } = await talk({ ...setup, models });
    const { error } = await session.prompt("Hi").result;
    assert.match(error?.message ?? "", /no data for 0\.3 s\. \(after 5 attempts\)/);
    assert.equal(fake.requests.length, 5);
    await end();
  });
});
