import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../../../test/support/random.ts";
import { parseEntry } from "../../../model/entry-format.ts";
import type { StoredEntry } from "../../../model/store.ts";
import { loadAgentVersion } from "../../base/load-version.ts";
import { parsed, type Replayed, replayedHistory } from "./replayed-history.ts";

const seed = Number(process.env["PARLEY_SEED"] ?? 20_261_120);

for (const version of [1, 2] as const) {
  test(`a replay on version ${version} says the same whether or not an entry has to be parsed (I2)`, async () => {
    const random = new Random(seed);
    for (let round = 0; round < 300; round++) {
      const entries = Array.from({ length: 1 + random.below(12) }, (_, at) => sample(random, at + 1));
      // the limit of a message is below some of the texts, and most of what is joined
      const maxSentBytes = random.chance(0.5) ? 400 : 1_000_000;
      const shown = await replay(version, maxSentBytes, entries);
      // with spaces, no entry is recognised by its form
      const spaced = entries.map((each) => ({ ...each, text: withSpaces(each.text) }));
      const message = `seed ${seed}, round ${round}: ${entries.map(({ text }) => text).join("\n")}`;
      assert.deepEqual(shown.map(parsed), (await replay(version, maxSentBytes, spaced)).map(parsed), message);
    }
  });
}

test("plain text and plain tool calls are shown without being parsed", async () => {
  const chunk = (text: string) => ({
    sessionUpdate: "agent_message_chunk",
    messageId: "m",
    content: { type: "text", text },
  });
  const call = { sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" };
  const entries = [chunk("one\n"), chunk('"two"'), call].map((update, at) => stored(at + 1, update));
  const shown = await replay(1, 1_000_000, entries, () => assert.fail("it is not parsed"));
  assert.deepEqual(shown.map(parsed), [chunk('one\n"two"'), call]);
});

async function replay(
  version: 1 | 2,
  maxSentBytes: number,
  entries: readonly StoredEntry[],
  read: typeof parseEntry = parseEntry,
): Promise<readonly Replayed[]> {
  const { edition } = await loadAgentVersion(version);
  const half = entries.length >> 1;
  async function* pages() {
    yield* [entries.slice(0, half), entries.slice(half)];
  }
  const shown: Replayed[] = [];
  for await (const page of replayedHistory({ pages, read }, Number.POSITIVE_INFINITY, {
    maxSentBytes,
    edition,
  }))
    shown.push(...page);
  return shown;
}

function stored(seq: number, update: { readonly sessionUpdate: string }): StoredEntry {
  return { format: 1, seq, time: 0, kind: "update", tag: update.sessionUpdate, text: JSON.stringify(update) };
}

function withSpaces(text: string): string {
  return JSON.stringify(JSON.parse(text), null, 1).replaceAll("\n", " ");
}

/** Few ids, so that pieces follow each other. */
function sample(random: Random, seq: number): StoredEntry {
  const text = random.pick([
    "",
    "a",
    "line\n",
    '"quoted" \\',
    "äöü 🙂",
    "\u0001",
    "x".repeat(60),
    "y".repeat(250),
  ]);
  const messageId = random.pick(["m1", "m2", 'm"3']);
  const content = { type: "text", text };
  const toolCallId = random.pick(["t1", "t2"]);
  if (random.chance(0.05)) {
    const prompt = JSON.stringify({ messageId, prompt: [content] });
    return { format: 1, seq, time: 0, kind: "prompt", text: prompt };
  }
  return stored(
    seq,
    random.pick([
      { sessionUpdate: "agent_message_chunk", messageId, content },
      { sessionUpdate: "agent_message_chunk", messageId, content },
      { sessionUpdate: "agent_message_chunk", messageId, content },
      { sessionUpdate: "agent_thought_chunk", messageId, content },
      { sessionUpdate: "user_message_chunk", messageId, content },
      { sessionUpdate: "agent_message_chunk", messageId, content, _meta: { a: 1 } },
      {
        sessionUpdate: "agent_message_chunk",
        messageId,
        content: { ...content, annotations: { priority: 1 } },
      },
      { sessionUpdate: "agent_message", messageId, content: [content] },
      { sessionUpdate: "agent_message", messageId },
      { sessionUpdate: "tool_call_update", toolCallId, title: text, status: "completed" },
      { sessionUpdate: "tool_call_update", toolCallId, content: [{ type: "content", content }] },
      { sessionUpdate: "tool_call_content_chunk", toolCallId, content: { type: "content", content } },
    ]),
  );
}
