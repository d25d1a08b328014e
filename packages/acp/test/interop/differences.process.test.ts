// Where the two libraries behave differently over real processes, and what our users get in each case.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ConnectionError } from "@parley/acp";
import { connectParleyV1, connectParleyV2 } from "./parley-client.ts";
import { connectSdkV1 } from "./sdk-client.ts";
import * as v1 from "./v1-samples.ts";
import * as v2 from "./v2-samples.ts";
import { outcomeOf } from "./wire-script.ts";

const deadline = { timeout: 120_000 };
const { sessionId } = v1;

/** Leaves nothing behind, also when the test fails. */
function open<Client extends { close(): Promise<unknown> }>(t: TestContext, client: Client): Client {
  t.after(() => client.close());
  return client;
}

const connectAndInitialize = {
  v1: async (t: TestContext, library: "parley" | "sdk") => {
    const client = open(t, connectParleyV1({ library }));
    await client.agent.request("initialize", v1.initializeRequest);
    return client;
  },
  v2: async (t: TestContext, library: "parley" | "sdk") => {
    const client = open(t, connectParleyV2({ library }));
    await client.agent.request("initialize", v2.initializeRequest);
    return client;
  },
} as const;

for (const library of ["sdk", "parley"] as const) {
  for (const version of ["v1", "v2"] as const) {
    const agent = library === "sdk" ? "the SDK's agent" : "our agent";
    test(
      `${version}: when ${agent} crashes, our client gets its exit code and stderr`,
      deadline,
      async (t) => {
        const client = await connectAndInitialize[version](t, library);
        const isCrash = (error: unknown): boolean => {
          assert.ok(error instanceof ConnectionError);
          const { kind, exitCode, stderr } = error;
          assert.deepEqual([kind, exitCode, stderr], ["exited", 3, "the agent is out of luck\n"]);
          return true;
        };
        await assert.rejects(client.peer.requestExtension("_parley.test/crash", {}), isCrash);
        assert.ok(isCrash(await client.peer.closed));
        assert.deepEqual(await client.close(), { exitCode: 3 });
      },
    );
  }
}

test("when our agent crashes, the SDK's client learns that the connection closed", deadline, async (t) => {
  const client = open(t, await connectSdkV1({ library: "parley" }));
  await client.agent.request("initialize", v1.initializeRequest);
  await assert.rejects(client.agent.requestExtension("_parley.test/crash", {}));
  assert.deepEqual(await client.exited, { exitCode: 3 });
});

test(
  "v1: what the SDK's agent sends unchecked is kept when unknown, dropped with a warning when broken",
  deadline,
  async (t) => {
    const client = await connectAndInitialize.v1(t, "sdk");
    await client.agent.request("session/prompt", { sessionId, prompt: [], _meta: { turn: "bad updates" } });
    const updates = client.log.of("session/update").map((params) => (params as { update: unknown }).update);
    const [future, , teleport] = v1.badUpdates;
    assert.deepEqual(updates, [future, teleport]);
    assert.match(
      client.complaints(),
      /^[^\n]*\/update\/content\b[^\n]*$/,
      "one warning, which names the place",
    );
  },
);

test("v1: our agent refuses a relative cwd of the SDK's client, and says where", deadline, async (t) => {
  const client = open(t, await connectSdkV1({ library: "parley" }));
  await client.agent.request("initialize", v1.initializeRequest);
  const answer = await outcomeOf(client.agent.request("session/new", { ...v1.newSession, cwd: "project" }));
  assert.partialDeepStrictEqual(answer, {
    error: { code: -32602, data: { reason: "invalid_params", path: "/cwd" } },
  });
});

test("the SDK's agent refuses a batch, ours answers each call of it", deadline, async (t) => {
  const calls = [
    { method: "session/list", params: {} },
    { method: "_parley.test/echo", params: { n: 1 } },
  ];
  const outcomes = async (library: "sdk" | "parley") => {
    const client = await connectAndInitialize.v1(t, library);
    const answers = await Promise.allSettled(client.peer.batch(calls));
    // the connection has survived
    assert.deepEqual(await client.agent.requestExtension("_parley.test/echo", { n: 2 }), { n: 2 });
    return answers;
  };
  const ours = await outcomes("parley");
  assert.deepEqual(ours[1], { status: "fulfilled", value: { n: 1 } });
  assert.deepEqual(
    (await outcomes("sdk")).map((answer) => answer.status),
    ["rejected", "rejected"],
  );
});
