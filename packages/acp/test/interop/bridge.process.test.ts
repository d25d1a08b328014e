// The official SDK's clients with agents of the other version, the SDK's own and ours, through `parley bridge`.
// Each client is a program of its version and knows nothing of the other.
// Needs a process of its own: it sets PARLEY_HOME when it is loaded.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { launcher } from "../support/programs.ts";
import { interopCommand } from "./agent-command.ts";
import { connectSdk, type SdkClient } from "./app-sdk-client.ts";
import * as v1 from "./v1-samples.ts";
import * as v2 from "./v2-samples.ts";
import { outcomeOf } from "./wire-script.ts";

const deadline = { timeout: 120_000 };
const { meta } = v1;
const home = mkdtempSync(join(tmpdir(), "parley-bridge-interop-"));
process.env.PARLEY_HOME = home;
after(() => rmSync(home, { recursive: true, force: true }));

const wires = {
  v1: { ...v1, number: 1, login: "authenticate", logout: "logout" },
  v2: { ...v2, number: 2, login: "auth/login", logout: "auth/logout" },
} as const;

type Version = keyof typeof wires;
type WireUpdate = Record<string, unknown> & { sessionUpdate: string };

function bridged(version: Version, library: "sdk" | "ours", ...flags: string[]): Promise<SdkClient> {
  const other = version === "v1" ? "v2" : "v1";
  const [command, args] =
    library === "sdk"
      ? interopCommand("app-sdk-agent.ts", other, ...flags)
      : interopCommand("app-agent.ts", `${other}-only`, ...flags);
  return connectSdk(version, [launcher, ["bridge", "--as", version, "--", command, ...args]]);
}

const textIn = ({ content }: WireUpdate): string => (content as { text?: string } | undefined)?.text ?? "";
const isIdle = (update: WireUpdate): boolean =>
  update.sessionUpdate === "state_update" && update["state"] === "idle";
const isLearnt = (update: WireUpdate): boolean =>
  update.sessionUpdate === "agent_message_chunk" && textIn(update).startsWith("learnt: ");

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

