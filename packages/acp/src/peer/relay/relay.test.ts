// Tests a relay between peers of the same and of different versions, through the public API of both.

import assert from "node:assert/strict";
import { test } from "node:test";
import { RawPeer } from "../../../test/support/raw-peer-probe.ts";
import type { SessionUpdate } from "../../model/update.ts";
import { memoryPair } from "../../transport/memory.ts";
import { agent } from "../agent/agent.ts";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import { client } from "../client/client.ts";
import type { ClientDefinition } from "../client/client-definition.ts";
import { relay } from "./relay.ts";
import type { RelayOptions } from "./relay-options.ts";

type Version = 1 | 2;

const pairs: readonly [Version, Version][] = [
  [1, 1],
  [2, 2],
  [1, 2],
  [2, 1],
];

async function relayed(
  [clientVersion, agentVersion]: readonly [Version, Version],
  agentParts: Partial<AgentDefinition>,
  clientParts: Partial<ClientDefinition> = {},
  options: RelayOptions = {},
) {
  const [toRelay, clientEnd] = memoryPair();
  const [agentEnd, atAgent] = memoryPair();
  const served = agent({
    name: "scripted",
    version: "1.0.0",
    prompt: () => undefined,
    ...agentParts,
    editions: [`v${agentVersion}`],
  });
  served.connect(atAgent);
  const between = relay(clientEnd, agentEnd, options);
  const connected = await client({
    name: "editor",
    version: "2.0.0",
    ...clientParts,
    editions: [`v${clientVersion}`],
  }).connect(toRelay);
  return { between, connected };
}

