// What precedes a response on the wire is handled before that response resolves, over real processes and with
// the handler of session/update registered last. The official SDK 2.4.0 does not hold this; its counts
// are printed, and that there are any is asserted, since the version is pinned.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { spawnTransport } from "@parley/acp/node";
import { clientPeer } from "@parley/acp/v1";
import { inSoak } from "../support/soak.ts";
import { type AgentChoice, interopCommand } from "./agent-command.ts";
import { connectParleyV1, connectParleyV2 } from "./parley-client.ts";
import { connectSdkV1, connectSdkV2 } from "./sdk-client.ts";
import * as v1 from "./v1-samples.ts";
import * as v2 from "./v2-samples.ts";
import type { Connected } from "./wire-script.ts";

const deadline = { timeout: 120_000 };
const turns = inSoak(30, 300);
const updatesPerTurn = 20;
const { sessionId } = v1;

/** A client of either version, after initialize, that can do a turn of the given name. */
interface Prompter {
  readonly client: Connected<unknown>;
  prompt(turn: string): Promise<unknown>;
}

function blocks(turn: string): {
  sessionId: string;
  prompt: { type: "text"; text: string }[];
  _meta: { turn: string };
} {
  return { sessionId, prompt: [{ type: "text", text: turn }], _meta: { turn } };
}

/** Leaves nothing behind, also when the test fails. */
type Connect = (t: TestContext, choice: AgentChoice) => Promise<Prompter>;

const ours: Record<"v1" | "v2", Connect> = {
  v1: async (t, choice) => {
    const client = connectParleyV1(choice);
    t.after(() => client.close());
    await client.agent.request("initialize", v1.initializeRequest);
    return { client, prompt: (turn) => client.agent.request("session/prompt", blocks(turn)) };
  },
  v2: async (t, choice) => {
    const client = connectParleyV2(choice);
    t.after(() => client.close());
    await client.agent.request("initialize", v2.initializeRequest);
    return { client, prompt: (turn) => client.agent.request("session/prompt", blocks(turn)) };
  },
};

const theirs: Record<"v1" | "v2", Connect> = {
  v1: async (t, choice) => {
    const client = await connectSdkV1(choice);
    t.after(() => client.close());
    await client.agent.request("initialize", v1.initializeRequest);
    return { client, prompt: (turn) => client.agent.request("session/prompt", blocks(turn)) };
  },
  v2: async (t, choice) => {
    const client = await connectSdkV2(choice);
    t.after(() => client.close());
    await client.agent.request("initialize", v2.initializeRequest);
    return { client, prompt: (turn) => client.agent.request("session/prompt", blocks(turn)) };
  },
};

/** How many prompts resolved before the last update sent ahead of their response had been handled. */
async function earlyResponses(
  { client, prompt }: Prompter,
  most = turns,
  isEnough: (early: number) => boolean = () => false,
): Promise<{ early: number; mostMissing: number }> {
  let early = 0;
  let mostMissing = 0;
  for (let index = 0; index < most && !isEnough(early); index += 1) {
    const mark = client.log.events.length;
    await prompt("20 updates");
    const missing = updatesPerTurn - client.log.of("session/update", mark).length;
    if (missing > 0) early += 1;
    mostMissing = Math.max(mostMissing, missing);
    const seen = await client.log.until("session/update", updatesPerTurn, mark);
    assert.deepEqual(
      seen.map((params) => (params as { update: { content: { text: string } } }).update.content.text),
      Array.from({ length: updatesPerTurn }, (_, number) => String(number)),
    );
  }
  return { early, mostMissing };
}

/** How many permission requests were handled before the update that the agent had sent ahead of them. */
async function overtakingRequests({ client, prompt }: Prompter, version: "v1" | "v2"): Promise<number> {
  let overtaking = 0;
  for (let index = 0; index < turns / 3; index += 1) {
    const mark = client.log.events.length;
    await prompt("update and ask");
    if (version === "v2") await client.log.until("idle", 1, mark);
    const isUpdate = ({ method, params }: { method: string; params: unknown }): boolean =>
      method === "session/update" &&
      (params as { update: { sessionUpdate: string } }).update.sessionUpdate === "user_message_chunk";
    await client.log.until("session/request_permission", 1, mark);
    await client.log.until("session/update", version === "v2" ? 4 : 1, mark);
    const events = client.log.events.slice(mark);
    if (
      events.findIndex((event) => event.method === "session/request_permission") < events.findIndex(isUpdate)
    ) {
      overtaking += 1;
    }
  }
  return overtaking;
}

for (const version of ["v1", "v2"] as const) {
  for (const library of ["sdk", "parley"] as const) {
    const agent = library === "sdk" ? "the SDK's agent" : "our agent";

    test(
      `${version}: our client and ${agent}, ${turns} turns, no response before its updates (G1)`,
      deadline,
      async (t) => {
        const prompter = await ours[version](t, { library });
        assert.deepEqual(await earlyResponses(prompter), { early: 0, mostMissing: 0 });
        assert.equal(await overtakingRequests(prompter, version), 0);
      },
    );
  }

  test(
    `${version}: the SDK's client and the SDK's agent, some responses come before their updates`,
    deadline,
    async (t) => {
      const prompter = await theirs[version](t, { library: "sdk" });
      // one is enough; all are counted in npm run test:soak
      const { early, mostMissing } = await earlyResponses(
        prompter,
        300,
        inSoak<(count: number) => boolean>(
          (count) => count > 0,
          () => false,
        ),
      );
      const overtaking = await overtakingRequests(prompter, version);
      t.diagnostic(
        `official SDK ${version}: ${early} prompts resolved early, ` +
          `up to ${mostMissing} of ${updatesPerTurn} updates missing; ` +
          `${overtaking} of ${turns / 3} permission requests overtook an update`,
      );
      // Why this suite exists: the pinned SDK resolves a prompt ahead of its updates. Delete this assertion when
      // an update of the SDK mends that.
      assert.ok(early > 0, "the SDK held the order in every turn");
    },
  );
}

test(
  "an update in the chunk of the response is seen after the response was received",
  deadline,
  async (t) => {
    const order: string[] = [];
    const transport = spawnTransport(...interopCommand("one-write-agent.ts"));
    const peer = clientPeer(transport, {
      notifications: {
        "session/update": ({ sessionId: session }) => {
          order.push(`update of ${session}`);
        },
      },
    });
    t.after(() => peer.close());
    const receive = (result: unknown): string => {
      const { sessionId: session } = result as { sessionId: string };
      order.push(`received ${session}`);
      return session;
    };
    const expected: string[] = [];
    for (let index = 0; index < 100; index += 1) {
      const session = await peer.requestExtension("_parley.test/new", {}, { receive });
      expected.push(`received ${session}`, `update of ${session}`);
    }
    await peer.requestExtension("_parley.test/new", {});
    assert.deepEqual(order.slice(0, expected.length), expected);
  },
);

test("what an agent sends after its reply is seen after the response was received", deadline, async (t) => {
  const client = connectParleyV1({ library: "parley" });
  t.after(() => client.close());
  await client.agent.request("initialize", v1.initializeRequest);
  const receive = (): number => client.log.events.length;
  assert.equal(await client.peer.requestExtension("_parley.test/reply-then-update", {}, { receive }), 0);
  assert.equal((await client.log.until("session/update", 1)).length, 1);
});
