// A policy answers the permission requests of an agent, or leaves them to the user.

import assert from "node:assert/strict";
import { test } from "node:test";
import { place, quiet, text, withScriptedAgent } from "../../../../test/support/peer-probe.ts";
import type {
  ClientDefinition,
  ClientPolicy,
  Entry,
  PermissionOption,
  PolicyDecision,
  PolicyRequest,
} from "../../../index.ts";

const allow = { optionId: "yes", name: "Yes", kind: "allow_once" };
const always = { optionId: "always", name: "Always", kind: "allow_always" };
const reject = { optionId: "no", name: "No", kind: "reject_once" };
const selected = (optionId: string) => ({ outcome: "selected", optionId });
const cancelled = { outcome: "cancelled" };

/** A client with this policy, and an agent that asks it for permission. */
async function asking(version: 1 | 2, definition: Partial<ClientDefinition>) {
  const never = () => new Promise<never>(() => undefined);
  const talk = await withScriptedAgent(version, { "session/prompt": never }, definition);
  const session = await talk.agent.newSession(place);
  const entries: Entry[] = [];
  session.onEntry((entry) => entries.push(entry));
  const toolCall = { toolCallId: "t1", title: "Delete it" };
  const subject =
    version === 1 ? { toolCall } : { title: "Delete it", subject: { type: "tool_call", toolCall } };
  const ask = async (options: readonly object[] = [allow, always, reject], about: object = subject) => {
    const params = { sessionId: "s1", ...about, options };
    const answer = await talk.peer.connection.request("session/request_permission", params);
    return (answer as { outcome: object }).outcome;
  };
  return { ...talk, session, entries, ask };
}

const deciding = (decision: unknown): ClientPolicy => ({ decide: () => decision as PolicyDecision });

function inBothVersions(name: string, run: (version: 1 | 2) => Promise<void>): void {
  for (const version of [1, 2] as const)
    test(`v${version}: ${name}`, { timeout: 10_000 }, () => run(version));
}

inBothVersions("what the policy denies is answered with reject_once, or as cancelled", async (version) => {
  const { ask } = await asking(version, {
    policy: deciding("deny"),
    requestPermission: () => assert.fail("the user is not asked"),
  });
  assert.deepEqual(await ask(), selected("no"));
  assert.deepEqual(await ask([allow, { ...reject, kind: "reject_always" }]), cancelled);
});

inBothVersions(
  "what the policy allows is answered with allow_once, and with nothing that lasts",
  async (version) => {
    const { ask, log } = await asking(version, {
      policy: deciding({ decision: "allow", reason: "it is safe" }),
    });
    assert.deepEqual(await ask([reject, always, allow]), selected("yes"));
    assert.deepEqual(log, []);
    assert.deepEqual(await ask([reject, always]), cancelled);
    assert.deepEqual(await ask([reject, always]), cancelled);
    assert.equal(log.length, 1);
    assert.match(log[0] ?? "", /^warn: the policy allowed a request that has no option of kind allow_once/);
  },
);

inBothVersions(
  "what the policy leaves to the user is remembered with the option that they chose",
  async (version) => {
    const remembered: [PolicyRequest, PermissionOption | undefined][] = [];
    const asked: PolicyRequest[] = [];
    const answers = ["always", undefined];
    const { ask, session } = await asking(version, {
      policy: {
        async decide(request, context) {
          assert.equal(context.session?.sessionId, "s1");
          assert.equal(context.session, session);
          asked.push(request);
          const { question, ask } = context;
          const answer = (await ask?.(question)) ?? { outcome: "cancelled" as const };
          const chosen = answer.outcome === "selected" ? answer.optionId : undefined;
          remembered.push([request, question.options.find(({ optionId }) => optionId === chosen)]);
          return answer;
        },
      },
      requestPermission: () => answers.shift(),
    });
    assert.deepEqual(await ask(), selected("always"));
    assert.deepEqual(await ask(), cancelled);
    const [first, second] = asked;
    assert.ok(first?.type === "permission" && second !== undefined);
    assert.equal(first.request.title, "Delete it");
    assert.deepEqual(remembered, [
      [first, always],
      [second, undefined],
    ]);
  },
);

inBothVersions(
  "a policy that asks is a no without a permission handler, and nothing is remembered",
  async (version) => {
    const { ask, entries } = await asking(version, {
      policy: { decide: () => "ask" },
    });
    assert.deepEqual(await ask(), cancelled);
    assert.deepEqual(
      entries.map(({ kind }) => kind),
      ["ask", "answer"],
    );
  },
);

