// A policy decides file accesses and commands before they happen.

import assert from "node:assert/strict";
import { test } from "node:test";
import { place, quiet, rejects, withScriptedAgent } from "../../../../test/support/peer-probe.ts";
import type {
  ClientDefinition,
  ClientPolicy,
  Entry,
  Files,
  PermissionRequest,
  PolicyDecision,
  PolicyRequest,
  Terminals,
} from "../../../index.ts";

const never = () => new Promise<never>(() => undefined);

/** A v1 client with this policy, and an agent that uses its files and terminals. */
async function served(definition: Partial<ClientDefinition>, prompted: () => Promise<object> = never) {
  const done: unknown[] = [];
  const files: Files = {
    canRead: true,
    canWrite: true,
    async readText(path, { signal: _, ...options } = {}) {
      done.push(["read", path, options]);
      return "text";
    },
    async writeText(path, content, { signal: _, ...options } = {}) {
      done.push(["write", path, content, options]);
    },
  };
  const terminals: Terminals = {
    async create({ signal: _, ...options }) {
      done.push(["execute", options]);
      return {
        terminalId: "term",
        output: async () => ({ output: "", truncated: false }),
        waitForExit: async () => ({ exitCode: 0 }),
        kill: async () => undefined,
        release: async () => undefined,
      };
    },
  };
  const talk = await withScriptedAgent(
    1,
    { "session/prompt": prompted },
    { files, terminals, ...definition },
  );
  const session = await talk.agent.newSession(place);
  const entries: Entry[] = [];
  session.onEntry((entry) => entries.push(entry));
  const call = (method: string, params: object) =>
    talk.peer.connection.request(method, { sessionId: "s1", ...params });
  return {
    ...talk,
    session,
    entries,
    done,
    files,
    read: () => call("fs/read_text_file", { path: "/project/a", line: 2 }),
    write: () => call("fs/write_text_file", { path: "/project/a", content: "new" }),
    execute: () =>
      call("terminal/create", { command: "make", args: ["it so"], env: [{ name: "CI", value: "1" }] }),
  };
}

type Served = Awaited<ReturnType<typeof served>>;
const effects = ["read", "write", "execute"] as const;
const names = { read: "a read", write: "a write", execute: "a command" };
const isDenied = { reason: "permission_denied" };

const wanted: Readonly<Record<(typeof effects)[number], PolicyRequest>> = {
  read: { type: "read", path: "/project/a" },
  write: { type: "write", path: "/project/a", content: "new" },
  execute: { type: "execute", command: "make", args: ["it so"], cwd: "/project", env: { CI: "1" } },
};

