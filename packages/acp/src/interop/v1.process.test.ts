// Version 1 over real processes, in both roles, against the official SDK: each side must see what the other
// sent, field by field. Where the SDK behaves otherwise than we do, the difference is written out.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { AgentRequests, ContentBlock, PromptResponse } from "@parley/acp/v1";
import { methods, stableUpdateTags, unstableUpdateTags } from "../wire/v1/methods.gen.ts";
import { connectParleyV1 } from "./parley-v1-client.ts";
import { connectSdkV1 } from "./sdk-v1-client.ts";
import type { V1AgentSender } from "./v1-client.ts";
import * as sample from "./v1-samples.ts";
import { type Connected, outcomeOf } from "./wire-script.ts";

const { cwd, meta, sessionId } = sample;
const deadline = { timeout: 120_000 };

const pairs: Record<string, (unstable: boolean) => Promise<Connected<V1AgentSender>>> = {
  "our client, the SDK's agent": async (unstable) => connectParleyV1({ library: "sdk", unstable }),
  "the SDK's client, our agent": (unstable) => connectSdkV1({ library: "parley", unstable }),
  "our client, our agent": async (unstable) => connectParleyV1({ library: "parley", unstable }),
};

/** One request for each method whose answer only says what the agent saw. */
const echoed: { [Method in keyof AgentRequests]?: AgentRequests[Method]["params"][] } = {
  authenticate: [{ methodId: "key", _meta: meta }],
  logout: [{ _meta: meta }],
  "session/resume": [
    { ...sample.newSession, sessionId },
    { sessionId, cwd, mcpServers: [], additionalDirectories: [] },
  ],
  "session/close": [{ sessionId, _meta: meta }],
  "session/delete": [{ sessionId, _meta: meta }],
  "session/set_mode": [{ sessionId, modeId: "code", _meta: meta }],
  "session/set_config_option": [
    { sessionId, configId: "model", value: "large", _meta: meta },
    { sessionId, configId: "web", type: "boolean", value: true },
  ],
};

const unstableEchoed: { [Method in keyof AgentRequests]?: AgentRequests[Method]["params"][] } = {
  "auth/status": [{ _meta: meta }],
  "providers/list": [{ _meta: meta }],
  "providers/set": [
    { providerId: "p", apiType: "openai", baseUrl: "https://example.com", headers: { a: "b" } },
  ],
  "providers/disable": [{ providerId: "p", _meta: meta }],
  "session/fork": [
    {
      sessionId,
      cwd,
      additionalDirectories: ["/other"],
      mcpServers: [{ type: "acp", name: "a", serverId: "s" }],
      systemPrompt: { mode: "append", content: [{ type: "text", text: "be brief" }] },
    },
  ],
  "session/archive": [{ sessionId, _meta: meta }],
  "session/unarchive": [{ sessionId, _meta: meta }],
  "session/status": [{ sessionId, _meta: meta }],
  "session/set_title": [{ sessionId, title: sample.trickyText, _meta: meta }],
};

function sawIn(result: unknown): unknown {
  return (result as { _meta?: { saw?: unknown } })._meta?.saw;
}

function withoutMeta(result: object): object {
  const { _meta, ...rest } = result as { _meta?: unknown };
  return rest;
}