for (const [version, library] of [
  ["v1", "sdk"],
  ["v1", "ours"],
  ["v2", "sdk"],
  ["v2", "ours"],
] as const) {
  const wire = wires[version];
  const isV1 = version === "v1";
  const isSdk = library === "sdk";
  const other = isV1 ? "v2" : "v1";

  describe(`the SDK's ${version} client, ${isSdk ? "the SDK's" : "our"} ${other} agent`, deadline, () => {
    let client: SdkClient;
    let sessionId: string;
    const request = (method: string, params: object = {}): Promise<Record<string, unknown>> =>
      client.agent.request(method, params) as Promise<Record<string, unknown>>;

    /** Sends a prompt; resolves with what ended the turn: the answer, or the idle state. */
    async function send(prompt: readonly object[]) {
      const mark = client.log.events.length;
      const answer = request("session/prompt", { sessionId, prompt, _meta: meta });
      const ended = isV1
        ? answer
        : answer.then(async () => (await updatesUntil(client, mark, isIdle)).at(-1) as WireUpdate);
      return { mark, ended };
    }

    async function turn(text: string) {
      const { mark, ended } = await send([{ type: "text", text }]);
      const end = await ended;
      // the SDK's client may see updates after the answer that they precede
      await request("_parley.test/echo", {});
      const updates = client.log.of("session/update", mark).map((p) => (p as { update: WireUpdate }).update);
      const learnt = updates.find(isLearnt);
      return {
        end,
        updates,
        learnt: learnt === undefined ? undefined : JSON.parse(textIn(learnt).slice("learnt: ".length)),
      };
    }

    before(async () => {
      client = await bridged(version, library);
      const result = await request("initialize", wire.initializeRequest);
      assert.equal(result["protocolVersion"], wire.number);
      const info = (isV1 ? result["agentInfo"] : result["info"]) as { name: string };
      assert.equal(info.name, isSdk ? "interop-agent" : "app-agent");
      const methods = result["authMethods"] as { id?: string; methodId?: string }[];
      assert.deepEqual(
        methods.map(({ id, methodId }) => id ?? methodId),
        ["key", "tui"],
      );
      const refused = await outcomeOf(request("session/new", { cwd: v1.cwd, mcpServers: [] }));
      assert.partialDeepStrictEqual(refused, { error: { code: -32000 } });
      await request(wire.login, { methodId: "key" });
      const opened = await request("session/new", { cwd: v1.cwd, mcpServers: [], _meta: meta });
      if (isSdk) {
        const { saw } = opened["_meta"] as { saw: { _meta?: unknown } };
        assert.deepEqual(saw._meta, meta, "custom data goes to the agent and comes back");
      }
      sessionId = String(opened["sessionId"]);
      const options = opened["configOptions"] as { id?: string; configId?: string }[];
      assert.ok(
        options.every(({ id, configId }) => (isV1 ? configId === undefined : id === undefined)),
        JSON.stringify(options),
      );
      if (!isSdk && isV1) assert.partialDeepStrictEqual(opened["modes"], { currentModeId: "ask" });
    }, deadline);

    after(async () => {
      const status = await client.close();
      assert.deepEqual(status, { exitCode: 0 });
    }, deadline);

    test("a prompt with every kind of content comes back as it was sent", deadline, async () => {
      const { mark, ended } = await send(v1.prompt);
      assert.equal((await ended)["stopReason"], "max_tokens");
      const said = (update: WireUpdate) => update.sessionUpdate === "agent_message_chunk";
      const isLast = (update: WireUpdate) =>
        said(update) && "blob" in ((update["content"] as { resource?: object }).resource ?? {});
      const updates = await updatesUntil(client, mark, isLast);
      assert.deepEqual(
        updates.filter(said).map(({ content }) => content),
        v1.prompt,
      );
      const users = updates.filter(({ sessionUpdate }) => sessionUpdate.startsWith("user_message"));
      assert.equal(users.length, isV1 ? 0 : 1, "version 2 echoes the user's message, version 1 does not");
    });

    test("a field that the protocol does not have arrives in _meta", deadline, async () => {
      const block = { type: "text", text: "odd", colour: "red" };
      const { mark, ended } = await send([block, { type: "text", text: "two blocks are repeated" }]);
      await ended;
      const isOdd = (update: WireUpdate) => textIn(update) === "odd";
      const updates = await updatesUntil(
        client,
        mark,
        (update) => isOdd(update) && /^agent/.test(update.sessionUpdate),
      );
      assert.deepEqual(updates.at(-1)?.["content"], {
        type: "text",
        text: "odd",
        _meta: { "_parley.dev/extra": { colour: "red" } },
      });
    });

    test("what a turn says is said in the client's words", deadline, async () => {
      const { end, updates } = await turn("every update");
      assert.equal(end["stopReason"], "end_turn");
      if (isSdk) {
        const plan = updates.find(({ sessionUpdate }) => sessionUpdate.startsWith("plan"));
        assert.match(JSON.stringify(plan), /"parley\.test"/, "a plan keeps its custom data");
      }
      const kinds = new Set(updates.map(({ sessionUpdate }) => sessionUpdate));
      const common = ["agent_thought_chunk", "session_info_update", "usage_update", "notice"];
      const own = isV1 ? ["tool_call", "tool_call_update", "plan"] : ["tool_call_update", "plan_update"];
      const foreign = isV1 ? ["plan_update", "state_update"] : ["plan", "tool_call"];
      for (const kind of [...common, ...own, "available_commands_update"]) assert.ok(kinds.has(kind), kind);
      for (const kind of foreign) assert.ok(!kinds.has(kind), kind);
      const diffs = updates
        .filter(({ toolCallId }) => toolCallId === "call-1")
        .flatMap(({ content }) => ((content ?? []) as { type: string }[]).filter((c) => c.type === "diff"));
      if (isSdk && isV1) return assert.deepEqual(diffs, [], "a patch without lines is shown as text");
      assert.partialDeepStrictEqual(
        diffs[0],
        isV1
          ? { path: "/project/a.ts", oldText: "a\n", newText: "b\n" }
          : { changes: [{ operation: "modify", path: "/project/a.ts" }], patch: { format: "git_patch" } },
      );
    });

    test("permission is asked for and given", deadline, async () => {
      const mark = client.log.events.length;
      const { end, learnt } = await turn(isSdk ? "ask twice" : "ask");
      assert.equal(end["stopReason"], "end_turn");
      const asks = client.log.of("session/request_permission", mark) as Record<string, unknown>[];
      // a question without options has one answer, and nobody is asked
      assert.equal(asks.length, isSdk && !isV1 ? 1 : 2);
      const first = isV1
        ? { toolCall: { toolCallId: isSdk ? "call-1" : "call-4" } }
        : { subject: { type: "tool_call", toolCall: { toolCallId: isSdk ? "call-1" : "call-4" } } };
      assert.partialDeepStrictEqual(asks[0], first);
      if (!isSdk) assert.partialDeepStrictEqual(learnt[0], { kind: "allow_once", optionId: "allow_once" });
      if (!isV1) {
        const updates = client.log.of("session/update", mark) as { update: WireUpdate }[];
        const states = updates.flatMap(({ update }) =>
          update.sessionUpdate === "state_update" ? [update["state"]] : [],
        );
        assert.ok(states.includes("requires_action"), states.join());
        assert.equal(states.at(-1), "idle");
      }
    });

    test("a cancel in mid-turn ends the turn as cancelled", deadline, async () => {
      const { mark, ended } = await send([{ type: "text", text: "until cancelled" }]);
      if (isSdk) await client.log.until("_parley.test/note", 1, mark);
      else await updatesUntil(client, mark, (update) => textIn(update) === "waiting");
      await client.agent.notify("session/cancel", { sessionId, _meta: meta });
      assert.equal((await ended)["stopReason"], "cancelled");
    });

    if (!isSdk) {
      test("a cancel while a question is open ends the turn as cancelled", deadline, async () => {
        const { mark, ended } = await send([{ type: "text", text: "hang" }]);
        await client.log.until("session/request_permission", 1, mark);
        await client.agent.notify("session/cancel", { sessionId });
        assert.equal((await ended)["stopReason"], "cancelled");
      });

      test(
        "a turn that fails: version 1 answers with the error, version 2 idles with it",
        deadline,
        async () => {
          const error = { code: 4242, message: "this always fails", data: { why: ["it", { must: true }] } };
          const { ended } = await send([{ type: "text", text: "fail" }]);
          if (isV1) assert.deepEqual(await outcomeOf(ended), { error });
          else assert.partialDeepStrictEqual(await ended, { stopReason: "error", error });
        },
      );
    }

    test("elicitation by form and by url", deadline, async () => {
      const { learnt, end } = await turn("elicit");
      assert.equal(end["stopReason"], "end_turn");
      // the SDK's agent of version 2 tells what it learnt where version 1 has no place for it
      if (isSdk && isV1) return;
      const answers = learnt as Record<string, unknown>[];
      assert.partialDeepStrictEqual(answers[0], { action: "accept", content: { name: "ann", age: 3 } });
      assert.partialDeepStrictEqual(answers[1], { action: "decline" });
    });

    test("extension methods go both ways, with their errors", deadline, async () => {
      const params = { text: v1.trickyText, list: [null, 1.5, false] };
      assert.deepEqual(await request("_parley.test/echo", params), params);
      assert.deepEqual(await outcomeOf(request("_parley.test/fail")), {
        error: { code: 4242, message: "this always fails", data: { why: ["it", { must: true }] } },
      });
      assert.partialDeepStrictEqual(await outcomeOf(request("_parley.test/nothing")), {
        error: { code: -32601 },
      });
      const mark = client.log.events.length;
      await client.agent.notify("_parley.test/note", { from: "client" });
      assert.deepEqual(await client.log.until("_parley.test/note", 1, mark), [{ back: { from: "client" } }]);
      const { learnt } = await turn(isSdk ? "use extensions" : "extensions");
      if (isSdk && isV1) return;
      const [echo, none] = learnt as unknown[];
      assert.deepEqual(echo, { text: v1.trickyText });
      assert.partialDeepStrictEqual(none, { error: { code: -32601 } });
    });

    test("options and modes are set", deadline, async () => {
      const typed = isV1 ? {} : { type: "id" };
      const set = { sessionId, configId: "effort", ...typed, value: isSdk ? "low" : "high" };
      const { configOptions } = await request("session/set_config_option", set);
      const values = (configOptions as { id?: string; configId?: string; currentValue: unknown }[]).map(
        ({ id, configId, currentValue }) => [id ?? configId, currentValue],
      );
      assert.ok(
        values.some(([id, value]) => id === "effort" && value === set.value),
        JSON.stringify(values),
      );
      if (isSdk && isV1) return;
      const before = client.log.events.length;
      if (isV1) {
        await request("session/set_mode", { sessionId, modeId: "code" });
        const mode = (await updatesUntil(client, before, (update) => "currentModeId" in update)).at(-1);
        assert.equal(mode?.["currentModeId"], "code");
      } else {
        const mode = isSdk ? "_mode" : "mode";
        const answer = await request("session/set_config_option", {
          sessionId,
          configId: mode,
          type: "id",
          value: "code",
        });
        const found = (answer["configOptions"] as { configId: string }[]).find((o) => o.configId === mode);
        assert.partialDeepStrictEqual(found, { category: "mode", currentValue: "code" });
      }
    });

    test("a session is listed, closed, loaded with its history, and resumed", deadline, async () => {
      const { sessions } = await request("session/list");
      const [listed] = sessions as { sessionId: string }[];
      assert.equal(listed?.sessionId, isSdk ? "first" : sessionId);
      await request("session/close", { sessionId });
      const mark = client.log.events.length;
      const place = { sessionId, cwd: v1.cwd, mcpServers: [] };
      const loaded = isV1
        ? await request("session/load", place)
        : await request("session/resume", { ...place, replayFrom: { type: "start" } });
      assert.ok(Array.isArray(loaded["configOptions"]) || isSdk);
      // as above: the SDK's client may be late
      await request("_parley.test/echo", {});
      const replay = client.log
        .of("session/update", mark)
        .map((params) => (params as { update: WireUpdate }).update);
      assert.ok(
        replay.some(({ sessionUpdate }) => sessionUpdate.startsWith("user_message")),
        JSON.stringify(replay.map((update) => update.sessionUpdate)),
      );
      if (!isV1) assert.equal(replay.findLast(({ state }) => state !== undefined)?.["state"], "idle");
      if (!isV1) {
        const firsts = new Map<unknown, string>();
        for (const { messageId, sessionUpdate } of replay)
          if (messageId !== undefined && !firsts.has(messageId)) firsts.set(messageId, sessionUpdate);
        for (const kind of firsts.values()) assert.doesNotMatch(kind, /_chunk$/, "whole messages come first");
        const again = client.log.events.length;
        await request("session/resume", { ...place, replayFrom: { type: "start" } });
        await request("_parley.test/echo", {});
        const ids = client.log
          .of("session/update", again)
          .flatMap((params) => (params as { update: WireUpdate }).update["messageId"] ?? []);
        assert.deepEqual(new Set(ids), new Set(firsts.keys()), "messages keep their ids");
      }
      await request("session/resume", place);
      await request("_parley.test/echo", {});
      const { ended } = await send([{ type: "text", text: "still there" }]);
      assert.equal((await ended)["stopReason"], "max_tokens");
    });

    test("after a logout sessions are refused again", deadline, async () => {
      await request(wire.logout);
      const refused = await outcomeOf(request("session/new", { cwd: v1.cwd, mcpServers: [] }));
      assert.partialDeepStrictEqual(refused, { error: { code: -32000 } });
    });
  });

  test(
    `when ${isSdk ? "the SDK's" : "our"} ${other} agent crashes, its ${version} client gets an answer and the exit code`,
    deadline,
    async (t) => {
      const client = await bridged(version, library, "logged-in");
      t.after(() => client.close());
      await client.agent.request("initialize", wire.initializeRequest);
      const answer = await outcomeOf(client.agent.request("_parley.test/crash", {}));
      assert.partialDeepStrictEqual(answer, { error: { code: -32067, data: { reason: "agent_gone" } } });
      assert.deepEqual(await client.exited, { exitCode: 3 });
      assert.match(client.complaints(), /the agent is out of luck/);
    },
  );
}