for (const effect of effects) {
  test(`a policy that denies ${names[effect]} does so before it happens, and the agent gets the reason`, async () => {
    const asked: PolicyRequest[] = [];
    const talk = await served({
      policy: {
        decide(request, { session }) {
          assert.equal(session?.sessionId, "s1");
          asked.push(request);
          return { decision: "deny", reason: "not in this project" };
        },
      },
      requestPermission: () => assert.fail("the user is not asked"),
    });
    const error = await rejects(talk[effect](), -32060, isDenied);
    assert.equal(error.message, "permission denied: not in this project");
    assert.deepEqual(asked, [wanted[effect]]);
    assert.deepEqual(talk.done, []);
    assert.deepEqual(talk.entries, []);
  });

  test(`a policy that allows ${names[effect]} lets it happen, and the user is not asked`, async () => {
    const talk = await served({
      policy: { decide: () => "allow" },
      requestPermission: () => assert.fail("the user is not asked"),
    });
    await talk[effect]();
    assert.deepEqual(talk.done, [
      {
        read: ["read", "/project/a", { line: 2 }],
        write: ["write", "/project/a", "new", {}],
        execute: ["execute", { command: "make", args: ["it so"], env: { CI: "1" }, cwd: "/project" }],
      }[effect],
    ]);
  });

  test(`a policy that asks about ${names[effect]} has the user asked with the facts, and remembers the answer`, async () => {
    const asks: PermissionRequest[] = [];
    const remembered: unknown[] = [];
    const answers = [undefined, "reject_once", "always"];
    const talk = await served({
      policy: {
        async decide(request, { question, ask }) {
          const always = { optionId: "always", name: "Always", kind: "allow_always" } as const;
          const answer = await ask?.({ ...question, options: [...question.options, always] });
          remembered.push([request, answer?.outcome === "selected" ? answer.optionId : undefined]);
          return answer ?? "deny";
        },
      },
      requestPermission(request, { session }) {
        assert.equal(session?.sessionId, "s1");
        asks.push(request);
        return answers.shift();
      },
    });
    await rejects(talk[effect](), -32060, isDenied);
    await rejects(talk[effect](), -32060, isDenied);
    assert.deepEqual(talk.done, []);
    await talk[effect]();
    assert.equal(talk.done.length, 1);
    assert.deepEqual(remembered, [
      [wanted[effect], undefined],
      [wanted[effect], "reject_once"],
      [wanted[effect], "always"],
    ]);
    const [ask] = asks;
    assert.equal(
      ask?.title,
      { read: "Read /project/a", write: "Write /project/a", execute: "Run make 'it so'" }[effect],
    );
    assert.deepEqual(
      ask.options.map(({ kind }) => kind),
      ["allow_once", "reject_once", "allow_always"],
    );
    if (effect === "execute") {
      assert.deepEqual(ask.subject, { type: "command", command: "make 'it so'", cwd: "/project" });
      assert.equal(ask.description, "With these variables: CI=1");
    } else {
      assert.ok(ask.subject?.type === "tool_call");
      const { kind, locations, content } = ask.subject.toolCall;
      assert.deepEqual(
        { kind, locations },
        {
          kind: effect === "read" ? "read" : "edit",
          locations: [{ path: "/project/a" }],
        },
      );
      const diff = content?.[0];
      assert.equal(diff?.type === "diff" ? diff.newText : undefined, effect === "write" ? "new" : undefined);
    }
    // a view and a history see the question, as they see those of the agent
    assert.deepEqual(
      talk.entries.map(({ kind }) => kind),
      ["ask", "answer", "ask", "answer", "ask", "answer"],
    );
  });

  test(`a policy that asks about ${names[effect]} is a no without a permission handler`, async () => {
    const talk = await served({ policy: { decide: () => "ask" } });
    await rejects(talk[effect](), -32060, isDenied);
    assert.deepEqual(talk.done, []);
  });

  test(`a policy that throws about ${names[effect]} denies, and the log says so`, async () => {
    const talk = await served({
      policy: {
        decide() {
          throw new Error("no rules");
        },
      },
    });
    await rejects(talk[effect](), -32060, isDenied);
    assert.deepEqual(talk.done, []);
    assert.deepEqual(talk.log, ["error: the policy threw, so the request was denied"]);
  });

  test(`a cancel while the policy decides about ${names[effect]} refuses it`, async () => {
    const decision = Promise.withResolvers<PolicyDecision>();
    const talk = await served({ policy: { decide: () => decision.promise } });
    await cancelledDuring(talk, effect, () => decision.resolve("allow"));
  });

  test(`a cancel while the user is asked about ${names[effect]} refuses it`, async () => {
    const answer = Promise.withResolvers<string>();
    const talk = await served({
      policy: { decide: () => "ask" },
      requestPermission: () => answer.promise,
    });
    await cancelledDuring(talk, effect, () => answer.resolve("allow_once"));
    assert.deepEqual(
      talk.entries.filter(({ kind }) => kind !== "update").map(({ kind }) => kind),
      ["ask", "answer"],
    );
  });
}

/** Cancels while something about the effect is open; the answer comes afterwards. */
async function cancelledDuring(
  talk: Served,
  effect: (typeof effects)[number],
  late: () => void,
): Promise<void> {
  const outcome = rejects(talk[effect](), -32060, isDenied);
  await quiet();
  talk.session.cancel();
  late();
  await outcome;
  await quiet();
  assert.deepEqual(talk.done, []);
}

