// Tests that an answer cut anywhere is never taken for a complete one, and is asked for again.

import assert from "node:assert/strict";
import { test } from "node:test";
import { anthropicEvents } from "../../test/fake-provider/anthropic-wire.ts";
import { modelAt, requestWith, testClock, withFake } from "../../test/fake-provider/asking.ts";
import { converseEvents } from "../../test/fake-provider/bedrock-wire.ts";
import { chatEvents } from "../../test/fake-provider/chat-wire.ts";
import type { Answer, Exchange } from "../../test/fake-provider/fake-provider.ts";
import { geminiEvents } from "../../test/fake-provider/gemini-wire.ts";
import { responsesEvents } from "../../test/fake-provider/responses-wire.ts";
import { resumeRequest } from "../model/agent-requests.ts";
import { assistantMessage } from "../model/assistant-message.ts";
import type { Model, ModelEvent } from "../model/model.ts";

const json = ['{"path":', '"a"}'];
const call = { id: "c", name: "delete", json };

interface Wire {
  readonly id: string;
  readonly type?: string;
  /** Thinks, where the wire can, says "Hello" and calls `delete`. */
  readonly events: readonly (string | Buffer)[];
  /** The same call alone. */
  readonly rest: readonly (string | Buffer)[];
  /** What has to be there for the answer to be whole. */
  readonly last: string;
}

const wires: readonly Wire[] = [
  {
    id: "anthropic/claude-sonnet-5-5",
    events: anthropicEvents({
      blocks: [
        { type: "thinking", pieces: ["Hm"], signature: "S" },
        { type: "text", pieces: ["Hel", "lo"] },
        { type: "tool", ...call },
      ],
    }),
    rest: anthropicEvents({ blocks: [{ type: "tool", ...call }] }),
    last: "message_stop",
  },
  {
    id: "vllm/qwen",
    events: chatEvents({ thinking: ["Hm"], text: ["Hel", "lo"], calls: [call] }),
    rest: chatEvents({ calls: [call] }),
    last: '"finish_reason":"tool_calls"',
  },
  {
    id: "openai/gpt-6.1-sol",
    events: responsesEvents({
      thinking: { id: "rs", paragraphs: ["Hm"], encrypted: "E" },
      text: ["Hel", "lo"],
      calls: [call],
    }),
    rest: responsesEvents({ calls: [call] }),
    last: "response.completed",
  },
  {
    id: "google/gemini-4-argon",
    events: geminiEvents([
      { text: "Hm", thought: true },
      { text: "Hello" },
      { functionCall: { name: "delete", args: { path: "a" } } },
    ]),
    rest: geminiEvents([{ functionCall: { name: "delete", args: { path: "a" } } }]),
    last: '"finishReason"',
  },
  {
    id: "amazon-bedrock/global.anthropic.claude-sonnet-5",
    type: "application/vnd.amazon.eventstream",
    events: converseEvents("Hello", [["c", "delete", { path: "a" }]]),
    rest: converseEvents("", [["c", "delete", { path: "a" }]]),
    last: "messageStop",
  },
];

async function readAll(model: Model): Promise<{ outcome: string; events: ModelEvent[] }> {
  const events: ModelEvent[] = [];
  try {
    for await (const event of model.stream(requestWith())) events.push(event);
    return { outcome: "whole", events };
  } catch (error) {
    return { outcome: (error as { kind: string }).kind, events };
  }
}

for (const { id, type = "text/event-stream", events, rest, last } of wires) {
  const whole = Buffer.concat(events.map((event) => Buffer.from(event)));
  const needed = events.findIndex((event) => event.includes(last)) + 1;
  const end = Buffer.concat(events.slice(0, needed).map((event) => Buffer.from(event))).length;
  const borders = events.map((_, index) =>
    events.slice(0, index).reduce((sum, event) => sum + Buffer.byteLength(event), 0),
  );
  // Between events, and in the middle of each.
  const places = [...borders, ...borders.map((place) => place + 25)].filter((place) => place < whole.length);
  const shown = (place: number) =>
    `at ${place} of ${whole.length}: ${whole.subarray(Math.max(0, place - 60), place)}`;

  for (const [how, finish] of [
    ["stream ends", (exchange) => exchange.end()],
    ["connection is cut", (exchange) => exchange.cut()],
    ["stream stalls", () => undefined],
  ] as const satisfies [string, (exchange: Exchange) => void][]) {
    const cutAt =
      (place: number): Answer =>
      async (exchange) => {
        exchange.open({ "content-type": type });
        await exchange.write(whole.subarray(0, place));
        finish(exchange);
      };
    const isStall = how === "stream stalls";
    // what follows the end of an answer is not waited for
    const tried = isStall ? places.filter((place) => place < end) : places;
    const model = (url: string, attempts: number) =>
      modelAt(url, id, isStall ? { timeout: 1 } : {}, { clock: testClock(), retries: { attempts } });
    // at once, because every stall takes a second
    const atEach = (check: (place: number) => Promise<void>) => Promise.all(tried.map(check));

    test(`${id}: the ${how} at any of ${tried.length} places`, async () => {
      await atEach((place) =>
        withFake([cutAt(place)], async (fake) => {
          const { outcome, events: seen } = await readAll(model(fake.url, 1));
          if (outcome === "whole") assert.ok(place >= end, shown(place));
          else {
            assert.match(outcome, /^(?:cut_off|unavailable)$/, shown(place));
            assert.ok(!seen.some(({ type: kind }) => kind === "tool_call" || kind === "end"), shown(place));
          }
        }),
      );
    });

    test(`${id}: the ${how} at any of ${tried.length} places, and the model is asked again`, async () => {
      const again: Answer = async (exchange) => {
        // a model that is told to continue does so
        const isRest = JSON.stringify(exchange.request.body).includes(resumeRequest);
        exchange.open({ "content-type": type });
        await exchange.write(Buffer.concat((isRest ? rest : events).map((event) => Buffer.from(event))));
        exchange.end();
      };
      await atEach((place) =>
        withFake([cutAt(place), again], async (fake) => {
          // a second may be too short for the answer to the second attempt, where the machine is busy
          const { outcome, events: seen } = await readAll(model(fake.url, isStall ? 6 : 2));
          assert.equal(outcome, "whole", shown(place));
          const answer = assistantMessage();
          let dropped = "";
          for (const event of seen) {
            if (event.type === "interrupted") dropped += answer.interrupt(event);
            else answer.add(event);
          }
          const texts = answer.message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
          assert.equal(texts.join(""), "Hello", shown(place));
          assert.ok("Hello".startsWith(dropped), shown(place));
          assert.deepEqual(
            answer.calls.map(({ name, input }) => [name, input]),
            [["delete", { path: "a" }]],
            shown(place),
          );
        }),
      );
    });
  }
}
