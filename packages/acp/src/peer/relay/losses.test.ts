// What a relay does with what the other version cannot say: seen from a raw client of version 1.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PermissionRequest } from "../../model/ask.ts";
import { gitPatch } from "../../model/git-patch.ts";
import { memoryPair } from "../../transport/memory.ts";
import {
  clientPeer,
  agentPeer as firstAgent,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "../../v1.gen.ts";
import { agentPeer } from "../../v2.gen.ts";
import type { UnknownTag } from "../../validation/unknown-tag.ts";
import { agent } from "../agent/agent.ts";
import type { Turn } from "../agent/turn/turn.ts";
import { client } from "../client/client.ts";
import { relay } from "./relay.ts";
import type { RelayOptions } from "./relay-options.ts";

async function turnThroughRelay(
  prompt: (turn: Turn) => Promise<void>,
  options: RelayOptions = {},
  choose: (params: RequestPermissionRequest) => string = () => assert.fail("nothing is to be asked"),
) {
  const [toRelay, clientEnd] = memoryPair();
  const [agentEnd, atAgent] = memoryPair();
  agent({ name: "second", version: "1.0.0", editions: ["v2"], prompt }).connect(atAgent);
  const logged: { message: string; details: object | undefined }[] = [];
  const between = relay(clientEnd, agentEnd, {
    ...options,
    log: (_level, message, details) => logged.push({ message, details }),
  });
  const updates: SessionUpdate[] = [];
  const peer = clientPeer(toRelay, {
    notifications: {
      "session/update": ({ update }) => {
        updates.push(update);
      },
    },
    requests: {
      "session/request_permission": (params) => ({
        outcome: { outcome: "selected", optionId: choose(params) },
      }),
    },
  });
  await peer.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await peer.request("session/new", { cwd: "/project", mcpServers: [] });
  const result = await peer.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
  await peer.close();
  await between.closed;
  return { updates, result, logged };
}

function lostIn(value: { _meta?: object | null }): unknown {
  return (value._meta as { "_parley.dev/lost"?: unknown } | null | undefined)?.["_parley.dev/lost"];
}

const cancelledPlan = (turn: Turn) =>
  turn.plan([{ content: "never mind", priority: "high", status: "cancelled" }]) ?? Promise.resolve();

test("lossy: a cancelled entry of a plan is shown as completed, and the note is on the update and on the answer", async () => {
  const { updates, result, logged } = await turnThroughRelay(cancelledPlan);
  const [plan] = updates;
  assert.equal(plan?.sessionUpdate, "plan");
  const lost = ["a cancelled plan entry is shown as completed"];
  assert.deepEqual(lostIn(plan ?? {}), lost);
  assert.deepEqual(lostIn(result), lost);
  assert.equal(logged.filter(({ message }) => message === "lost in translation").length, 1);
});

test("strict: the update is left out whole, the log and the answer say so", async () => {
  const { updates, result, logged } = await turnThroughRelay(cancelledPlan, { losses: "strict" });
  assert.deepEqual(updates, []);
  assert.equal(result.stopReason, "end_turn");
  assert.ok(Array.isArray(lostIn(result)));
  assert.equal(logged.filter(({ message }) => message.startsWith("dropped an update")).length, 1);
});

test("a change that changes nothing is shown as one, and nothing is lost", async () => {
  const diff = (operation: "add" | "modify", path: string) => ({
    type: "diff" as const,
    changes: [{ operation, path }],
    patch: {
      format: "git_patch" as const,
      text: gitPatch(path, operation === "add" ? undefined : "a\n", operation === "add" ? "" : "a\n"),
    },
  });
  const { updates, result } = await turnThroughRelay(
    async (turn) => {
      const content = [
        diff("modify", "/project/known"),
        diff("modify", "/project/unknown"),
        diff("add", "/project/empty"),
      ];
      await turn.update({ sessionUpdate: "tool_call_update", toolCallId: "1", title: "Edit", content });
    },
    { readText: (path) => (path === "/project/known" ? "a\n" : undefined) },
  );
  const [call] = updates;
  assert.deepEqual(call?.sessionUpdate === "tool_call" && call.content, [
    { type: "diff", path: "/project/known", oldText: "a\n", newText: "a\n" },
    { type: "diff", path: "/project/unknown", oldText: "", newText: "" },
    { type: "diff", path: "/project/empty", newText: "" },
  ]);
  assert.equal(lostIn(result), undefined);
});

test("what version 1 can say carries no note, strict or not", async () => {
  for (const losses of ["lossy", "strict"] as const) {
    const { updates, result } = await turnThroughRelay(
      async (turn) => {
        await turn.say("hello");
      },
      { losses },
    );
    assert.deepEqual(
      updates.map(({ sessionUpdate }) => sessionUpdate),
      ["agent_message_chunk"],
    );
    assert.equal(lostIn(updates[0] ?? {}), undefined);
    assert.equal(lostIn(result), undefined);
  }
});

const path = "/project/a.txt";
const before = "one\ntwo\nthree\n";
const after = "one\n2\nthree\n";

async function patchOnly(turn: Turn): Promise<void> {
  await turn.update({
    sessionUpdate: "tool_call_update",
    toolCallId: "edit-1",
    title: "Edit",
    content: [
      {
        type: "diff",
        changes: [{ operation: "modify", path }],
        patch: { format: "git_patch", text: gitPatch(path, before, after) },
      },
    ],
  });
}

test("a patch becomes version 1's two texts where the file can be read", async () => {
  const { updates } = await turnThroughRelay(patchOnly, { readText: () => after });
  const [call] = updates;
  assert.ok(call?.sessionUpdate === "tool_call");
  assert.deepEqual(call.content, [{ type: "diff", path, oldText: before, newText: after }]);
  assert.equal(lostIn(call), undefined);
});

test("a patch without its file shows the changed lines, and says that it is a part", async () => {
  const { updates } = await turnThroughRelay(patchOnly);
  const [call] = updates;
  assert.ok(call?.sessionUpdate === "tool_call");
  assert.equal(call.content?.[0]?.type, "diff");
  assert.deepEqual(lostIn(call), [`all but the changed lines of ${path}`]);
});

test("a question about nothing is shown as a tool call that ends with the answer", async () => {
  const { updates } = await turnThroughRelay(async (turn) => {
    await assert.rejects(async () => turn.requestPermission("May I?"));
  });
  // this client cannot be asked, so the stand-in failed
  const ends = updates.map((update) => (update.sessionUpdate === "tool_call_update" ? update.status : ""));
  assert.deepEqual(ends, ["failed"]);
});

test("X19 a terminal of the agent's reaches version 1 as text, never as a terminal that the client would look for", async () => {
  const { updates } = await turnThroughRelay(async (turn) => {
    await turn.tool({ title: "npm test", kind: "execute" }, async (tool) => {
      const terminal = tool.terminal({ command: "npm test" });
      await terminal.write("3 passed\n");
      terminal.exit({ exitCode: 0 });
    });
  });
  const shown = updates.flatMap((update) =>
    update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update"
      ? (update.content ?? [])
      : [],
  );
  assert.ok(shown.length > 0);
  assert.ok(shown.every(({ type }) => type === "content"));
  assert.match(JSON.stringify(shown.at(-1)), /3 passed/);
});

test("X20 files and terminals of a version 1 client are not offered to a version 2 agent as such", async () => {
  const [toRelay, clientEnd] = memoryPair();
  const [agentEnd, atAgent] = memoryPair();
  const offered = Promise.withResolvers<Record<string, unknown>>();
  agentPeer(atAgent, {
    requests: {
      initialize: (params) => {
        offered.resolve(params as unknown as Record<string, unknown>);
        return { protocolVersion: 2, info: { name: "second", version: "1" }, capabilities: { session: {} } };
      },
    },
  });
  const between = relay(clientEnd, agentEnd);
  const peer = clientPeer(toRelay);
  const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
  await peer.request("initialize", { protocolVersion: 1, clientCapabilities });
  const { capabilities } = await offered.promise;
  assert.doesNotMatch(JSON.stringify(capabilities), /fs|terminal/i);
  await peer.close();
  await between.closed;
});

test("towards version 2 the idle state that ends the work says what was lost in it", async () => {
  const [toRelay, clientEnd] = memoryPair();
  const [agentEnd, atAgent] = memoryPair();
  firstAgent(atAgent, {
    requests: {
      initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
      "session/new": () => ({ sessionId: "s1" }),
      "session/prompt": () => {
        const update = { sessionUpdate: "current_model_update", modelId: "m" };
        // of a kind that nobody knows, so it is written by hand
        atAgent.send({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s1", update } });
        return { stopReason: "end_turn" };
      },
    },
  });
  const between = relay(clientEnd, agentEnd, { as: "v2" });
  const connected = await client({ name: "editor", version: "1", editions: ["v2"] }).connect(toRelay);
  const session = await connected.newSession({ cwd: "/project" });
  const outcome = await session.prompt("go").result;
  assert.deepEqual(lostIn({ _meta: outcome._meta ?? null }), ["the update current_model_update"]);
  await connected.close();
  await between.closed;
});

const questions: readonly {
  readonly what: string;
  readonly ask: PermissionRequest;
  readonly lost: string[];
}[] = [
  {
    what: "about something that version 1 has no word for",
    ask: {
      title: "Land?",
      subject: { type: "_planet" as string as UnknownTag, name: "Mars" },
      options: [],
    },
    lost: ["a question about _planet is asked about a tool call"],
  },
  {
    what: "about a change of which only a part is known",
    ask: {
      title: "Edit",
      subject: {
        type: "tool_call",
        toolCall: {
          toolCallId: "t",
          title: "Edit",
          content: [
            {
              type: "diff",
              changes: [{ operation: "modify", path }],
              patch: { format: "git_patch", text: gitPatch(path, `0\n${before}`.repeat(9), after) },
            },
          ],
        },
      },
      options: [],
    },
    lost: [`all but the changed lines of ${path}`],
  },
  {
    what: "with an answer of a kind of its own",
    ask: { title: "Well?", options: [{ optionId: "m", name: "Maybe", kind: "_maybe" }] },
    lost: ["the kind _maybe of an answer: it is shown as reject_once"],
  },
];

for (const { what, ask, lost } of questions) {
  const yes = { optionId: "yes", name: "Yes", kind: "allow_once" as const };
  const asking = async (losses: "lossy" | "strict") => {
    const asked: { _meta?: object | null }[] = [];
    const answers: unknown[] = [];
    const { result, logged } = await turnThroughRelay(
      async (turn) => {
        const answer = turn.requestPermission({ ...ask, options: [yes, ...ask.options] });
        answers.push(
          await answer.then(
            (option) => option?.optionId,
            (error: unknown) => error,
          ),
        );
      },
      { losses },
      (params) => {
        asked.push(params);
        return "yes";
      },
    );
    return { asked, answers, result, logged };
  };

  test(`lossy: a question ${what} is asked, and says what it lacks, as do the log and the answer`, async () => {
    const { asked, answers, result, logged } = await asking("lossy");
    assert.deepEqual(answers, ["yes"]);
    assert.deepEqual(asked.map(lostIn), [lost]);
    assert.deepEqual(lostIn(result), lost);
    assert.equal(logged.filter(({ message }) => message === "lost in translation").length, 1);
  });

  test(`strict: a question ${what} is refused, and nobody is asked`, async () => {
    const { asked, answers, logged } = await asking("strict");
    assert.deepEqual(asked, []);
    assert.equal((answers[0] as { code?: number }).code, -32602);
    assert.equal(logged.filter(({ message }) => message.startsWith("dropped an update")).length, 1);
  });
}