for (const versions of pairs) {
  const name = `v${versions[0]} client, v${versions[1]} agent`;

  test(`${name}: a turn comes through`, async () => {
    const { between, connected } = await relayed(versions, {
      async prompt(turn) {
        await turn.say("hello ");
        await turn.tool({ title: "Read", kind: "read" }, () => undefined);
        await turn.say("world");
      },
    });
    assert.deepEqual(await between.editions, { client: `v${versions[0]}`, agent: `v${versions[1]}` });
    const session = await connected.newSession({ cwd: "/project" });
    const updates: SessionUpdate[] = [];
    session.onUpdate((update) => updates.push(update));
    const outcome = await session.prompt("go").result;
    assert.equal(outcome.stopReason, "end_turn");
    const said = updates.flatMap((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
        ? [update.content.text]
        : [],
    );
    assert.equal(said.join(""), "hello world");
    const user = updates.filter(({ sessionUpdate }) => sessionUpdate.startsWith("user_message"));
    assert.equal(user.length, 1, "the user's message is shown once");
    const statuses = updates.flatMap((update) =>
      update.sessionUpdate === "tool_call_update" && update.status ? [update.status] : [],
    );
    assert.deepEqual(statuses.at(-1), "completed");
    await connected.close();
    await between.closed;
  });

  test(`${name}: a permission is asked and answered`, async () => {
    const { connected, between } = await relayed(
      versions,
      {
        async prompt(turn) {
          const answer = await turn.requestPermission("May I?");
          await turn.say(JSON.stringify(answer));
        },
      },
      { requestPermission: (ask) => ask.options.find(({ kind }) => kind === "allow_once")?.optionId },
    );
    const session = await connected.newSession({ cwd: "/project" });
    const prompt = session.prompt("go");
    let text = "";
    for await (const update of prompt) {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
        text += update.content.text;
    }
    assert.match(text, /allow|selected|true/);
    await connected.close();
    await between.closed;
  });

  test(`${name}: cancel ends a turn as cancelled, and queued prompts too`, async () => {
    const { connected, between } = await relayed(versions, {
      async prompt(turn) {
        await turn.say("working");
        await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
      },
    });
    const session = await connected.newSession({ cwd: "/project" });
    const first = session.prompt("one");
    const second = session.prompt("two");
    for await (const update of first) if (update.sessionUpdate === "agent_message_chunk") session.cancel();
    assert.equal((await first.result).stopReason, "cancelled");
    assert.equal((await second.result).stopReason, "cancelled");
    await connected.close();
    await between.closed;
  });

  test(`${name}: a session is listed and loaded with its history`, async () => {
    const { connected, between } = await relayed(versions, {
      async prompt(turn) {
        await turn.say(`you said ${turn.text}`);
      },
    });
    const session = await connected.newSession({ cwd: "/project" });
    await session.prompt("one").result;
    const { sessions } = await connected.listSessions();
    assert.deepEqual(
      sessions.map(({ sessionId }) => sessionId),
      [session.sessionId],
    );
    await session.close();
    const replayed: string[] = [];
    await connected.loadSession(session.sessionId, {
      cwd: "/project",
      onUpdate: (update) => replayed.push(update.sessionUpdate),
    });
    assert.ok(
      replayed.some((kind) => kind.startsWith("user_message")),
      replayed.join(),
    );
    assert.ok(
      replayed.some((kind) => kind.startsWith("agent_message")),
      replayed.join(),
    );
    await connected.close();
    await between.closed;
  });

  test(`${name}: an agent's death ends the prompt with an error, and the connection`, async () => {
    let die = (): void => undefined;
    const [toRelay, clientEnd] = memoryPair();
    const [agentEnd, atAgent] = memoryPair();
    die = () => void atAgent.close(new Error("killed"));
    agent({
      name: "mortal",
      version: "1",
      editions: [`v${versions[1]}`],
      async prompt(turn) {
        await turn.say("dying");
        die();
        await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
      },
    }).connect(atAgent);
    const between = relay(clientEnd, agentEnd);
    const connected = await client({ name: "editor", version: "1", editions: [`v${versions[0]}`] }).connect(
      toRelay,
    );
    const session = await connected.newSession({ cwd: "/project" });
    const outcome = await session.prompt("go").result.catch((error: unknown) => error);
    assert.ok(outcome instanceof Error || (outcome as { stopReason: string }).stopReason === "error");
    await between.closed;
    await connected.closed;
  });
}

for (const version of [1, 2] as const) {
  test(`a v${version} client and an agent that speaks both need no translation`, async () => {
    const [toRelay, clientEnd] = memoryPair();
    const [agentEnd, atAgent] = memoryPair();
    agent({ name: "both", version: "1.0.0", prompt: () => undefined }).connect(atAgent);
    const between = relay(clientEnd, agentEnd, { as: `v${version}` });
    const connected = await client({ name: "editor", version: "1.0.0", editions: [`v${version}`] }).connect(
      toRelay,
    );
    assert.deepEqual(await between.editions, { client: `v${version}`, agent: `v${version}` });
    await connected.close();
    await between.closed;
  });
}

for (const [held, agentVersion] of [
  [2, 1],
  [1, 2],
] as const) {
  test(`a client of both versions that is held to ${held} offers an agent of ${agentVersion} only what comes through`, async () => {
    const [toRelay, clientEnd] = memoryPair();
    const [agentEnd, atAgent] = memoryPair();
    const offered: unknown[] = [];
    agent({
      name: "old",
      version: "1.0.0",
      editions: [`v${agentVersion}`],
      prompt({ client: { files, terminals } }) {
        offered.push(files, terminals);
      },
    }).connect(atAgent);
    const between = relay(clientEnd, agentEnd, { as: `v${held}` });
    const nothing = (): never => assert.fail("files do not come through");
    const connected = await client({
      name: "editor",
      version: "1.0.0",
      files: { canRead: true, canWrite: true, readText: nothing, writeText: nothing },
    }).connect(toRelay);
    assert.deepEqual(await between.editions, { client: `v${held}`, agent: `v${agentVersion}` });
    const session = await connected.newSession({ cwd: "/project" });
    assert.equal((await session.prompt("go").result).stopReason, "end_turn");
    assert.deepEqual(offered, [undefined, undefined]);
    await connected.close();
    await between.closed;
  });
}

test("a terminal login that the client has run is answered by the relay, not by the agent", async () => {
  const logins: string[] = [];
  const [near, clientEnd] = memoryPair();
  const [agentEnd, atAgent] = memoryPair();
  agent({
    name: "scripted",
    version: "1.0.0",
    prompt: () => undefined,
    auth: {
      methods: [
        { type: "terminal", methodId: "terminal", name: "In a terminal", args: ["login"] },
        { type: "agent", methodId: "browser", name: "In a browser" },
      ],
      login: (methodId) => void logins.push(methodId),
      logout: () => undefined,
    },
    editions: ["v2"],
  }).connect(atAgent);
  relay(clientEnd, agentEnd);
  const editor = new RawPeer(near);
  const clientCapabilities = { auth: { terminal: true } };
  await editor.ask(1, "initialize", { protocolVersion: 1, clientCapabilities });
  for (const [id, methodId] of [
    [2, "terminal"],
    [3, "browser"],
  ] as const) {
    const { result, error } = await editor.ask(id, "authenticate", { methodId });
    assert.deepEqual([result, error], [{}, undefined], methodId);
  }
  assert.deepEqual(logins, ["browser"]);
  await editor.close();
});

test("await using closes a relay, and with it both sides, at the end of its block", async () => {
  const { between, connected } = await relayed([1, 2], {});
  {
    await using used = between;
    await used.editions;
  }
  assert.equal((await between.closed).message, "the relay was closed");
  await connected.closed;
});
