// Version 2 over real processes, in both roles, against the official SDK: each side must see what the other
// sent, field by field. Where the SDK behaves otherwise than we do, the difference is written out.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { AgentNotifications, AgentRequests, ContentBlock } from "@parley/acp/v2";
import { methods, stableUpdateTags, unstableUpdateTags } from "../../src/wire/v2/methods.gen.ts";
import { connectParleyV2 } from "./parley-client.ts";
import { connectSdkV2 } from "./sdk-client.ts";
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
import type { V2AgentSender } from "./v2-client.ts";
import * as sample from "./v2-samples.ts";
import { type Connected, outcomeOf } from "./wire-script.ts";

const { cwd, meta, sessionId } = sample;

const pairs: Record<string, (unstable: boolean) => Promise<Connected<V2AgentSender>>> = {
  "our client, the SDK's agent": async (unstable) => connectParleyV2({ library: "sdk", unstable }),
  "the SDK's client, our agent": (unstable) => connectSdkV2({ library: "parley", unstable }),
  "our client, our agent": async (unstable) => connectParleyV2({ library: "parley", unstable }),
};

/** One request for each method whose answer only says what the agent saw. */
const echoed: Samples<AgentRequests> = {
  "auth/login": [{ methodId: "key", _meta: meta }],
  "auth/logout": [{ _meta: meta }],
  "session/close": [{ sessionId, _meta: meta }],
  "session/delete": [{ sessionId, _meta: meta }],
  "session/set_config_option": [
    { sessionId, configId: "model", type: "id", value: "large", _meta: meta },
    { sessionId, configId: "web", type: "boolean", value: true },
  ],
  "tool_call/cancel": [{ sessionId, toolCallId: "call-1", _meta: meta }],
  "terminal/cancel": [{ sessionId, terminalId: "terminal-1", _meta: meta }],
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

interface Turn {
  readonly messageId: string;
  readonly stopReason: unknown;
  readonly answers: unknown;
  /** What came between the prompt and its idle state, without state and echo. */
  readonly updates: unknown[];
}

function updatesOf(client: Connected<V2AgentSender>, mark: number): unknown[] {
  return client.log.of("session/update", mark).map((params) => (params as { update: unknown }).update);
}

/** Prompts, and waits for the idle state that ends the work. */
async function prompting(
  client: Connected<V2AgentSender>,
  prompt: ContentBlock[],
  _meta: Record<string, unknown>,
): Promise<Turn> {
  const mark = client.log.events.length;
  const params = { sessionId, prompt, _meta };
  const { messageId, ...rest } = await client.agent.request("session/prompt", params);
  assert.ok(isDeepStrictEqual(sawIn(rest), params));
  const [idle] = await client.log.until("idle", 1, mark);
  const { stopReason, _meta: result } = idle as { stopReason: unknown; _meta: { answers: unknown } };
  const [running, echo, ...others] = updatesOf(client, mark);
  assert.deepEqual(running, { sessionUpdate: "state_update", state: "running" });
  assert.ok(isDeepStrictEqual(echo, { sessionUpdate: "user_message", messageId, content: prompt }));
  return { messageId, stopReason, answers: result.answers, updates: others.slice(0, -1) };
}

function turn(client: Connected<V2AgentSender>, which: string): Promise<Turn> {
  return prompting(client, [{ type: "text", text: which }], { turn: which });
}

function subjectOf(
  client: () => Connected<V2AgentSender>,
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

for (const [name, connect] of Object.entries(pairs)) {
  describe(name, deadline, () => {
    let client: Connected<V2AgentSender>;
    const answersOf = async (which: string): Promise<unknown> => (await turn(client, which)).answers;

    const subject = subjectOf(() => client, answersOf);

    before(async () => {
      client = await connect(false);
      const result = await client.agent.request("initialize", sample.initializeRequest);
      assert.deepEqual(sawIn(result), sample.initializeRequest);
      assert.deepEqual(withoutMeta(result), sample.initializeResponse);
    }, deadline);

    after(() => leave(client), deadline);

    test("a new session carries directories, servers, config options and commands", deadline, async () => {
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

    test("a resume replays on demand, states the state, then answers", deadline, async () => {
      const mark = client.log.events.length;
      const quiet = { ...sample.newSession, sessionId };
      assert.deepEqual(sawIn(await client.agent.request("session/resume", quiet)), quiet);
      assert.deepEqual(updatesOf(client, mark), []);
      const params = { ...quiet, replayFrom: { type: "start" as const } };
      const result = await client.agent.request("session/resume", params);
      if (!client.keepsOrder) await client.log.until("session/update", sample.replay.length, mark);
      assert.deepEqual(updatesOf(client, mark), sample.replay);
      assert.deepEqual(sawIn(result), params);
      assert.deepEqual(withoutMeta(result), { configOptions: sample.configOptions });
    });

    test("a prompt is answered with its message id, echoed, worked on, then idle", deadline, async () => {
      const { messageId, stopReason, updates } = await prompting(client, sample.prompt, meta);
      assert.match(messageId, /^prompt-\d+$/);
      assert.equal(stopReason, "max_tokens");
      assert.deepEqual(
        updates,
        sample.prompt.map((content) => ({
          sessionUpdate: "agent_message_chunk",
          messageId: "echo",
          content,
        })),
      );
    });

    test("every kind of update arrives as it was sent, in order", deadline, async () => {
      const { stopReason, updates } = await turn(client, "every update");
      assert.deepEqual(updates, sample.updates);
      assert.equal(stopReason, "end_turn");
      assert.deepEqual(new Set(sample.updates.map((update) => update.sessionUpdate)), stableUpdateTags);
    });

    test("a kind of update that nobody knows yet keeps its fields", deadline, async () => {
      assert.deepEqual((await turn(client, "every future update")).updates, sample.futureUpdates);
    });

    test("a permission is selected, cancelled or refused with an error", deadline, async () => {
      assert.deepEqual(await answersOf("ask twice"), [
        { outcome: { outcome: "selected", optionId: "yes" }, _meta: { saw: sample.askAboutTool } },
        { outcome: { outcome: "cancelled" }, _meta: { saw: sample.askAboutCommand } },
      ]);
      assert.deepEqual(await answersOf("ask and fail"), {
        error: { code: -32002, message: "nobody is here", data: { who: "user" } },
      });
    });

    testElicitation(subject, sample.elicitationForm, sample.elicitationUrl);
    testErrorsAndExtensions(subject);

    test(
      "session/cancel in mid-turn gives an idle state with the stop reason cancelled",
      deadline,
      async () => {
        const mark = client.log.events.length;
        const work = turn(client, "until cancelled");
        await client.log.until("_parley.test/note", 1, mark);
        await client.agent.notify("session/cancel", { sessionId, _meta: meta });
        assert.equal((await work).stopReason, "cancelled");
      },
    );

    test("a prompt that is withdrawn before its insertion is answered -32800", deadline, async () => {
      const mark = client.log.events.length;
      const { signal, abort } = withAbort();
      const params = { sessionId, prompt: sample.prompt, _meta: { turn: "held" } };
      const answer = outcomeOf(client.agent.request("session/prompt", params, { signal }));
      await client.log.until("_parley.test/note", 1, mark);
      abort();
      assert.partialDeepStrictEqual(await answer, { error: { code: -32800 } });
    });

    test("a message of 5 MB goes both ways", deadline, async () => {
      const block: ContentBlock = { type: "text", text: "\u{1F600}\u2028é".repeat(Math.ceil(5e6 / 9)) };
      const { updates } = await prompting(client, [block], {});
      const [update] = updates as { content: { text: string } }[];
      // not deepEqual: a difference of 5 MB is not worth printing
      assert.ok(update?.content.text === block.text);
    });

    test("no stable method was left out", deadline, () => {
      const tried = new Set([
        ...Object.keys(echoed),
        ...[
          "initialize",
          "session/new",
          "session/list",
          "session/resume",
          "session/prompt",
          "session/cancel",
        ],
        ...["session/request_permission", "session/update", "elicitation/create", "elicitation/complete"],
      ]);
      assert.deepEqual(new Set(methods.filter((row) => !row.unstable).map((row) => row.method)), tried);
    });
  });

  describe(`${name}, unstable protocol`, deadline, () => {
    let client: Connected<V2AgentSender>;

    const subject = subjectOf(
      () => client,
      async (which) => (await turn(client, which)).answers,
    );

    before(async () => {
      client = await connect(true);
      const result = await client.agent.request("initialize", sample.initializeRequest);
      assert.deepEqual(sawIn(result), sample.initializeRequest);
    }, deadline);

    after(() => leave(client), deadline);

    testEchoes(subject, unstableEchoed);

    test("every unstable kind of update arrives as it was sent", deadline, async () => {
      const { updates } = await turn(client, "every unstable update");
      assert.deepEqual(updates, sample.unstableUpdates);
      const kinds = new Set<string>(sample.unstableUpdates.map((update) => update.sessionUpdate));
      for (const kind of unstableUpdateTags.keys()) assert.ok(kinds.has(kind), kind);
    });

    testMcp(subject);
  });
}

function withAbort(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
