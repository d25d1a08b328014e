// Version 1 over real processes, in both roles, against the official SDK: each side must see what the other
// sent, field by field. Where the SDK behaves otherwise than we do, the difference is written out.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { AgentNotifications, AgentRequests, ContentBlock, PromptResponse } from "@parley/acp/v1";
import { methods, stableUpdateTags, unstableUpdateTags } from "../../src/wire/v1/methods.gen.ts";
import { connectParleyV1 } from "./parley-client.ts";
import { connectSdkV1 } from "./sdk-client.ts";
import {
  deadline,
  leave,
  type Samples,
  type SharedSubject,
  sawIn,
  testEchoes,
  testElicitation,
  testErrorsAndExtensions,
  testMcp,
  withoutMeta,
} from "./shared-wire-tests.ts";
import type { V1AgentSender } from "./v1-client.ts";
import * as sample from "./v1-samples.ts";
import { type Connected, outcomeOf } from "./wire-script.ts";

const { cwd, meta, sessionId } = sample;

const pairs: Record<string, (unstable: boolean) => Promise<Connected<V1AgentSender>>> = {
  "our client, the SDK's agent": async (unstable) => connectParleyV1({ library: "sdk", unstable }),
  "the SDK's client, our agent": (unstable) => connectSdkV1({ library: "parley", unstable }),
  "our client, our agent": async (unstable) => connectParleyV1({ library: "parley", unstable }),
};

/** One request for each method whose answer only says what the agent saw. */
const echoed: Samples<AgentRequests> = {
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

const unstableEchoed: Samples<AgentRequests> = {
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

function subjectOf(
  client: () => Connected<V1AgentSender>,
  answersOf: (turn: string) => Promise<unknown>,
): SharedSubject {
  return {
    client,
    // the samples are typed by method; here they are all alike
    request: (method, params) =>
      client().agent.request(
        method as keyof AgentRequests,
        params as AgentRequests[keyof AgentRequests]["params"],
      ),
    notify: (method, params) =>
      client().agent.notify(
        method as keyof AgentNotifications,
        params as AgentNotifications[keyof AgentNotifications]["params"],
      ),
    answersOf,
  };
}

function turn(client: Connected<V1AgentSender>, which: string): Promise<PromptResponse> {
  return client.agent.request("session/prompt", {
    sessionId,
    prompt: [{ type: "text", text: which }],
    _meta: { turn: which },
  });
}

async function answersOf(client: Connected<V1AgentSender>, which: string): Promise<unknown> {
  return (await turn(client, which))._meta?.["answers"];
}

for (const [name, connect] of Object.entries(pairs)) {
  describe(name, deadline, () => {
    let client: Connected<V1AgentSender>;
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

    const subject = subjectOf(
      () => client,
      (which) => answersOf(client, which),
    );

    before(async () => {
      client = await connect(false);
      const result = await client.agent.request("initialize", sample.initializeRequest);
      assert.deepEqual(sawIn(result), sample.initializeRequest);
      assert.deepEqual(withoutMeta(result), sample.initializeResponse);
    }, deadline);

    after(() => leave(client), deadline);

    test("a new session carries directories, servers, modes and config options", deadline, async () => {
      const result = await client.agent.request("session/new", sample.newSession);
      assert.deepEqual(sawIn(result), sample.newSession);
      assert.deepEqual(withoutMeta(result), sample.newSessionResponse);
    });

    testEchoes(subject, echoed);

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
      assert.equal((await turn(client, "every update")).stopReason, "end_turn");
      assert.deepEqual(await updatesSince(mark, sample.updates.length), sample.updates);
      assert.deepEqual(new Set(sample.updates.map((update) => update.sessionUpdate)), stableUpdateTags);
    });

    test("a permission is selected or cancelled", deadline, async () => {
      const asked = (title: string, options: object[]) => ({
        sessionId,
        toolCall: { ...sample.toolCall, title },
        options,
      });
      assert.deepEqual(await answersOf(client, "ask twice"), [
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
      assert.deepEqual(await answersOf(client, "use files"), [
        { content: "text", _meta: { saw: read } },
        { _meta: { saw: write } },
        { error: missing },
      ]);
    });

    test("a terminal is created, read, killed, waited for and released", deadline, async () => {
      const saw = { sessionId, terminalId: "terminal-1" };
      assert.deepEqual(await answersOf(client, "use a terminal"), [
        { terminalId: "terminal-1", _meta: { saw: sample.terminal } },
        { output: "out", truncated: true, exitStatus: { exitCode: null, signal: "SIGTERM" }, _meta: { saw } },
        { _meta: { saw } },
        { exitCode: 1, signal: null, _meta: { saw } },
        { _meta: { saw } },
      ]);
    });

    testElicitation(subject, sample.elicitationForm, sample.elicitationUrl);
    testErrorsAndExtensions(subject);

    test(
      "session/cancel in mid-turn gives the stop reason cancelled, after the last update",
      deadline,
      async () => {
        const mark = client.log.events.length;
        const response = turn(client, "until cancelled");
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

    const subject = subjectOf(
      () => client,
      (which) => answersOf(client, which),
    );

    before(async () => {
      client = await connect(true);
      const capabilities = { ...sample.initializeRequest.clientCapabilities, plan: {}, subagents: {} };
      const params = { ...sample.initializeRequest, clientCapabilities: capabilities };
      assert.deepEqual(sawIn(await client.agent.request("initialize", params)), params);
    }, deadline);

    after(() => leave(client), deadline);

    testEchoes(subject, unstableEchoed);

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
        new Set(unstableUpdateTags.keys()),
      );
    });

    testMcp(subject);
  });
}