inBothVersions("a policy that throws or rejects denies, and the log says so", async (version) => {
  const failures: ClientPolicy["decide"][] = [
    () => {
      throw new Error("no rules");
    },
    () => Promise.reject(new Error("no rules")),
  ];
  for (const decide of failures) {
    const { ask, log } = await asking(version, { policy: { decide } });
    assert.deepEqual(await ask(), selected("no"));
    assert.deepEqual(log, ["error: the policy threw, so the request was denied"]);
  }
});

inBothVersions(
  "a policy that returns no decision denies, and the log says once what it returned",
  async (version) => {
    for (const [given, shown] of [
      [true, "true"],
      [undefined, "nothing"],
      ["yes", '"yes"'],
      [{ decision: "ask" }, "an object"],
    ] as const) {
      const { ask, log } = await asking(version, { policy: deciding(given) });
      assert.deepEqual(await ask(), selected("no"));
      assert.deepEqual(await ask(), selected("no"));
      assert.equal(log.length, 1);
      assert.ok(log[0]?.startsWith(`warn: policy.decide returned ${shown}, which is not a decision`), log[0]);
    }
  },
);

inBothVersions("an answer that the policy makes itself must be one of the options", async (version) => {
  const answers = ["always", "other"];
  const { ask, log } = await asking(version, {
    policy: { decide: () => ({ outcome: "selected", optionId: answers.shift() ?? "" }) },
  });
  assert.deepEqual(await ask(), selected("always"));
  assert.deepEqual(await ask(), cancelled);
  assert.match(log[0] ?? "", /chose the option "other", which is not one of/);
});

inBothVersions("if the handler fails, the question fails, even if the policy asked it", async (version) => {
  const { ask, log } = await asking(version, {
    policy: {
      decide: ({ type }, { question, ask: person }) =>
        (type === "permission" && person?.(question)) || "deny",
    },
    requestPermission: () => Promise.reject(new Error("the dialog broke")),
  });
  await assert.rejects(ask(), { code: -32603 });
  assert.ok(!log.join().includes("the policy threw"));
});

inBothVersions(
  "a cancel while the policy decides is a no, and the user is not asked any more",
  async (version) => {
    const decision = Promise.withResolvers<PolicyDecision>();
    const signals: AbortSignal[] = [];
    const cancels: unknown[] = [];
    const { ask, session } = await asking(version, {
      policy: {
        decide(_request, { signal }) {
          signals.push(signal);
          return decision.promise;
        },
        cancel: (each) => cancels.push(each),
      },
      requestPermission: () => assert.fail("the user is not asked"),
    });
    const prompt = session.prompt("x");
    await quiet();
    const answer = ask();
    await quiet();
    session.cancel();
    assert.deepEqual(await answer, cancelled);
    assert.deepEqual(cancels, [session]);
    assert.equal(signals[0]?.aborted, true);
    decision.resolve("ask");
    await quiet();
    // until the agent has ended its work
    assert.deepEqual(await ask(), cancelled);
    prompt.then(undefined, () => undefined);
  },
);

inBothVersions(
  "the policy is told of a cancel by a prompt, once, and one that throws is logged",
  async (version) => {
    let cancels = 0;
    const { session, log, peer } = await asking(version, {
      policy: {
        decide: () => "deny",
        cancel() {
          cancels++;
          throw new Error("too bad");
        },
      },
    });
    const prompt = session.prompt("x");
    await quiet();
    if (version === 2)
      peer.update("s1", { sessionUpdate: "user_message", messageId: "m", content: [text("x")] });
    session.cancel();
    await quiet();
    assert.equal(cancels, 1);
    assert.deepEqual(log, ["error: the policy threw in cancel"]);
    assert.ok(peer.methods().includes("session/cancel"));
    prompt.then(undefined, () => undefined);
  },
);