for (const [name, connect] of Object.entries(pairs)) {
  describe(name, deadline, () => {
    let client: Connected<V1AgentSender>;
    const requests = (method: string, params: unknown): Promise<unknown> =>
      // the table above is typed by method; here its rows are all alike
      client.agent.request(
        method as keyof AgentRequests,
        params as AgentRequests[keyof AgentRequests]["params"],
      );
    const turn = (which: string): Promise<PromptResponse> =>
      client.agent.request("session/prompt", {
        sessionId,
        prompt: [{ type: "text", text: which }],
        _meta: { turn: which },
      });
    const answersOf = async (which: string): Promise<unknown> => (await turn(which))._meta?.["answers"];
    /** The updates since the mark. A library that keeps the order has handled them when the response resolves. */
    const updatesSince = async (mark: number, count: number): Promise<unknown[]> => {
      const seen = client.keepsOrder
        ? client.log.of("session/update", mark)
        : await client.log.until("session/update", count, mark);
      assert.equal(seen.length, count);
      return seen.map((params) => {
        assert.equal((params as { sessionId: string }).sessionId, sessionId);
        return (params as { update: unknown }).update;
      });
    };

    before(async () => {
      client = await connect(false);
      const result = await client.agent.request("initialize", sample.initializeRequest);
      assert.deepEqual(sawIn(result), sample.initializeRequest);
      assert.deepEqual(withoutMeta(result), sample.initializeResponse);
    }, deadline);

    after(async () => {
      const status = await client.close();
      assert.equal(client.complaints(), "");
      assert.deepEqual(status, { exitCode: 0 }, "an agent leaves with 0 at the end of its stdin");
    }, deadline);

    test("a new session carries directories, servers, modes and config options", deadline, async () => {
      const result = await client.agent.request("session/new", sample.newSession);
      assert.deepEqual(sawIn(result), sample.newSession);
      assert.deepEqual(withoutMeta(result), sample.newSessionResponse);
    });

    for (const [method, samples] of Object.entries(echoed)) {
      test(`${method} arrives as it was sent`, deadline, async () => {
        for (const params of samples) assert.deepEqual(sawIn(await requests(method, params)), params);
      });
    }

    test("a list is read page by page with its cursor", deadline, async () => {
      const first = await client.agent.request("session/list", { cwd, _meta: meta });
      assert.deepEqual(sawIn(first), { cwd, _meta: meta });
      assert.equal(first.nextCursor, "second");
      const second = await client.agent.request("session/list", { cwd, cursor: "second" });
      assert.deepEqual(sawIn(second), { cwd, cursor: "second" });
      assert.deepEqual(withoutMeta(second), {
        sessions: [{ sessionId: "second", cwd, title: "T", updatedAt: sample.time }],
      });
    });

    test("a load replays before it answers", deadline, async () => {
      const mark = client.log.events.length;
      const result = await client.agent.request("session/load", { ...sample.newSession, sessionId });
      assert.deepEqual(await updatesSince(mark, sample.replay.length), sample.replay);
      assert.deepEqual(sawIn(result), { ...sample.newSession, sessionId });
      assert.deepEqual(withoutMeta(result), { modes: sample.newSessionResponse.modes });
    });

    test("a prompt carries every block, and the agent says each one back", deadline, async () => {
      const mark = client.log.events.length;
      const params = { sessionId, prompt: sample.prompt, _meta: meta };
      const result = await client.agent.request("session/prompt", params);
      assert.equal(result.stopReason, "max_tokens");
      assert.deepEqual(sawIn(result), params);
      const chunks = await updatesSince(mark, sample.prompt.length);
      assert.deepEqual(
        chunks,
        sample.prompt.map((content) => ({ sessionUpdate: "agent_message_chunk", content })),
      );
    });

    test("every kind of update arrives as it was sent, in order", deadline, async () => {
      const mark = client.log.events.length;
      assert.equal((await turn("every update")).stopReason, "end_turn");
      assert.deepEqual(await updatesSince(mark, sample.updates.length), sample.updates);
      assert.deepEqual(new Set(sample.updates.map((update) => update.sessionUpdate)), stableUpdateTags);
    });

    test("a permission is selected or cancelled", deadline, async () => {
      const asked = (title: string, options: object[]) => ({
        sessionId,
        toolCall: { ...sample.toolCall, title },
        options,
      });
      assert.deepEqual(await answersOf("ask twice"), [
        {
          outcome: { outcome: "selected", optionId: "yes" },
          _meta: { saw: asked("first", sample.permissionOptions) },
        },
        { outcome: { outcome: "cancelled" }, _meta: { saw: asked("second", []) } },
      ]);
    });

    test("files are read and written, and a missing one is an error with its data", deadline, async () => {
      const read = { sessionId, path: "/project/a.ts", line: 2, limit: 3, _meta: meta };
      const write = { sessionId, path: "/project/b.ts", content: sample.trickyText };
      const missing = { code: -32002, message: "no such file", data: { uri: "/project/missing" } };
      assert.deepEqual(await answersOf("use files"), [
        { content: "text", _meta: { saw: read } },
        { _meta: { saw: write } },
        { error: missing },
      ]);
    });

    test("a terminal is created, read, killed, waited for and released", deadline, async () => {
      const saw = { sessionId, terminalId: "terminal-1" };
      assert.deepEqual(await answersOf("use a terminal"), [
        { terminalId: "terminal-1", _meta: { saw: sample.terminal } },
        { output: "out", truncated: true, exitStatus: { exitCode: null, signal: "SIGTERM" }, _meta: { saw } },
        { _meta: { saw } },
        { exitCode: 1, signal: null, _meta: { saw } },
        { _meta: { saw } },
      ]);
    });

    test("the agent elicits by form and by url, and completes", deadline, async () => {
      const mark = client.log.events.length;
      assert.deepEqual(await answersOf("elicit"), [
        {
          action: "accept",
          content: { name: "ann", age: 3, happy: false, tags: ["a"] },
          _meta: { saw: sample.elicitationForm },
        },
        { action: "decline", _meta: { saw: sample.elicitationUrl } },
      ]);
      const completed = await client.log.until("elicitation/complete", 1, mark);
      assert.deepEqual(completed, [{ elicitationId: "e1", _meta: meta }]);
    });

    test(
      "session/cancel in mid-turn gives the stop reason cancelled, after the last update",
      deadline,
      async () => {
        const mark = client.log.events.length;
        const response = turn("until cancelled");
        await client.log.until("_parley.test/note", 1, mark);
        await client.agent.notify("session/cancel", { sessionId, _meta: meta });
        assert.equal((await response).stopReason, "cancelled");
        assert.deepEqual(await updatesSince(mark, 1), [sample.updates[0]]);
      },
    );

    test("a cancelled request of the client is answered -32800", deadline, async () => {
      const mark = client.log.events.length;
      const abort = new AbortController();
      const answer = outcomeOf(
        client.agent.requestExtension("_parley.test/wait", {}, { signal: abort.signal }),
      );
      await client.log.until("_parley.test/note", 1, mark);
      abort.abort();
      assert.partialDeepStrictEqual(await answer, { error: { code: -32800 } });
    });

    test("a cancelled request of the agent is answered -32800", deadline, async () => {
      assert.partialDeepStrictEqual(await answersOf("ask and give up"), { error: { code: -32800 } });
    });

    test("extensions go both ways, as requests and as notifications", deadline, async () => {
      const mark = client.log.events.length;
      const params = { text: sample.trickyText, list: [null, 1.5, false] };
      assert.deepEqual(await client.agent.requestExtension("_parley.test/echo", params), params);
      const [echo, nothing] = (await answersOf("use extensions")) as unknown[];
      assert.deepEqual(echo, { text: sample.trickyText });
      assert.partialDeepStrictEqual(nothing, {
        error: { code: -32601, data: { method: "_parley.test/nothing" } },
      });
      await client.agent.notifyExtension("_parley.test/note", { from: "client" });
      assert.deepEqual(await client.log.until("_parley.test/note", 2, mark), [
        { from: "agent" },
        { back: { from: "client" } },
      ]);
    });

    test("an error keeps its code, message and data", deadline, async () => {
      assert.deepEqual(await outcomeOf(client.agent.requestExtension("_parley.test/fail", {})), {
        error: { code: 4242, message: "this always fails", data: { why: ["it", { must: true }] } },
      });
    });

    test("what the agent does not have is answered -32601", deadline, async () => {
      const unknown = outcomeOf(client.agent.requestExtension("_parley.test/nothing", {}));
      assert.partialDeepStrictEqual(await unknown, { error: { code: -32601 } });
      const unstable = outcomeOf(client.agent.request("session/fork", { sessionId, cwd }));
      assert.partialDeepStrictEqual(await unstable, {
        error: { code: -32601, data: { method: "session/fork" } },
      });
    });

    test("a message of 5 MB goes both ways", deadline, async () => {
      const mark = client.log.events.length;
      const block: ContentBlock = { type: "text", text: "\u{1F600}\u2028é".repeat(Math.ceil(5e6 / 9)) };
      const params = { sessionId, prompt: [block] };
      const result = await client.agent.request("session/prompt", params);
      // not deepEqual: a difference of 5 MB is not worth printing
      assert.ok(isDeepStrictEqual(sawIn(result), params));
      const [update] = (await updatesSince(mark, 1)) as { content: { text: string } }[];
      assert.ok(update?.content.text === block.text);
    });

    test("no stable method was left out", deadline, () => {
      const tried = new Set([
        ...Object.keys(echoed),
        ...["initialize", "session/new", "session/list", "session/load", "session/prompt", "session/cancel"],
        ...["session/request_permission", "session/update", "fs/read_text_file", "fs/write_text_file"],
        ...[
          "terminal/create",
          "terminal/output",
          "terminal/kill",
          "terminal/wait_for_exit",
          "terminal/release",
        ],
        ...["elicitation/create", "elicitation/complete"],
      ]);
      assert.deepEqual(new Set(methods.filter((row) => !row.unstable).map((row) => row.method)), tried);
    });
  });

  describe(`${name}, unstable protocol`, deadline, () => {
    let client: Connected<V1AgentSender>;

    before(async () => {
      client = await connect(true);
      const capabilities = { ...sample.initializeRequest.clientCapabilities, plan: {}, subagents: {} };
      const params = { ...sample.initializeRequest, clientCapabilities: capabilities };
      assert.deepEqual(sawIn(await client.agent.request("initialize", params)), params);
    }, deadline);

    after(async () => {
      const status = await client.close();
      assert.equal(client.complaints(), "");
      assert.deepEqual(status, { exitCode: 0 });
    }, deadline);

    for (const [method, samples] of Object.entries(unstableEchoed)) {
      test(`${method} arrives as it was sent`, deadline, async () => {
        for (const params of samples) {
          const result = await client.agent.request(
            method as keyof AgentRequests,
            params as AgentRequests[keyof AgentRequests]["params"],
          );
          assert.deepEqual(sawIn(result), params);
        }
      });
    }

    test("every unstable kind of update arrives as it was sent", deadline, async () => {
      const params = { sessionId, prompt: sample.prompt, _meta: { turn: "every unstable update" } };
      await client.agent.request("session/prompt", params);
      const seen = await client.log.until("session/update", sample.unstableUpdates.length);
      assert.deepEqual(
        seen.map((one) => (one as { update: unknown }).update),
        sample.unstableUpdates,
      );
      assert.deepEqual(
        new Set(sample.unstableUpdates.map((update) => update.sessionUpdate)),
        unstableUpdateTags,
      );
    });

    test("MCP over ACP goes both ways, and the auth status is pushed", deadline, async () => {
      const turn = { sessionId, prompt: sample.prompt, _meta: { turn: "use MCP" } };
      const result = await client.agent.request("session/prompt", turn);
      const saw = { serverId: "s", requestId: "r", method: "tools/list", params: { a: 1 } };
      assert.deepEqual(result._meta?.["answers"], { result: { tools: [] }, _meta: { saw } });
      const note = { serverId: "s", requestId: "r", method: "notifications/progress", params: { b: 2 } };
      await client.agent.notify("mcp/message", note);
      assert.deepEqual(await client.log.until("_parley.test/note", 1), [{ back: note }]);
      assert.deepEqual(await client.log.until("auth/status_update", 1), [
        { state: "unauthenticated", accounts: [] },
      ]);
    });
  });
}
