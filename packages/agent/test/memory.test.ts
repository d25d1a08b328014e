// Tests what a model still knows after a compaction, against a server that enforces the rules of Anthropic's API.

import assert from "node:assert/strict";
import type { SessionUpdate } from "@parley/acp";
import { anthropicError } from "./fake-provider/anthropic-wire.ts";
import { modelAt, withFake } from "./fake-provider/asking.ts";
import { type Answer, type FakeProvider, failed } from "./fake-provider/fake-provider.ts";
import type { AnthropicRequest } from "./fake-provider/prompt-cache.ts";
import { type StrictReply, strictAnthropic } from "./fake-provider/strict-anthropic.ts";
import { inEveryVersion, said, type Talk, type TalkOptions, talk } from "./support/agent-probe.ts";

const id = "anthropic/claude-sonnet-4-5";
const limits = { contextWindow: 200_000, maxOutput: 64_000 };
const facts = { RELEASE: "HERON17", COLOUR: "TEAL", PORT: "P8443", OWNER: "MIRIAM", BUDGET: "E1200" };
const fact = (name: keyof typeof facts) => `FACT-${name}=${facts[name]}`;

/** 48 KB, with the fact in the middle. */
const longText = (fact: string) =>
  `${"some words of a log\n".repeat(1_200)}${fact}\n${"more\n".repeat(4_800)}`;
const files = {
  "early.log": longText(fact("PORT")),
  "late.log": longText(fact("OWNER")),
  "short.txt": `${fact("BUDGET")}\n`,
};
const tokensPerAnswer = 10_000;

function textOf(value: unknown): string {
  return JSON.stringify(value);
}

function isSummary({ messages }: AnthropicRequest): boolean {
  return /Summarise this conversation for yourself/.test(textOf(messages.at(-1)));
}

/** A model that knows only what it is sent. It reads and writes as the user says. */
function reply(request: AnthropicRequest): StrictReply {
  const all = textOf(request.messages);
  const last = textOf(request.messages.at(-1));
  const says = (text: string): StrictReply => ({ blocks: [{ type: "text", pieces: [text] }] });
  if (isSummary(request)) {
    const known = [...new Set([...all.matchAll(/FACT-[A-Z]+=[A-Z0-9]+/g)].map(([found]) => found))];
    return says(`What I know: ${known.join(", ")}.`);
  }
  const [, asked] = /What is FACT-([A-Z]+)\?/.exec(last) ?? [];
  if (asked !== undefined)
    return says(new RegExp(`FACT-${asked}=([A-Z0-9]+)`).exec(all)?.[1] ?? "I do not know.");
  const [, path] = /Read (\S+\.\w+)/.exec(last) ?? [];
  if (path !== undefined && !last.includes("tool_result"))
    return {
      blocks: [
        {
          type: "tool",
          id: `toolu_${request.messages.length}`,
          name: "read",
          json: [JSON.stringify({ path })],
        },
      ],
    };
  return /Write a lot/.test(last) ? says("word ".repeat(tokensPerAnswer * 0.8)) : says("Read.");
}

interface Server {
  /** Answers to requests for a summary, before the model's own. */
  readonly summaries?: Answer[];
  readonly contextWindow?: number;
}

async function withServer(
  options: TalkOptions,
  { summaries = [], contextWindow = limits.contextWindow }: Server,
  use: (link: Talk, fake: FakeProvider) => Promise<void>,
): Promise<void> {
  const strict = strictAnthropic({ ...limits, contextWindow }, reply);
  const server: Answer = (exchange, index) => {
    const special = isSummary(exchange.request.body) ? summaries.shift() : undefined;
    return (special ?? strict)(exchange, index);
  };
  await withFake([server], async (fake) => {
    const link = await talk({ ...options, models: [modelAt(fake.url, id)] });
    await use(link, fake);
    await link.end();
  });
}

/** A session of so many tokens: facts in messages of the user and in output of tools, and long answers. */
async function fill({ session, updates }: Talk, tokens: number): Promise<void> {
  const prompt = async (text: string) => {
    const { stopReason, error } = await session.prompt(text).result;
    assert.equal(stopReason, "end_turn", error?.message);
    assert.deepEqual(compactions(updates), [], "not yet");
  };
  await prompt(`${fact("RELEASE")} is what we ship. Read early.log`);
  await prompt("Read short.txt");
  await prompt(`${fact("COLOUR")} it is.`);
  while (used(updates) < tokens - 2.5 * tokensPerAnswer) await prompt("Write a lot.");
  await prompt("Read late.log");
  while (used(updates) < tokens) await prompt("Write a lot.");
}

function used(updates: readonly SessionUpdate[]): number {
  const last = updates.findLast(({ sessionUpdate }) => sessionUpdate === "usage_update");
  return last?.sessionUpdate === "usage_update" ? last.used : 0;
}

function compactions(updates: readonly SessionUpdate[]): string[] {
  return updates.flatMap((u) => (u.sessionUpdate === "compaction_update" ? [String(u.status)] : []));
}

