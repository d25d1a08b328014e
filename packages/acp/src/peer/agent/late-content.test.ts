// Version 1 has no chunks of content: the agent sends the whole of it again, also for a call that has ended.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession, type Prompted } from "../../../test/support/peer-probe.ts";

/** The texts of each message about the call, as they crossed the wire of version 1. */
async function sentTexts(toolCallId: string, prompt: Prompted): Promise<string[][]> {
  const { agent, session, wire } = await openSession({ editions: ["v1"], version: 1 }, { prompt });
  await session.prompt("go").result;
  await agent.close();
  return wire.flatMap(({ message }) => {
    const { update } = (message["params"] ?? {}) as {
      update?: { toolCallId?: string; content?: { content: { text: string } }[] };
    };
    if (update?.toolCallId !== toolCallId) return [];
    return [(update.content ?? []).map(({ content }) => content.text)];
  });
}

const chunk = (toolCallId: string, text: string) =>
  ({
    sessionUpdate: "tool_call_content_chunk",
    toolCallId,
    content: { type: "content", content: { type: "text", text } },
  }) as const;

const ended = (toolCallId: string) =>
  ({ sessionUpdate: "tool_call_update", toolCallId, title: "T", status: "completed" }) as const;

test("content that comes after the end of a call is sent with what came before it (v1)", async () => {
  const texts = await sentTexts("a", async (turn) => {
    await turn.update(chunk("a", "1"));
    for (let i = 0; i < 100; i++) await turn.update(ended("a"));
    for (let i = 0; i < 60; i++) await turn.update(ended(`other ${i}`));
    await turn.update(chunk("a", "2"));
  });
  assert.deepEqual([texts[0], texts.at(-1)], [["1"], ["1", "2"]]);
});

test("the content of a call that ended long ago is not kept (v1)", async () => {
  const texts = await sentTexts("a", async (turn) => {
    await turn.update(chunk("a", "1"));
    await turn.update(ended("a"));
    for (let i = 0; i < 64; i++) await turn.update(ended(`other ${i}`));
    await turn.update(chunk("a", "2"));
    await turn.update(chunk("a", "3"));
  });
  assert.deepEqual(texts.slice(-2), [["2"], ["2", "3"]]);
});