test("a cancel between the decision and the effect refuses it, and tells the policy first", async () => {
  const cancels: unknown[] = [];
  // eight reads are under way, so that the ninth waits when it has been allowed
  const gate = Promise.withResolvers<string>();
  const begun: string[] = [];
  const allowed: string[] = [];
  const files: Files = {
    canRead: true,
    canWrite: false,
    readText(path) {
      begun.push(path);
      return gate.promise;
    },
    writeText: () => assert.fail("nothing is written"),
  };
  const { peer, session } = await served({
    files,
    policy: {
      decide(request) {
        if (request.type === "read") allowed.push(request.path);
        return "allow";
      },
      cancel: (each) => cancels.push(each),
    },
  });
  const read = (n: number) =>
    peer.connection.request("fs/read_text_file", { sessionId: "s1", path: `/project/${n}` });
  const first = Array.from({ length: 8 }, (_, n) => read(n));
  const last = rejects(read(8), -32060, isDenied);
  await quiet();
  assert.equal(allowed.length, 9);
  assert.equal(begun.length, 8);
  session.cancel();
  assert.deepEqual(cancels, [session]);
  gate.resolve("text");
  await Promise.all([...first, last]);
  assert.equal(begun.length, 8);
});

test("after a cancel nothing is done for the agent until it has ended its work, and then again", async () => {
  const ended = Promise.withResolvers<object>();
  const { session, write, done } = await served({ policy: { decide: () => "allow" } }, () => ended.promise);
  const prompt = session.prompt("x");
  await quiet();
  await write();
  session.cancel();
  const error = await rejects(write(), -32060, isDenied);
  assert.equal(error.message, "permission denied: the user has cancelled");
  ended.resolve({ stopReason: "cancelled" });
  assert.equal((await prompt).stopReason, "cancelled");
  await write();
  assert.equal(done.length, 2);
});

test("a request that the agent withdraws while the policy decides does nothing", async () => {
  const decision = Promise.withResolvers<PolicyDecision>();
  const { peer, done } = await served({ policy: { decide: () => decision.promise } });
  const controller = new AbortController();
  const params = { sessionId: "s1", path: "/project/a", content: "" };
  const outcome = peer.connection
    .request("fs/write_text_file", params, { signal: controller.signal })
    .catch((error: unknown) => error);
  await quiet();
  controller.abort();
  await outcome;
  decision.resolve("allow");
  await quiet();
  assert.deepEqual(done, []);
});

test("a policy decides by the real path, and exactly that is read or written", async () => {
  const asked: PolicyRequest[] = [];
  const done: unknown[] = [];
  const policy: ClientPolicy = {
    decide(request) {
      asked.push(request);
      return "allow";
    },
  };
  const files: Files = {
    canRead: true,
    canWrite: true,
    realPath: async (path) => path.replace("/project/link", "/project/real"),
    async readText(path, options) {
      done.push([path, options?.followLinks]);
      return "";
    },
    async writeText(path, _content, options) {
      done.push([path, options?.followLinks]);
    },
  };
  const { peer } = await served({ files, policy });
  const path = "/project/link/a";
  await peer.connection.request("fs/read_text_file", { sessionId: "s1", path });
  await peer.connection.request("fs/write_text_file", { sessionId: "s1", path, content: "x" });
  assert.deepEqual(asked, [
    { type: "read", path: "/project/real/a" },
    { type: "write", path: "/project/real/a", content: "x" },
  ]);
  assert.deepEqual(done, [
    ["/project/real/a", false],
    ["/project/real/a", false],
  ]);
});

test("a policy is not asked about the output and the end of a command that runs", async () => {
  const asked: string[] = [];
  const { peer, execute } = await served({
    policy: {
      decide(request) {
        asked.push(request.type);
        return "allow";
      },
    },
  });
  await execute();
  for (const method of ["terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"])
    await peer.connection.request(method, { sessionId: "s1", terminalId: "term" });
  assert.deepEqual(asked, ["execute"]);
});

test("without a policy files and terminals are used without a question", async () => {
  const talk = await served({ requestPermission: () => assert.fail("the user is not asked") });
  for (const effect of effects) await talk[effect]();
  assert.equal(talk.done.length, 3);
});
