// An agent written once with agent(), over real processes, against the official SDK's clients of version 1 and
// of version 2. The tests are the same; where the versions differ, it says so.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { connectSdkToApp, type SdkClient } from "./app-sdk-client.ts";
import * as v1 from "./v1-samples.ts";
import * as v2 from "./v2-samples.ts";
import { outcomeOf } from "./wire-script.ts";

const deadline = { timeout: 120_000 };
const { cwd, meta } = v1;

const wires = {
  v1: {
    number: 1,
    initialize: v1.initializeRequest,
    newSession: v1.newSession,
    login: "authenticate",
    logout: "logout",
    load: ["session/load", {}],
    prompt: v1.prompt,
  },
  v2: {
    number: 2,
    initialize: v2.initializeRequest,
    newSession: v2.newSession,
    login: "auth/login",
    logout: "auth/logout",
    load: ["session/resume", { replayFrom: { type: "start" } }],
    prompt: v2.prompt,
  },
} as const;

type WireUpdate = Record<string, unknown> & { sessionUpdate: string };

interface Finished {
  readonly stopReason: unknown;
  readonly updates: readonly WireUpdate[];
  readonly learnt: unknown;
}

for (const version of ["v1", "v2"] as const) {
  const wire = wires[version];

  /** Waits for the update, which a client of the SDK may see after the answer that follows it. */
  async function updatesUntil(
    { log }: SdkClient,
    mark: number,
    isLast: (update: WireUpdate) => boolean,
  ): Promise<WireUpdate[]> {
    for (let count = 1; ; count += 1) {
      const params = (await log.until("session/update", count, mark)) as { update: WireUpdate }[];
      const at = params.findIndex(({ update }) => isLast(update));
      if (at >= 0) return params.slice(0, at + 1).map(({ update }) => update);
      count = params.length;
    }
  }

  const textIn = ({ content }: WireUpdate): string => (content as { text?: string } | undefined)?.text ?? "";
  const isLearnt = (update: WireUpdate): boolean =>
    update.sessionUpdate === "agent_message_chunk" && textIn(update).startsWith("learnt: ");
  const isIdle = (update: WireUpdate): boolean =>
    update.sessionUpdate === "state_update" && update["state"] === "idle";

  describe(`the SDK's ${version} client, our agent`, deadline, () => {
    let client: SdkClient;
    let sessionId: string;
    const request = (method: string, params: object = {}): Promise<Record<string, unknown>> =>
      client.agent.request(method, params) as Promise<Record<string, unknown>>;

    async function send(prompt: readonly object[]): Promise<{ mark: number; ended: Promise<unknown> }> {
      const mark = client.log.events.length;
      const answer = request("session/prompt", { sessionId, prompt, _meta: meta });
      if (version === "v1") return { mark, ended: answer.then(({ stopReason }) => stopReason) };
      const ended = answer.then(async () => {
        const idle = (await updatesUntil(client, mark, isIdle)).at(-1);
        return idle?.["stopReason"];
      });
      return { mark, ended };
    }

    async function turn(text: string): Promise<Finished> {
      const { mark, ended } = await send([{ type: "text", text }]);
      const stopReason = await ended;
      const updates = await updatesUntil(client, mark, isLearnt);
      return { stopReason, updates, learnt: JSON.parse(textIn(updates.at(-1)!).slice("learnt: ".length)) };
    }

    before(async () => {
      client = await connectSdkToApp(version);
      const result = await request("initialize", wire.initialize);
      assert.equal(result["protocolVersion"], wire.number);
      const authMethods = result["authMethods"] as { id?: string; methodId?: string }[];
      assert.deepEqual(
        authMethods.map(({ id, methodId }) => id ?? methodId),
        ["key", "tui"],
      );
      const can = (result["agentCapabilities"] ?? result["capabilities"]) as { _meta?: unknown };
      assert.deepEqual(can._meta, meta);
      const info = (result["agentInfo"] ?? result["info"]) as { title?: string };
      assert.equal(info.title, "Written once");
    }, deadline);

    after(async () => {
      const status = await client.close();
      assert.equal(client.complaints(), "");
      assert.deepEqual(status, { exitCode: 0 });
    }, deadline);

    test("a session is refused with -32000 until somebody logs in", deadline, async () => {
      const refused = await outcomeOf(request("session/new", wire.newSession));
      assert.partialDeepStrictEqual(refused, { error: { code: -32000 } });
      const unknown = await outcomeOf(request(wire.login, { methodId: "nothing" }));
      assert.partialDeepStrictEqual(unknown, { error: { code: -32602 } });
      await request(wire.login, { methodId: "key" });
      const mark = client.log.events.length;
      const session = await request("session/new", wire.newSession);
      sessionId = String(session["sessionId"]);
      const options = session["configOptions"] as { id?: string; configId?: string }[];
      assert.deepEqual(
        options.map(({ id, configId }) => id ?? configId),
        ["mode", "effort", "web"],
      );
      if (version === "v2") return assert.equal((session["availableCommands"] as unknown[]).length, 2);
      assert.deepEqual(session["modes"], {
        currentModeId: "ask",
        availableModes: [
          { id: "ask", name: "Ask", description: "asks first" },
          { id: "code", name: "Code" },
        ],
      });
      const [commands] = await updatesUntil(client, mark, () => true);
      assert.deepEqual(commands?.["availableCommands"], [
        { name: "test", description: "runs the tests", input: { hint: "which" } },
        { name: "help", description: "helps" },
      ]);
    });

    test("the agent knows who is there and where", deadline, async () => {
      const { learnt } = await turn("who is there");
      const { info, features, ...rest } = learnt as { info: object; features: object };
      assert.deepEqual(info, { name: "interop-client", title: "Interop client", version: "1.2.3" });
      const isV1 = version === "v1";
      assert.deepEqual(features, {
        readTextFile: isV1,
        writeTextFile: isV1,
        terminal: isV1,
        terminalAuth: true,
        elicitationForm: true,
        elicitationUrl: true,
        booleanOptions: true,
        notices: true,
        compaction: true,
        // the SDK's client of version 1 declares none of these
        plans: false,
        subagents: false,
        terminalOutput: !isV1,
        _meta: meta,
      });
      const [stdio, ...others] = wire.newSession.mcpServers ?? [];
      assert.deepEqual(rest, {
        roots: [cwd, "/other"],
        mcpServers: [{ ...stdio, type: "stdio" }, ...others],
      });
    });

    test("a prompt with every kind of content comes back as it was sent", deadline, async () => {
      const { mark, ended } = await send(wire.prompt);
      assert.equal(await ended, "max_tokens");
      const said = (update: WireUpdate) => update.sessionUpdate === "agent_message_chunk";
      const isLast = (update: WireUpdate) =>
        said(update) && "blob" in ((update["content"] as { resource?: object }).resource ?? {});
      const updates = await updatesUntil(client, mark, isLast);
      assert.deepEqual(
        updates.filter(said).map(({ content }) => content),
        wire.prompt,
      );
      const ids = new Set(updates.filter(said).map(({ messageId }) => messageId));
      assert.equal(ids.size, 1, "one message");
    });

    test("everything that a turn can say is said in this version's words", deadline, async () => {
      const { stopReason, updates } = await turn("every update");
      assert.equal(stopReason, "end_turn");
      const kinds = updates.map(({ sessionUpdate }) => sessionUpdate);
      const counted = (kind: string) => kinds.filter((each) => each === kind).length;
      const common = [
        "agent_thought_chunk",
        "session_info_update",
        "usage_update",
        "notice",
        "available_commands_update",
        "compaction_update",
        "compaction_summary_chunk",
      ];
      for (const kind of common) assert.ok(counted(kind) > 0, kind);
      const tools = updates.filter(({ toolCallId }) => toolCallId === "call-1");
      const statuses = tools.flatMap(({ status }) => (status === undefined ? [] : [status]));
      assert.deepEqual(statuses, ["pending", "in_progress", "completed"]);
      const last = (id: string, key: string) =>
        updates.findLast((update) => update["toolCallId"] === id && update[key] !== undefined)?.[key];
      assert.equal(last("call-2", "status"), "failed");
      assert.partialDeepStrictEqual(last("call-2", "content"), [{ content: { text: "no such luck" } }]);
      const diff = (last("call-1", "content") as { type: string }[]).find(({ type }) => type === "diff");
      if (version === "v1") {
        assert.equal(counted("tool_call"), 3);
        assert.equal(counted("plan"), 1);
        assert.deepEqual(diff, { type: "diff", path: "/project/a.ts", oldText: "a\n", newText: "b\n" });
        // version 1 has no display terminals: their output is text, without escape sequences
        assert.deepEqual(last("call-3", "content"), [
          { type: "content", content: { type: "text", text: "passed\n" } },
        ]);
      } else {
        assert.equal(counted("plan_update"), 1);
        assert.partialDeepStrictEqual(diff, {
          changes: [{ operation: "modify", path: "/project/a.ts" }],
          patch: { format: "git_patch" },
        });
        assert.equal(counted("terminal_output_chunk"), 1);
        assert.deepEqual(
          updates.findLast(({ sessionUpdate }) => sessionUpdate === "terminal_update")?.["exitStatus"],
          { exitCode: 0 },
        );
      }
    });

    test("permission is asked for with what the tool shows; a yes is a yes", deadline, async () => {
      const mark = client.log.events.length;
      const { learnt } = await turn("ask");
      const asks = client.log.of("session/request_permission", mark) as Record<string, unknown>[];
      assert.equal(asks.length, 2);
      assert.partialDeepStrictEqual(
        asks[0],
        version === "v1"
          ? { toolCall: { toolCallId: "call-4", title: "Edit b.ts" } }
          : { title: "Edit b.ts", subject: { type: "tool_call", toolCall: { toolCallId: "call-4" } } },
      );
      const yes = { optionId: "allow_once", name: "Allow", kind: "allow_once" };
      // the v1 client of these tests says yes to everything that has an option
      assert.deepEqual(learnt, [yes, version === "v1" ? yes : null]);
    });

    test("a cancel while a question is open ends the turn as cancelled", deadline, async () => {
      const { mark, ended } = await send([{ type: "text", text: "hang" }]);
      await client.log.until("session/request_permission", 1, mark);
      await client.agent.notify("session/cancel", { sessionId, _meta: meta });
      assert.equal(await ended, "cancelled");
      const isOver = ({ status }: WireUpdate) => status === "cancelled" || status === "failed";
      const tool = (await updatesUntil(client, mark, isOver)).at(-1);
      assert.equal(tool?.["status"], version === "v1" ? "failed" : "cancelled");
    });

    test(
      "a cancel in mid-turn ends the turn as cancelled, and the prompts that wait with it",
      deadline,
      async () => {
        const { mark, ended } = await send([{ type: "text", text: "until cancelled" }]);
        await updatesUntil(client, mark, (update) => textIn(update) === "waiting");
        const second = outcomeOf(
          request("session/prompt", { sessionId, prompt: [{ type: "text", text: "elicit" }] }),
        );
        await client.agent.notify("session/cancel", { sessionId });
        assert.equal(await ended, "cancelled");
        assert.partialDeepStrictEqual(
          await second,
          version === "v1" ? { result: { stopReason: "cancelled" } } : { error: { code: -32800 } },
        );
      },
    );

    test("a failing turn: version 1 answers with the error, version 2 idles with it", deadline, async () => {
      const mark = client.log.events.length;
      const params = { sessionId, prompt: [{ type: "text", text: "fail" }] };
      const error = { code: 4242, message: "this always fails", data: { why: ["it", { must: true }] } };
      const answer = await outcomeOf(request("session/prompt", params));
      if (version === "v1") return assert.deepEqual(answer, { error });
      const idle = (await updatesUntil(client, mark, isIdle)).at(-1);
      assert.partialDeepStrictEqual(idle, { stopReason: "error", error });
    });

    test("elicitation by form and by url", deadline, async () => {
      const answers = (await turn("elicit")).learnt as Record<string, unknown>[];
      assert.deepEqual(
        answers.map(({ _meta, ...rest }) => rest),
        [
          { action: "accept", content: { name: "ann", age: 3, happy: false, tags: ["a"] } },
          { action: "decline" },
        ],
      );
      assert.partialDeepStrictEqual(answers[0]?.["_meta"], {
        saw: {
          mode: "form",
          requestedSchema: (v1.elicitationForm as { requestedSchema: object }).requestedSchema,
        },
      });
    });

    test("files and terminals of a v1 client", deadline, async () => {
      const files = (await turn("files")).learnt;
      const { learnt: terminals, updates } = await turn("terminals");
      if (version === "v2") return assert.deepEqual([files, terminals], ["no files", "no terminals"]);
      assert.partialDeepStrictEqual(files, [
        "text",
        { error: { code: -32002, message: "no such file", data: { uri: `${cwd}/missing` } } },
      ]);
      // the client sends null for what there is not
      const exit = { exitCode: 1 };
      assert.partialDeepStrictEqual(terminals, {
        exit,
        again: exit,
        output: { output: "out", truncated: true, exitStatus: { signal: "SIGTERM" } },
      });
      assert.ok(!JSON.stringify(terminals).includes("null"));
      const shown = updates.findLast(({ toolCallId, content }) => toolCallId === "call-5" && content);
      assert.deepEqual(shown?.["content"], [{ type: "terminal", terminalId: "terminal-1" }]);
    });

    test("options and modes are set and reported", deadline, async () => {
      const mark = client.log.events.length;
      const typed = version === "v1" ? {} : { type: "id" };
      const set = { sessionId, configId: "effort", ...typed, value: "high" };
      const { configOptions } = await request("session/set_config_option", set);
      assert.partialDeepStrictEqual(configOptions, [{}, { currentValue: "high" }]);
      const changed = (await updatesUntil(client, mark, (update) => "configOptions" in update)).at(-1);
      assert.deepEqual(changed?.["configOptions"], configOptions);
      const bad = await outcomeOf(request("session/set_config_option", { ...set, value: "nothing" }));
      assert.partialDeepStrictEqual(bad, { error: { code: -32602 } });
      const flag = { sessionId, configId: "web", type: "boolean", value: true };
      const after = (await request("session/set_config_option", flag))["configOptions"];
      assert.partialDeepStrictEqual(after, [{}, {}, { currentValue: true }]);
      if (version === "v2") return;
      const before = client.log.events.length;
      await request("session/set_mode", { sessionId, modeId: "code" });
      const mode = (await updatesUntil(client, before, (update) => "currentModeId" in update)).at(-1);
      assert.equal(mode?.["currentModeId"], "code");
      // what the session began with is not news, and a mode that does not exist is refused
      const nothing = await outcomeOf(request("session/set_mode", { sessionId, modeId: "nothing" }));
      assert.partialDeepStrictEqual(nothing, { error: { code: -32602 } });
    });

    test("extensions go both ways; a cancelled one is answered -32800", deadline, async () => {
      const mark = client.log.events.length;
      const params = { text: v1.trickyText, list: [null, 1.5, false] };
      assert.deepEqual(await request("_parley.test/echo", params), params);
      assert.deepEqual(await outcomeOf(request("_parley.test/fail")), {
        error: { code: 4242, message: "this always fails", data: { why: ["it", { must: true }] } },
      });
      const nothing = await outcomeOf(request("_parley.test/nothing"));
      assert.partialDeepStrictEqual(nothing, { error: { code: -32601 } });
      const [echo, none] = (await turn("extensions")).learnt as unknown[];
      assert.deepEqual(echo, { text: v1.trickyText });
      assert.partialDeepStrictEqual(none, { error: { code: -32601 } });
      await client.agent.notify("_parley.test/note", { from: "client" });
      assert.deepEqual(await client.log.until("_parley.test/note", 1, mark), [{ back: { from: "client" } }]);
      const giveUp = new AbortController();
      const waiting = outcomeOf(
        client.agent.request("_parley.test/wait", {}, { signal: giveUp.signal }) as Promise<unknown>,
      );
      await client.log.until("_parley.test/note", 2, mark);
      giveUp.abort();
      assert.partialDeepStrictEqual(await waiting, { error: { code: -32800 } });
    });

    test(
      "a session is listed, closed, loaded with its history, resumed, forked, deleted",
      deadline,
      async () => {
        const listed = async () =>
          ((await request("session/list"))["sessions"] as { sessionId: string; title?: string }[]).map(
            ({ sessionId: id, title }) => [id, title ?? null],
          );
        assert.deepEqual(await listed(), [[sessionId, "A title"]]);
        await request("session/close", { sessionId });
        const closed = await outcomeOf(request("session/prompt", { sessionId, prompt: wire.prompt }));
        assert.partialDeepStrictEqual(closed, { error: { code: -32002 } });
        const mark = client.log.events.length;
        const [load, replayFrom] = wire.load;
        const loaded = await request(load, { sessionId, ...wire.newSession, ...replayFrom });
        assert.partialDeepStrictEqual(loaded["configOptions"], [
          { currentValue: version === "v1" ? "code" : "ask" },
          { currentValue: "high" },
          { currentValue: true },
        ]);
        const replay = client.log.of("session/update", mark) as { update: WireUpdate }[];
        const texts = replay
          .filter(({ update }) => update.sessionUpdate.startsWith("user_message"))
          .flatMap(({ update }) =>
            update.sessionUpdate === "user_message"
              ? [(update["content"] as { text?: string }[])[0]?.text]
              : [textIn(update)],
          );
        assert.equal(texts[0], "who is there");
        assert.ok(texts.includes("every update") && texts.includes("ask"));
        const finalStatus = replay.findLast(({ update }) => update["toolCallId"] === "call-1")?.update[
          "status"
        ];
        assert.equal(finalStatus, "completed");
        await request("session/resume", { sessionId, ...wire.newSession });
        const fork = await request("session/fork", { sessionId, ...wire.newSession });
        assert.notEqual(fork["sessionId"], sessionId);
        await request("session/delete", { sessionId });
        assert.deepEqual(await listed(), [[fork["sessionId"], "A title"]]);
        sessionId = String(fork["sessionId"]);
        assert.deepEqual((await turn("extensions")).stopReason, "end_turn");
      },
    );

    test("after a logout sessions are refused again", deadline, async () => {
      await request(wire.logout);
      const refused = await outcomeOf(request("session/new", wire.newSession));
      assert.partialDeepStrictEqual(refused, { error: { code: -32000 } });
    });
  });

  test(
    `when our agent crashes, the SDK's ${version} client learns that the connection closed`,
    deadline,
    async (t) => {
      const client = await connectSdkToApp(version, "logged-in");
      t.after(() => client.close());
      await client.agent.request("initialize", wire.initialize);
      await assert.rejects(client.agent.request("_parley.test/crash", {}));
      assert.deepEqual(await client.exited, { exitCode: 3 });
    },
  );
}
