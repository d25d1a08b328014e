import assert from "node:assert/strict";
import { test } from "node:test";
import { settledAnswer, settledAnswers, settlingFetch } from "./settled-answers.ts";

const valid = [
  { jsonrpc: "2.0", id: 1, result: {} },
  { jsonrpc: "2.0", id: 1, error: { code: -32_000, message: "no" } },
  { jsonrpc: "2.0", id: "ask-1", result: {} },
  { jsonrpc: "2.0", method: "notifications/progress", params: {} },
  { jsonrpc: "2.0", id: 1, method: "ping" },
];

test("valid messages of a server stay as they are", () => {
  for (const message of [...valid, null, "x", [], {}]) assert.deepEqual(settledAnswer(message), message);
});

test("an answer with an id of ours ends the call, however it looks", () => {
  for (const rest of [
    { error: { code: "E_BAD", message: { a: 1 } } },
    { error: "no" },
    { error: null },
    { result: "text" },
    { result: null },
    { result: {}, error: { code: 1, message: "both" } },
    { method: "tools/call", result: {} },
    {},
  ]) {
    const { id, error } = settledAnswer({ jsonrpc: "2.0", id: 7, ...rest }) as Record<string, unknown>;
    assert.equal(id, 7);
    assert.equal((error as { code: number }).code, -32_603, JSON.stringify(rest));
    assert.match(
      (error as { message: string }).message,
      /^it sent an answer that is no valid (?:error|result)/,
    );
  }
  assert.deepEqual(settledAnswer({ id: "7", result: {} }), { jsonrpc: "2.0", id: 7, result: {} });
});

test("answers in a batch end the calls that they answer", async () => {
  const batch = [valid[0], { id: 7, error: "no" }, valid[3]];
  const settled = settledAnswers(batch);
  assert.deepEqual([settled[0], settled[2]], [valid[0], valid[3]]);
  assert.match(JSON.stringify(settled[1]), /"id":7,"error":\{"code":-32603/);
  const headers = { "content-type": "text/event-stream" };
  const fetch = settlingFetch(async () => new Response(`data: ${JSON.stringify(batch)}\n\n`, { headers }));
  const events = (await (await fetch("http://x")).text()).trim().split("\n\n");
  assert.deepEqual(
    events.map((event) => JSON.parse(event.slice(6))),
    settled,
  );
});

test("the same holds in event streams, whatever pieces they come in", async () => {
  const bad = { jsonrpc: "2.0", id: 7, error: { code: "E", message: {} } };
  const text = `: hello\nevent: message\ndata: ${JSON.stringify(bad)}\n\ndata: ${JSON.stringify(valid[0])}\r\n\n`;
  for (const size of [1, 7, 1_000]) {
    const fetch = settlingFetch(async () => {
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
        new TextEncoder().encode(text.slice(at * size, (at + 1) * size)),
      );
      const body = new ReadableStream({
        start(controller) {
          for (const piece of pieces) controller.enqueue(piece);
          controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    });
    const lines = (await (await fetch("http://x")).text()).split("\n");
    assert.deepEqual(lines.slice(0, 2), [": hello", "event: message"]);
    assert.match(lines[2] ?? "", /^data: .*"code":-32603/);
    assert.deepEqual(JSON.parse((lines[4] ?? "").slice(6)), valid[0]);
  }
});
