// A client written once with client(), over real processes: against agents of the official SDK in version 1 and
// in version 2, on stdio and behind the SDK's own server, and against ours as control. The tests are the same; where the
// versions differ, it says so.

import assert from "node:assert/strict";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import {
  type ClientSession,
  ConnectionError,
  type ContentBlock,
  type Editions,
  RequestError,
  type SessionUpdate,
} from "@parley/acp";
import { interopCommand } from "./agent-command.ts";
import { type AppClient, connectApp, prompted } from "./app-client.ts";
import * as v1 from "./v1-samples.ts";
import * as v2 from "./v2-samples.ts";

const deadline = { timeout: 120_000 };

const agents = {
  "the SDK's v1 agent": { version: 1, sdk: true, way: "stdio", start: ["app-sdk-agent.ts", "v1"] },
  "the SDK's v2 agent": { version: 2, sdk: true, way: "stdio", start: ["app-sdk-agent.ts", "v2"] },
  "the SDK's v1 server": { version: 1, sdk: true, way: "HTTP", start: ["app-sdk-server.ts", "v1"] },
  "the SDK's v2 server": { version: 2, sdk: true, way: "HTTP", start: ["app-sdk-server.ts", "v2"] },
  "the SDK's v1 socket": { version: 1, sdk: true, way: "WebSocket", start: ["app-sdk-server.ts", "v1"] },
  "the SDK's v2 socket": { version: 2, sdk: true, way: "WebSocket", start: ["app-sdk-server.ts", "v2"] },
  "our agent in version 1": { version: 1, sdk: false, way: "stdio", start: ["app-agent.ts"] },
  "our agent": { version: 2, sdk: false, way: "stdio", start: ["app-agent.ts"] },
  "our server in version 1": { version: 1, sdk: false, way: "HTTP", start: ["app-agent.ts", "remote"] },
  "our server": { version: 2, sdk: false, way: "HTTP", start: ["app-agent.ts", "remote"] },
  "our socket in version 1": { version: 1, sdk: false, way: "WebSocket", start: ["app-agent.ts", "remote"] },
  "our socket": { version: 2, sdk: false, way: "WebSocket", start: ["app-agent.ts", "remote"] },
} as const;

const withoutStates = (updates: readonly SessionUpdate[]): SessionUpdate[] =>
  updates.filter(({ sessionUpdate }) => sessionUpdate !== "state_update");

