// Tests that an answer cut anywhere is never taken for a complete one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { anthropicEvents } from "../../test/fake-provider/anthropic-wire.ts";
import { modelAt, requestWith, testClock, withFake } from "../../test/fake-provider/asking.ts";
import { chatEvents } from "../../test/fake-provider/chat-wire.ts";
import type { Answer } from "../../test/fake-provider/fake-provider.ts";
import { geminiEvents } from "../../test/fake-provider/gemini-wire.ts";
import { responsesEvents } from "../../test/fake-provider/responses-wire.ts";
import type { ModelEvent } from "../model/model.ts";

const json = ['{"path":', '"a"}'];

/** `last`: what has to be there for the answer to be whole. */
const wires = [
  {
    id: "anthropic/claude-sonnet-5-5",
    events: anthropicEvents({
      blocks: [
        { type: "thinking", pieces: ["Hm"], signature: "S" },
        { type: "text", pieces: ["Hel", "lo"] },
        { type: "tool", id: "c", name: "delete", json },
      ],
    }),
    last: "message_stop",
  },
  {
    id: "vllm/qwen",
    events: chatEvents({ thinking: ["Hm"], text: ["Hel", "lo"], calls: [{ id: "c", name: "delete", json }] }),
    last: '"finish_reason":"tool_calls"',
  },
  {
    id: "openai/gpt-6.1-sol",
    events: responsesEvents({
      thinking: { id: "rs", paragraphs: ["Hm"], encrypted: "E" },
      text: ["Hel", "lo"],
      calls: [{ id: "c", name: "delete", json }],
    }),
    last: "response.completed",
  },
  {
    id: "google/gemini-4-argon",
    events: geminiEvents([
      { text: "Hm", thought: true },
      { text: "Hello" },
      { functionCall: { name: "delete", args: { path: "a" } } },
    ]),
    last: '"finishReason"',
  },
];

for (const { id, events, last } of wires) {
  const whole = events.join("");
  const needed = whole.indexOf("\n\n", whole.indexOf(`${last}`)) + 2;
  const ends = events.map((_, index) => events.slice(0, index).join("").length);
  // Between events, and in the middle of each.
  const places = [...ends, ...ends.map((end) => end + 25)].filter((place) => place < whole.length);

  for (const [how, finish] of [
    ["stream ends", (exchange) => exchange.end()],
    ["connection is cut", (exchange) => exchange.cut()],
  ] as const satisfies [string, (exchange: Parameters<Answer>[0]) => void][]) {
    test(`${id}: the ${how} at any of ${places.length} places`, async () => {
      const answers = places.map(
        (place): Answer =>
          async (exchange) => {
            exchange.open();
            await exchange.write(whole.slice(0, place));
            finish(exchange);
          },
      );
      await withFake(answers, async (fake) => {
        const options = { clock: testClock(), retries: { attempts: 1 } };
        const model = modelAt(fake.url, id, {}, options);
        for (const place of places) {
          const seen: ModelEvent[] = [];
          const reading = async (): Promise<void> => {
            for await (const event of model.stream(requestWith())) seen.push(event);
          };
          const outcome = await reading().then(
            () => "whole",
            (error: { kind: string }) => error.kind,
          );
          const shown = `${outcome} at ${place} of ${whole.length}: ${whole.slice(place - 60, place)}`;
          if (outcome === "whole") assert.ok(place >= needed, shown);
          else {
            assert.match(outcome, /^(?:cut_off|unavailable)$/, shown);
            assert.ok(!seen.some(({ type }) => type === "tool_call" || type === "end"), shown);
          }
        }
      });
    });
  }
}
