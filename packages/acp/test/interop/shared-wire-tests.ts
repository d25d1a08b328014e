// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// Registers the tests that are the same on both versions of the wire.

import assert from "node:assert/strict";
import { test } from "node:test";
import { mcpMessage } from "./shared-agent.ts";
import { meta, trickyText } from "./v1-samples.ts";
import { type Connected, outcomeOf, type Sender } from "./wire-script.ts";

export const deadline = { timeout: 120_000 };

/** The samples of a version: params by method. */
export type Samples<Requests> = { [Method in keyof Requests]?: SamplesOf<Requests[Method]> };
type SamplesOf<Row> = Row extends { params: infer Params } ? Params[] : never;

export interface SharedSubject {
  /** Connected before the first test runs. */
  client(): Connected<Pick<Sender<object, object>, "requestExtension" | "notifyExtension">>;
  request(method: string, params: unknown): Promise<unknown>;
  notify(method: string, params: unknown): unknown;
  /** What the agent's turn of this name was answered. */
  answersOf(turn: string): Promise<unknown>;
}

export function sawIn(result: unknown): unknown {
  return (result as { _meta?: { saw?: unknown } })._meta?.saw;
}

export function withoutMeta(result: object): object {
  const { _meta, ...rest } = result as { _meta?: unknown };
  return rest;
}

/** Sends each sample; the agent's answer says what it saw. */
export function testEchoes({ request }: SharedSubject, samples: object): void {
  for (const [method, list] of Object.entries(samples)) {
    test(`${method} arrives as it was sent`, deadline, async () => {
      for (const params of list) assert.deepEqual(sawIn(await request(method, params)), params);
    });
  }
}

export function testElicitation({ client, answersOf }: SharedSubject, form: object, url: object): void {
  test("the agent elicits by form and by url, and completes", deadline, async () => {
    const mark = client().log.events.length;
    assert.deepEqual(await answersOf("elicit"), [
      {
        action: "accept",
        content: { name: "ann", age: 3, happy: false, tags: ["a"] },
        _meta: { saw: form },
      },
      { action: "decline", _meta: { saw: url } },
    ]);
    const completed = await client().log.until("elicitation/complete", 1, mark);
    assert.deepEqual(completed, [{ elicitationId: "e1", _meta: meta }]);
  });
}

export function testErrorsAndExtensions({ client, request, answersOf }: SharedSubject): void {
  test("a cancelled request of the agent is answered -32800", deadline, async () => {
    assert.partialDeepStrictEqual(await answersOf("ask and give up"), { error: { code: -32800 } });
  });

  test("extensions go both ways, as requests and as notifications", deadline, async () => {
    const { agent, log } = client();
    const mark = log.events.length;
    const params = { text: trickyText, list: [null, 1.5, false] };
    assert.deepEqual(await agent.requestExtension("_parley.test/echo", params), params);
    const [echo, nothing] = (await answersOf("use extensions")) as unknown[];
    assert.deepEqual(echo, { text: trickyText });
    assert.partialDeepStrictEqual(nothing, {
      error: { code: -32601, data: { method: "_parley.test/nothing" } },
    });
    await agent.notifyExtension("_parley.test/note", { from: "client" });
    assert.deepEqual(await log.until("_parley.test/note", 2, mark), [
      { from: "agent" },
      { back: { from: "client" } },
    ]);
  });

  test("an error keeps its code, message and data", deadline, async () => {
    assert.deepEqual(await outcomeOf(client().agent.requestExtension("_parley.test/fail", {})), {
      error: { code: 4242, message: "this always fails", data: { why: ["it", { must: true }] } },
    });
  });

  test("what the agent does not have is answered -32601", deadline, async () => {
    const unknown = outcomeOf(client().agent.requestExtension("_parley.test/nothing", {}));
    assert.partialDeepStrictEqual(await unknown, { error: { code: -32601 } });
    const unstable = outcomeOf(request("session/fork", { sessionId: "s", cwd: "/" }));
    assert.partialDeepStrictEqual(await unstable, {
      error: { code: -32601, data: { method: "session/fork" } },
    });
  });
}

export function testMcp({ client, notify, answersOf }: SharedSubject): void {
  test("MCP over ACP goes both ways, and the auth status is pushed", deadline, async () => {
    assert.deepEqual(await answersOf("use MCP"), { result: { tools: [] }, _meta: { saw: mcpMessage } });
    const note = { serverId: "s", requestId: "r", method: "notifications/progress", params: { b: 2 } };
    await notify("mcp/message", note);
    assert.deepEqual(await client().log.until("_parley.test/note", 1), [{ back: note }]);
    assert.deepEqual(await client().log.until("auth/status_update", 1), [
      { state: "unauthenticated", accounts: [] },
    ]);
  });
}

/** Ends the conversation: nothing was misunderstood, and the agent leaves with 0 at the end of its stdin. */
export async function leave(client: Connected<unknown>): Promise<void> {
  const status = await client.close();
  assert.equal(client.complaints(), "");
  assert.deepEqual(status, { exitCode: 0 });
}