for (const [name, { version, sdk, way, start }] of Object.entries(agents)) {
  // the agents of the SDK speak one version, ours is asked for one
  const editions: Editions = sdk || version === 2 ? ["v2", "v1"] : ["v1"];
  const connect = async (t: TestContext): Promise<AppClient> => {
    const [program, ...args] = start;
    const app = await connectApp(interopCommand(program, ...args, "logged-in"), editions, way);
    t.after(() => app.close());
    return app;
  };

  describe(`our client, ${name}`, deadline, () => {
    let app: AppClient;
    let session: ClientSession;
    let cwd: string;

    before(async () => {
      cwd = await realpath(await mkdtemp(join(tmpdir(), "parley-app-")));
      const [program, ...args] = start;
      app = await connectApp(interopCommand(program, ...args), editions, way);
      // refused with -32000, then logged in, then tried once more
      session = await app.open({ cwd, additionalDirectories: ["/other"] });
      // over HTTP they come on another stream than the answer, and may be later
      await new Promise<void>((resolve) => {
        const look = () => {
          if (sdk || session.availableCommands.length > 0) resolve();
        };
        session.onUpdate(look);
        look();
      });
    }, deadline);

    after(async () => {
      const status = await app.close();
      await rm(cwd, { recursive: true, force: true });
      assert.equal(app.complaints(), "");
      assert.deepEqual(status, { exitCode: 0 });
    }, deadline);

    test("the version is agreed on, and each side knows what the other offers", deadline, () => {
      assert.equal(app.agent.edition, `v${version}`);
      assert.equal(app.agent.info?.name, sdk ? "interop-agent" : "app-agent");
      const { image, audio, embeddedContext, load, resume, list, close } = app.agent.capabilities;
      assert.deepEqual(
        { image, audio, embeddedContext, load, resume, list, close },
        {
          image: true,
          audio: true,
          embeddedContext: true,
          load: true,
          resume: true,
          list: true,
          close: true,
        },
      );
    });

    test(
      "a refused session is opened after one login, with the agent's methods to choose from",
      deadline,
      () => {
        const asked = app.log.of("authenticate") as { methodId: string }[][];
        assert.deepEqual(
          asked.map((methods) => methods.map(({ methodId }) => methodId)),
          [["key", "tui"]],
        );
      },
    );

    test("the session has its options, modes and commands", deadline, async () => {
      const options = session.configOptions.map(({ configId, category }) => [configId, category ?? null]);
      const expected = sdk
        ? [
            ...(version === 1 ? [["_mode", "mode"]] : []),
            ["model", "model"],
            ["effort", "thought_level"],
            ["web", null],
          ]
        : [
            ["mode", "mode"],
            ["effort", "thought_level"],
            ["web", null],
          ];
      assert.deepEqual(options, expected);
      // version 1 sends commands as an update, when it likes
      if (version === 2)
        assert.deepEqual(
          session.availableCommands.map((command) => command.type),
          ["command", "command"],
        );
    });

    test("a prompt with every kind of content comes back as it was sent", deadline, async () => {
      const content = (version === 1 ? v1.prompt : v2.prompt) as ContentBlock[]; // as the wire has it
      const { outcome, updates, iterated, messageId } = await prompted(session, content);
      assert.equal(outcome.stopReason, "max_tokens");
      assert.deepEqual(iterated, updates);
      const [message, ...said] = withoutStates(updates);
      assert.deepEqual(message, { sessionUpdate: "user_message", messageId, content });
      const blocks = said.map((update) =>
        update.sessionUpdate === "agent_message_chunk" ? update.content : update,
      );
      assert.deepEqual(blocks, content);
      const states = updates.flatMap((update) =>
        update.sessionUpdate === "state_update" ? [update.state] : [],
      );
      assert.deepEqual(states, ["running", "idle"]);
    });

    test("every kind of update arrives in order", deadline, async () => {
      const { outcome, updates } = await prompted(session, "every update");
      if (!sdk) {
        // tokens of a turn are unstable in both versions, and this agent does not list "session/update"
        assert.deepEqual(outcome, { stopReason: "end_turn" });
        return;
      }
      assert.equal(outcome.stopReason, "end_turn");
      const [, ...rest] = withoutStates(updates);
      if (version === 2) return assert.deepEqual(rest, withoutStates(v2.updates as SessionUpdate[]));
      const kinds = rest.map(({ sessionUpdate }) => sessionUpdate);
      const inModel: Record<string, string> = {
        tool_call: "tool_call_update",
        plan: "plan_update",
        current_mode_update: "config_option_update",
      };
      assert.deepEqual(
        kinds,
        v1.updates.map(({ sessionUpdate }) => inModel[sessionUpdate] ?? sessionUpdate),
      );
      const [tool] = rest.filter((update) => update.sessionUpdate === "tool_call_update");
      assert.partialDeepStrictEqual(tool, {
        toolCallId: "call-1",
        content: [
          {},
          {
            type: "diff",
            path: "/project/a.ts",
            oldText: "a",
            newText: "b",
            changes: [{ operation: "modify", path: "/project/a.ts" }],
          },
          { type: "terminal", terminalId: "terminal-1" },
        ],
        _meta: v1.meta,
      });
      assert.equal(
        session.configOptions[0]?.type === "select" && session.configOptions[0].currentValue,
        "code",
      );
    });

    test("permission is asked for, selected and refused", deadline, async () => {
      const mark = app.log.events.length;
      const { learnt } = await prompted(session, sdk ? "ask twice" : "ask");
      assert.equal(app.log.of("permission", mark).length, version === 1 && sdk ? 1 : 2);
      if (!sdk)
        return assert.deepEqual(learnt, [
          { optionId: "allow_once", name: "Allow", kind: "allow_once" },
          null,
        ]);
      assert.deepEqual(learnt, [
        { outcome: { outcome: "selected", optionId: "yes" } },
        { outcome: { outcome: "cancelled" } },
      ]);
    });

    if (sdk) {
      test("a question that the agent withdraws is answered, and its handler told", deadline, async () => {
        const mark = app.log.events.length;
        const { learnt, outcome } = await prompted(session, "ask and give up");
        assert.equal(outcome.stopReason, "end_turn");
        assert.equal(app.log.of("aborted", mark).length, 1);
        assert.ok(learnt !== undefined);
      });
    } else {
      test("a question that is open at a cancel is answered cancelled", deadline, async () => {
        const mark = app.log.events.length;
        const work = prompted(session, "hang");
        await app.log.until("permission", 1, mark);
        session.cancel();
        assert.equal((await work).outcome.stopReason, "cancelled");
        assert.deepEqual(app.log.of("aborted", mark), ["hang"]);
      });
    }

    test("elicitation by form and by url", deadline, async () => {
      const mark = app.log.events.length;
      const { learnt } = await prompted(session, "elicit");
      assert.deepEqual(learnt, [
        { action: "accept", content: { name: "ann", age: 3, happy: false, tags: ["a"] } },
        { action: "decline" },
      ]);
      const modes = (app.log.of("elicit", mark) as { mode: string }[]).map(({ mode }) => mode);
      assert.deepEqual(modes, ["form", "url"]);
    });

    test("a cancel in mid-turn gives the outcome cancelled", deadline, async () => {
      const mark = app.log.events.length;
      const prompt = session.prompt("until cancelled");
      if (sdk) await app.log.until("_parley.test/note", 1, mark);
      else for await (const update of prompt) if (update.sessionUpdate === "agent_message_chunk") break;
      prompt.cancel();
      assert.equal((await prompt.result).stopReason, "cancelled");
    });

    test("a prompt that waits behind another is withdrawn without a trace", deadline, async () => {
      const mark = app.log.events.length;
      const first = session.prompt(version === 2 && sdk ? "held" : "until cancelled");
      if (sdk) await app.log.until("_parley.test/note", 1, mark);
      else for await (const update of first) if (update.sessionUpdate === "agent_message_chunk") break;
      if (version === 2 && sdk) {
        // not answered yet: $/cancel_request takes it back, -32800 is an outcome
        first.cancel();
        return assert.deepEqual(await first.result, { stopReason: "cancelled" });
      }
      const second = session.prompt("hello");
      second.cancel();
      assert.deepEqual(await second.result, { stopReason: "cancelled" });
      first.cancel();
      assert.deepEqual(await first.result, { stopReason: "cancelled" });
    });

    test("options are set, and the answer's list is the truth", deadline, async () => {
      await session.setConfigOption("web", true);
      const web = session.configOptions.find(({ configId }) => configId === "web");
      // the test agent of the SDK answers with the list that it began with
      assert.equal(web?.type === "boolean" && web.currentValue, !sdk);
      if (version === 2 && sdk) return assert.rejects(session.setMode("code"), TypeError);
      await session.setMode("code");
      const mode = session.configOptions.find(({ category }) => category === "mode");
      assert.equal(mode?.type === "select" && mode.currentValue, "code");
    });

    test("files and terminals of this machine serve a v1 agent", deadline, async () => {
      if (version === 2) {
        if (!sdk) assert.equal((await prompted(session, "files")).learnt, "no files");
        return;
      }
      if (!sdk) {
        const [line, missing] = (await prompted(session, "files")).learnt as [string, object];
        assert.equal(line, "two\n");
        assert.partialDeepStrictEqual(missing, { error: { code: -32002 } });
        const exit = { exitCode: 0 };
        const output = { output: `agent ${cwd}\n`, truncated: false, exitStatus: exit };
        assert.deepEqual((await prompted(session, "terminals")).learnt, { exit, again: exit, output });
        return;
      }
      const { learnt } = await prompted(session, "machine");
      const { gone, missing, ...rest } = learnt as { gone: object; missing: object };
      assert.deepEqual(rest, {
        read: { content: "two\n" },
        exit: { exitCode: 0 },
        output: { output: "agent\n", truncated: false, exitStatus: { exitCode: 0 } },
      });
      assert.partialDeepStrictEqual(missing, { error: { code: -32002 } });
      assert.partialDeepStrictEqual(gone, { error: { code: -32002 } });
    });

    test("extensions go both ways, an aborted one is cancelled at the agent", deadline, async () => {
      const params = { text: v1.trickyText, list: [null, 1.5, false] };
      assert.deepEqual(await app.agent.request("_parley.test/echo", params), params);
      await assert.rejects(app.agent.request("_parley.test/fail", {}), (error: unknown) => {
        assert.ok(error instanceof RequestError);
        const { code, message, data } = error;
        assert.deepEqual([code, message, data], [4242, "this always fails", { why: ["it", { must: true }] }]);
        return true;
      });
      const { learnt } = await prompted(session, sdk ? "use extensions" : "extensions");
      const [echo, nothing] = learnt as unknown[];
      assert.deepEqual(echo, { text: v1.trickyText });
      assert.partialDeepStrictEqual(nothing, { error: { code: -32601 } });
      const mark = app.log.events.length;
      await app.agent.notify("_parley.test/note", { from: "client" });
      assert.deepEqual(await app.log.until("_parley.test/note", 1, mark), [{ back: { from: "client" } }]);
      if (version === 2 && sdk) return;
      const { signal, abort } = withAbort();
      const waiting = app.agent.request("_parley.test/wait", {}, { signal });
      await app.log.until("_parley.test/note", 2, mark);
      abort();
      await assert.rejects(
        waiting,
        (error: unknown) => error instanceof RequestError && error.code === -32800,
      );
    });

    test(
      "sessions are listed page by page, resumed, loaded with their history, forked, closed, deleted",
      deadline,
      async () => {
        const { agent } = app;
        const page = await agent.listSessions();
        if (sdk) {
          assert.deepEqual(page.sessions[0]?.sessionId, "first");
          const next = await agent.listSessions({ cursor: page.nextCursor! });
          assert.deepEqual([next.sessions[0]?.sessionId, next.nextCursor], ["second", undefined]);
        } else {
          assert.deepEqual(
            page.sessions.map(({ sessionId }) => sessionId),
            [session.sessionId],
          );
        }
        const fork = await agent.forkSession(session.sessionId, { cwd });
        assert.notEqual(fork.sessionId, session.sessionId);
        assert.equal((await prompted(session, "hello")).outcome.stopReason, "max_tokens");
        await session.close();
        const resumed = await agent.resumeSession(session.sessionId, { cwd });
        assert.equal(resumed.sessionId, session.sessionId);
        assert.ok(resumed.configOptions.length > 0);
        await resumed.close();
        const loaded = await agent.loadSession(session.sessionId, { cwd });
        const history: SessionUpdate[] = [];
        loaded.onUpdate((update) => history.push(update));
        // whole messages come first, and pieces with custom data behind them
        const kinds = withoutStates(history)
          .map(({ sessionUpdate }) => sessionUpdate.replace(/_chunk$/, ""))
          .filter((kind, i, all) => kind !== all[i - 1]);
        if (sdk) {
          const replay = version === 1 ? v1.replay : v2.replay;
          const said = replay
            .map(({ sessionUpdate }) => sessionUpdate)
            .filter((kind) => kind !== "state_update");
          assert.deepEqual(
            kinds.slice(0, said.length),
            said.map((kind) =>
              kind === ("tool_call" as string) ? "tool_call_update" : kind.replace(/_chunk$/, ""),
            ),
          );
        } else {
          assert.equal(history.find((update) => "messageId" in update)?.sessionUpdate, "user_message");
          assert.ok(kinds.includes("tool_call_update") && kinds.includes("agent_message"));
        }
        await loaded.close();
        await agent.deleteSession(session.sessionId);
        if (!sdk) {
          await assert.rejects(agent.loadSession(session.sessionId, { cwd }), { code: -32002 });
          assert.deepEqual(
            (await agent.listSessions()).sessions.map(({ sessionId }) => sessionId),
            [fork.sessionId],
          );
        }
      },
    );

    test("after a logout the agent wants a login again", deadline, async () => {
      const mark = app.log.events.length;
      await app.agent.logout();
      await app.open({ cwd });
      assert.equal(app.log.of("authenticate", mark).length, 1);
    });
  });

  test(`when ${name} crashes, open prompts fail with its exit code and stderr`, deadline, async (t) => {
    const app = await connect(t);
    const session = await app.agent.newSession({ cwd: "/" });
    const mark = app.log.events.length;
    const prompt = session.prompt("until cancelled");
    if (sdk) await app.log.until("_parley.test/note", 1, mark);
    else for await (const update of prompt) if (update.sessionUpdate === "agent_message_chunk") break;
    const isCrash = (error: unknown): boolean => {
      assert.ok(error instanceof ConnectionError);
      const { kind, exitCode, stderr } = error;
      if (way !== "stdio") return kind === "closed";
      assert.deepEqual([kind, exitCode, stderr], ["exited", 3, "the agent is out of luck\n"]);
      return true;
    };
    await assert.rejects(app.agent.request("_parley.test/crash", {}), isCrash);
    await assert.rejects(prompt.result, isCrash);
    assert.ok(isCrash(await app.agent.closed));
    assert.deepEqual(await app.exited, { exitCode: 3 });
  });
}

function withAbort(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