async function recalled({ session, updates }: Talk): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const name of Object.keys(facts)) {
    updates.length = 0;
    await session.prompt(`What is FACT-${name}?`).result;
    answers[name] = said(updates);
  }
  return answers;
}

for (const how of ["by itself", "with /compact"] as const) {
  inEveryVersion(
    `B1 five facts are recalled after a session of 150,000 tokens was compacted ${how}`,
    files,
    async (setup) => {
      const compactAt = how === "by itself" ? 0.75 : 1;
      await withServer({ ...setup, compactAt }, {}, async (link, fake) => {
        await fill(link, 150_000);
        await link.session.prompt(how === "by itself" ? "Go on." : "/compact").result;
        assert.deepEqual(compactions(link.updates), ["in_progress", "completed"]);
        const summary = fake.requests.filter(({ body }) => isSummary(body));
        assert.equal(summary.length, 1);
        assert.deepEqual(await recalled(link), facts);
        const { body } = fake.requests.at(-1) ?? {};
        assert.ok(textOf(body).length < 60_000 * 4, "what was left out is no longer sent");
        const told = textOf(body.messages);
        assert.ok(told.includes(`${fact("RELEASE")} is what we ship. Read early.log`), "word for word");
        assert.ok(!told.includes("some words of a log\\nsome words of a log\\nsome words"), "not the output");
      });
    },
  );
}

inEveryVersion("B5 a long session leaves room for the answer that it asks for", files, async (setup) => {
  await withServer(setup, {}, async (link, fake) => {
    await fill(link, 170_000);
    assert.equal(compactions(link.updates).length, 0);
    const asked = fake.requests.map(({ body }) => body.max_tokens);
    assert.equal(asked[0], limits.maxOutput);
    assert.ok(asked.at(-1) < 40_000);
    // here the conversation becomes too long for an answer with thinking
    assert.deepEqual(await recalled(link), facts);
    assert.ok(fake.requests.some(({ body }) => isSummary(body)));
  });
});

const busy = failed(429, anthropicError("rate_limit_error", "Slow down"), { "retry-after": "3" });
const overloaded = failed(529, anthropicError("overloaded_error", "Overloaded"));

inEveryVersion("B1 a busy or overloaded server still gives a summary", files, async (setup) => {
  await withServer(setup, { summaries: [busy, overloaded] }, async (link) => {
    await fill(link, 30_000);
    await link.session.prompt("/compact").result;
    assert.deepEqual(compactions(link.updates), ["in_progress", "completed"]);
    assert.deepEqual(await recalled(link), facts);
  });
});

inEveryVersion(
  "B1 a server that stays overloaded costs no memory, and the user is told",
  files,
  async (setup) => {
    const summaries = Array.from({ length: 20 }, () => overloaded);
    await withServer(setup, { summaries }, async (link, fake) => {
      await fill(link, 30_000);
      const before = fake.requests.at(-1)?.body.messages.length;
      await link.session.prompt("/compact").result;
      assert.deepEqual(compactions(link.updates), ["in_progress", "failed"]);
      assert.match(said(link.updates), /The conversation could not be summarised and stays unchanged/);
      assert.match(textOf(link.updates), /could not be summarised.*529/);
      assert.deepEqual(await recalled(link), facts);
      assert.ok(fake.requests.at(-1)?.body.messages.length > before);
    });
  },
);

inEveryVersion(
  "B1 a window smaller than it was said to be is noticed, and the session goes on",
  files,
  async (setup) => {
    await withServer(setup, { contextWindow: 90_000 }, async (link, fake) => {
      await fill(link, 20_000);
      // the server counts the longest answer too
      for (let i = 0; i < 4; i++) {
        const { stopReason, error } = await link.session.prompt("Write a lot.").result;
        assert.equal(stopReason, "end_turn", error?.message);
      }
      assert.ok(compactions(link.updates).includes("completed"));
      assert.ok(fake.requests.some(({ body }) => isSummary(body)));
      assert.deepEqual(await recalled(link), facts);
    });
  },
);

inEveryVersion(
  "B1 a conversation that no summary can take in is summarised in part, and says so",
  files,
  async (setup) => {
    const tooLong = failed(400, anthropicError("invalid_request_error", "prompt is too long"));
    await withServer(setup, { summaries: [tooLong, tooLong, tooLong] }, async (link, fake) => {
      await fill(link, 100_000);
      await link.session.prompt("/compact").result;
      assert.deepEqual(compactions(link.updates), ["in_progress", "completed"]);
      const sizes = fake.requests
        .filter(({ body }) => isSummary(body))
        .map(({ body }) => textOf(body).length);
      assert.deepEqual(sizes.map(Math.sign), [1, 1, 1, 1]);
      assert.ok((sizes[3] ?? 0) < (sizes[2] ?? 0) && (sizes[2] ?? 0) < (sizes[1] ?? 0));
      const { RELEASE, COLOUR } = await recalled(link);
      assert.deepEqual([RELEASE, COLOUR], [facts.RELEASE, facts.COLOUR], "the user's own words");
      assert.match(textOf(fake.requests.at(-1)?.body), /messages before that were too long to be summarised/);
    });
  },
);