inBothVersions("the policy sees all that is known of the call that the question names", async (version) => {
  const seen: (object | undefined)[] = [];
  const { ask, peer } = await asking(version, {
    policy: {
      decide(request) {
        seen.push(request.type === "permission" ? request.toolCall : undefined);
        return "deny";
      },
    },
  });
  const call = version === 1 ? "tool_call" : "tool_call_update";
  const content = { type: "content", content: text("how") };
  peer.update("s1", {
    sessionUpdate: call,
    toolCallId: "t1",
    title: "Edit",
    kind: "edit",
    rawInput: { path: "/project/a" },
    locations: [{ path: "/project/a" }],
  });
  peer.update("s1", {
    sessionUpdate: "tool_call_update",
    toolCallId: "t1",
    title: "Edit a",
    content: [content],
  });
  // another call, and one that has ended
  peer.update("s1", { sessionUpdate: call, toolCallId: "t2", title: "Other" });
  peer.update("s1", { sessionUpdate: "tool_call_update", toolCallId: "t2", status: "completed" });
  await ask(undefined, aboutCall(version, { toolCallId: "t1" }));
  await ask(
    undefined,
    aboutCall(version, { toolCallId: "t1", kind: "delete", rawInput: { path: "/project/b" } }),
  );
  await ask(undefined, aboutCall(version, { toolCallId: "t2" }));
  const known = {
    toolCallId: "t1",
    title: "Edit a",
    kind: "edit",
    rawInput: { path: "/project/a" },
    locations: [{ path: "/project/a" }],
    content: [content],
  };
  const [first, second, third] = seen.map((each) => JSON.parse(JSON.stringify(each)));
  assert.partialDeepStrictEqual(first, known);
  assert.partialDeepStrictEqual(second, { ...known, kind: "delete", rawInput: { path: "/project/b" } });
  assert.equal(third.title, undefined);
});

inBothVersions(
  "what a question leaves out or empty is still known, single fields of the input included",
  async (version) => {
    const seen: (object | undefined)[] = [];
    const { ask, peer } = await asking(version, {
      policy: {
        decide(request) {
          seen.push(request.type === "permission" ? request.toolCall : undefined);
          return "deny";
        },
      },
    });
    const known = {
      toolCallId: "t1",
      title: "Make",
      kind: "execute",
      rawInput: { command: "make", workdir: "/elsewhere" },
      locations: [{ path: "/elsewhere" }],
    };
    peer.update("s1", { sessionUpdate: version === 1 ? "tool_call" : "tool_call_update", ...known });
    // as opencode asks
    const less = { toolCallId: "t1", title: "make", kind: "other", locations: [] };
    await ask(undefined, aboutCall(version, { ...less, rawInput: { command: "make" } }));
    await ask(undefined, aboutCall(version, { ...less, rawInput: {} }));
    assert.equal(seen.length, 2);
    for (const each of seen) assert.partialDeepStrictEqual({ ...each }, { ...known, title: "make" });
  },
);

test("v2: chunks of content and commands that name a call are known, too", async () => {
  const seen: (object | undefined)[] = [];
  const { ask, peer } = await asking(2, {
    policy: {
      decide(request) {
        seen.push(request.type === "permission" ? request.toolCall : undefined);
        return "deny";
      },
    },
  });
  const piece = (value: string) => ({ type: "content", content: text(value) });
  peer.update("s1", {
    sessionUpdate: "tool_call_update",
    toolCallId: "t1",
    title: "Run",
    content: [piece("a")],
  });
  peer.update("s1", { sessionUpdate: "tool_call_content_chunk", toolCallId: "t1", content: piece("b") });
  const command = { type: "command", command: "make", cwd: "/project" };
  await ask(undefined, { title: "Run?", subject: { ...command, toolCallId: "t1" } });
  await ask(undefined, { title: "Run?", subject: command });
  assert.deepEqual(seen, [{ toolCallId: "t1", title: "Run", content: [piece("a"), piece("b")] }, undefined]);
  // null clears
  peer.update("s1", { sessionUpdate: "tool_call_update", toolCallId: "t1", title: null, content: null });
  await ask(undefined, { title: "Run?", subject: { ...command, toolCallId: "t1" } });
  assert.deepEqual(seen[2], { toolCallId: "t1" });
});

test("what is known of calls is bounded, and the oldest call is forgotten first", async () => {
  const titles: unknown[] = [];
  const { ask, peer } = await asking(2, {
    policy: {
      decide(request) {
        titles.push(request.type === "permission" ? request.toolCall?.title : undefined);
        return "deny";
      },
    },
  });
  const megabytes = text("x".repeat(4 * 1024 * 1024));
  for (const toolCallId of ["old", "new"]) {
    peer.update("s1", { sessionUpdate: "tool_call_update", toolCallId, title: toolCallId });
    for (let i = 0; i < 5; i++) {
      const content = { type: "content", content: megabytes };
      peer.update("s1", { sessionUpdate: "tool_call_content_chunk", toolCallId, content });
    }
  }
  for (const toolCallId of ["old", "new"]) await ask(undefined, aboutCall(2, { toolCallId }));
  assert.deepEqual(titles, [undefined, "new"]);
});

/** A question about a call, in both versions. */
function aboutCall(version: 1 | 2, toolCall: object): object {
  return version === 1 ? { toolCall } : { title: "May I?", subject: { type: "tool_call", toolCall } };
}
