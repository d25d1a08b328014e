// Tests a turn of 50 calls against servers that cache prompts: its beginning never changes, and most of it is read from the cache.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClientSession } from "@parley/acp";
import { modelAt, withFake } from "./fake-provider/asking.ts";
import { type Answer, type FakeRequest, streamed } from "./fake-provider/fake-provider.ts";
import { PrefixCache } from "./fake-provider/prompt-cache.ts";
import { responsesEvents } from "./fake-provider/responses-wire.ts";
import { strictAnthropic } from "./fake-provider/strict-anthropic.ts";
import { talk, temporaryFolder } from "./support/agent-probe.ts";

type Call = { readonly id: string; readonly name: string; readonly json: readonly string[] };

const fileCount = 46;
const files = Object.fromEntries([
  ...Array.from({ length: fileCount }, (_, i) => [`src/f${i}.txt`, `${`line of file ${i}\n`.repeat(60)}`]),
  ["src/AGENTS.md", "Use tabs in src."],
  ["AGENTS.md", "Answer briefly."],
]);

const call = (id: number, name: string, input: unknown): Call => ({
  id: `call_${id}`,
  name,
  json: [JSON.stringify(input)],
});

/** The calls of each answer: 50 in all, with a job, and 12 reads at once. */
function answersOf(): readonly (readonly Call[])[] {
  let id = 0;
  const next = (name: string, input: unknown) => call(id++, name, input);
  let file = 0;
  const read = () => next("read", { path: `src/f${file++}.txt` });
  const steps: Call[][] = [
    [next("list", { path: "." })],
    [read()],
    [next("bash", { command: "tail -f /dev/null", background: true })],
    ...Array.from({ length: 8 }, () => [read()]),
    Array.from({ length: 12 }, read),
    ...Array.from({ length: 20 }, () => [read()]),
    [next("grep", { pattern: "line of file 3", path: "src/f3.txt" })],
    [next("job", { id: "job-1", stop: true })],
  ];
  while (file < fileCount) steps.push([read()]);
  return steps;
}

const answers = answersOf();
/** In the middle of the turn the user chooses another mode. */
const changesMode = 15;

interface Wire {
  readonly id: string;
  /** What the server's cache sees first. */
  readonly head: (body: FakeRequest["body"]) => unknown;
  readonly list: (body: FakeRequest["body"]) => readonly unknown[];
  /** `counted` gets the tokens of each request before it is answered. */
  readonly server: (counted: (tokens: Tokens, index: number) => Promise<void>) => Answer;
}

interface Tokens {
  readonly all: number;
  readonly cached: number;
}

const wires: readonly Wire[] = [
  {
    id: "anthropic/claude-sonnet-5-5",
    head: ({ system, tools }) => [system, tools],
    list: ({ messages }) => messages,
    server: (counted) =>
      strictAnthropic({ contextWindow: 1_000_000, maxOutput: 128_000 }, async (_, index, count) => {
        await counted({ all: count.read + count.written + count.fresh, cached: count.read }, index);
        const calls = answers[index];
        if (calls === undefined) return { blocks: [{ type: "text", pieces: ["Done."] }] };
        return {
          blocks: [
            { type: "thinking", pieces: [`Step ${index}.`], signature: `SIG${index}` },
            ...calls.map((each) => ({ type: "tool" as const, ...each })),
          ],
        };
      }),
  },
  {
    id: "openai/gpt-6.1-sol",
    head: ({ instructions, tools }) => [instructions, tools],
    list: ({ input }) => input,
    server: (counted) => {
      const cache = new PrefixCache();
      return async (exchange, index) => {
        const { prompt_cache_key, instructions, tools, input } = exchange.request.body;
        const tokens = cache.count(prompt_cache_key, [tools, instructions, ...input]);
        await counted({ all: tokens.tokens, cached: tokens.cached }, index);
        const calls = answers[index];
        const events = responsesEvents({
          ...(calls === undefined ? { text: ["Done."] } : { calls }),
          input: tokens,
        });
        return streamed(events)(exchange, index);
      };
    },
  },
];

/** Marks say where to cache; they are not part of what is cached. */
function unmarked(value: unknown): string {
  return JSON.stringify(value, (key, field) => (key === "cache_control" ? undefined : field));
}

for (const { id, head, list, server } of wires) {
  test(`B3 B4 ${id}: over 50 calls with a job and another mode the beginning stays, and 90 % comes from the cache`, {
    timeout: 120_000,
  }, async (context) => {
    const cwd = temporaryFolder(context, files);
    let session: ClientSession | undefined;
    const counts: Tokens[] = [];
    const counted = async (tokens: Tokens, index: number) => {
      counts.push(tokens);
      if (index === changesMode) await session?.setMode("code");
    };
    await withFake([server(counted)], async (fake) => {
      const link = await talk({
        version: 2,
        cwd,
        models: [modelAt(fake.url, id)],
        answers: ["allow_once"],
      });
      session = link.session;
      const { stopReason, usage, error } = await link.session.prompt("Read everything.").result;
      assert.equal(stopReason, "end_turn", error?.message);
      assert.equal(answers.flat().length, 50);
      assert.equal(fake.requests.length, answers.length + 1);
      const heads = new Set(fake.requests.map(({ body }) => unmarked(head(body))));
      assert.equal(heads.size, 1, "the system prompt and the tools");
      const lists = fake.requests.map(({ body }) => list(body).map(unmarked));
      for (const [i, messages] of lists.slice(1).entries()) {
        const sent = lists[i] ?? [];
        assert.deepEqual(messages.slice(0, sent.length), sent, `request ${i + 1} extends the one before`);
      }
      const last = lists.at(-1)?.join("\n") ?? "";
      for (const told of [/Mode ask:/, /Mode code:/, /Running in the background: job-1/, /Use tabs in src/])
        assert.match(last, told);
      for (const [i, { cached }] of counts.slice(1).entries())
        assert.ok(cached >= (counts[i]?.all ?? 0) - 130, `request ${i + 1} finds all of the one before`);
      const { inputTokens = 0, cachedReadTokens = 0 } = usage ?? {};
      const share = Number(cachedReadTokens) / inputTokens;
      assert.ok(share >= 0.9, `${(share * 100).toFixed(1)} % of ${inputTokens} tokens`);
      context.diagnostic(`${(share * 100).toFixed(1)} % of ${inputTokens} input tokens came from the cache`);
      const shares = link.updates.flatMap((update) =>
        update.sessionUpdate === "usage_update" ? [update._meta?.["_parley.dev/cachedShare"]] : [],
      );
      assert.equal(shares.at(-1), Math.round(share * 1_000) / 1_000);
      await link.end();
    });
  });
}
