// A chain of agents: one prompts the agent behind it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Agent, agent, client, type Edition, RequestError } from "../../src/index.ts";
import {
  type ChainPart,
  type ConductorOptions,
  conductor,
  type OnExit,
  type WatchHops,
} from "../../src/proxy.ts";
import { memoryPair } from "../../src/transport/memory.ts";
import type { Transport } from "../../src/transport.ts";
import type { Wire } from "../support/raw-line-peer.ts";
import { byHand, introductions, said } from "./chained.ts";

for (const edition of ["v1", "v2"] as const satisfies readonly Edition[]) {
  test(`an agent prompts the agent behind it, whose work and questions reach the client (${edition})`, async () => {
    const asked: string[] = [];
    const worker = agent({
      name: "worker",
      version: "1",
      async prompt(turn) {
        asked.push(turn.text);
        const allowed = await turn.requestPermission("May I work?");
        await turn.tool({ title: "Work", kind: "other" }, () => "done");
        await turn.say(`worked: ${allowed?.optionId}`);
      },
    });
    const lead = agent({
      name: "lead",
      version: "1",
      async prompt(turn) {
        assert.ok(turn.successor);
        await turn.say("I ask the worker. ");
        const first = await turn.successor.prompt(`do ${turn.text}`);
        let heard = "";
        await turn.successor.prompt("quietly", {
          show: false,
          onUpdate: (update) => {
            if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
              heard += update.content.text;
          },
        });
        await turn.say(` It ended with ${first.stopReason}, then said: ${heard}.`);
      },
    });
    const [near, far] = memoryPair();
    const chain = conductor([lead, worker]);
    chain.connect(far);
    const app = client({
      name: "app",
      version: "1",
      editions: [edition],
      requestPermission: ({ options }) => options[0]?.optionId,
    });
    await using connection = await app.connect(near);
    const session = await connection.newSession({ cwd: "/" });
    let said = "";
    const tools: string[] = [];
    session.onUpdate((update) => {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
        said += update.content.text;
      if (update.sessionUpdate === "tool_call_update" && update.title) tools.push(update.title);
    });
    const { stopReason } = await session.prompt("it");
    assert.equal(stopReason, "end_turn");
    assert.deepEqual(asked, ["do it", "quietly"]);
    assert.equal(
      said,
      "I ask the worker. worked: allow_once It ended with end_turn, then said: worked: allow_once.",
    );
    assert.deepEqual([...new Set(tools)], ["Work"]);
    await chain.close();
  });
}

test("without an agent behind it, an agent has no successor", async () => {
  let found: unknown = "nothing";
  const alone = agent({
    name: "alone",
    version: "1",
    prompt(turn) {
      found = turn.successor;
    },
  });
  const [near, far] = memoryPair();
  alone.connect(far);
  await using connection = await client({ name: "app", version: "1" }).connect(near);
  await (await connection.newSession({ cwd: "/" })).prompt("x");
  assert.equal(found, undefined);
});

/** Passes each prompt to the agent behind it and says what that agent says. */
const lead = agent({
  name: "lead",
  version: "1",
  async prompt(turn) {
    const result = await turn.successor?.prompt();
    if (result?.error) throw new RequestError("internal_error", result.error.message);
  },
});

/** A client of the lead agent, which stands in front of the agents that `start` starts. */
async function behindLead(start: () => Transport, onExit: OnExit = "fail") {
  const chain = conductor([lead, { name: "worker", start, onExit }]);
  const connection = await client({ name: "app", version: "1" }).connect(chain);
  const open = async () => {
    const session = await connection.newSession({ cwd: "/" });
    let said = "";
    session.onUpdate((update) => {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
        said += update.content.text;
    });
    return {
      session,
      async prompt(text: string): Promise<string> {
        said = "";
        const { error } = await session.prompt(text);
        return error?.message ?? said;
      },
    };
  };
  return { open, connection };
}

function transportOf(served: Agent): Transport {
  const [near, far] = memoryPair();
  served.connect(far);
  return near;
}

/** Starts echo agents that are numbered in the order in which they start. */
function echoes() {
  const started: Agent[] = [];
  const start = () => {
    const name = `worker ${started.length + 1}`;
    const made = agent({
      name,
      version: "1",
      prompt: async (turn) => void (await turn.say(`${name}: ${turn.text}`)),
    });
    started.push(made);
    return transportOf(made);
  };
  return { started, start };
}

test("after the agent behind has ended, each session in front of it continues with a new session", async () => {
  const { started, start } = echoes();
  const { open, connection } = await behindLead(start);
  const [a, b] = [await open(), await open()];
  assert.equal(await a.prompt("1"), "worker 1: 1");
  assert.equal(await b.prompt("2"), "worker 1: 2");
  await started[0]?.close();
  assert.equal(await b.prompt("3"), "worker 2: 3");
  assert.equal(await a.prompt("4"), "worker 2: 4");
  await connection.close();
});

test("if the agent behind refuses to open a session, the next prompt asks for it again", async () => {
  let isBusy = true;
  const worker = agent({
    name: "worker",
    version: "1",
    session: {
      open() {
        if (isBusy) throw new RequestError("rate_limited", "come back later");
      },
    },
    prompt: async (turn) => void (await turn.say("now")),
  });
  const { open, connection } = await behindLead(() => transportOf(worker));
  const { prompt } = await open();
  assert.match(await prompt("1"), /come back later/);
  isBusy = false;
  assert.equal(await prompt("2"), "now");
  await connection.close();
});

test("if the agent behind has lost a session after its restart, one prompt fails, then a new session is used", async () => {
  const { started, start } = echoes();
  const { open, connection } = await behindLead(start, "restart");
  const { prompt } = await open();
  assert.equal(await prompt("1"), "worker 1: 1");
  await started[0]?.close();
  assert.match(await prompt("2"), /no session/);
  assert.equal(await prompt("3"), "worker 2: 3");
  await connection.close();
});

test("if the agent behind cannot reopen sessions, one prompt fails after its restart, then a new session is used", async () => {
  const answers = { ...introductions[1], sessionId: "s", stopReason: "end_turn" };
  const hand = byHand(({ id, method }, peer) => {
    if (method === "session/prompt") peer.notify("session/update", said("s", "done"));
    if (id !== undefined) peer.answer({ id }, answers);
  });
  const { open, connection } = await behindLead(hand.start, "restart");
  const { prompt } = await open();
  assert.equal(await prompt("1"), "done");
  await hand.peers[0]?.close();
  assert.match(await prompt("2"), /cannot continue the session/);
  assert.equal(await prompt("3"), "done");
  await connection.close();
});

test("closing a session closes the session of the agent behind it, and no other", async () => {
  const closed: string[] = [];
  const hasClosed = Promise.withResolvers<void>();
  const worker = agent({
    name: "worker",
    version: "1",
    session: {
      open: () => undefined,
      close({ sessionId }) {
        closed.push(sessionId);
        hasClosed.resolve();
      },
    },
    prompt: async (turn) => void (await turn.say(turn.session.sessionId)),
  });
  const { open, connection } = await behindLead(() => transportOf(worker));
  const [a, b] = [await open(), await open()];
  const [behindA, behindB] = [await a.prompt("1"), await b.prompt("2")];
  await a.session.close();
  await hasClosed.promise;
  assert.deepEqual(closed, [behindA]);
  assert.equal(await b.prompt("3"), behindB);
  await connection.close();
});

test("a watched chain also shows the hop between two agents, after the hops before it", async () => {
  const hops = new Map<string, number>();
  const methods: unknown[] = [];
  const chain = conductor(
    [
      { name: "lead", start: lead },
      { name: "worker", start: echoes().start },
    ],
    {
      watch({ hop, place, message }) {
        hops.set(hop, place);
        if (hop === "lead > worker") methods.push((message as { method?: string }).method);
      },
    },
  );
  const connection = await client({ name: "app", version: "1" }).connect(chain);
  const session = await connection.newSession({ cwd: "/" });
  assert.equal(await session.prompt("hi").text(), "worker 1: hi");
  assert.deepEqual(
    [...hops],
    [
      ["the client > lead", 0],
      ["lead > worker", 1],
    ],
  );
  assert.ok(methods.includes("session/prompt"));
  await connection.close();
});

test("the editions of a chain of agents apply to every agent, and by default those of the first apply to the client", async () => {
  const editionsOf = async (parts: readonly ChainPart[], options: ConductorOptions = {}) => {
    const asked: unknown[] = [];
    const watch: WatchHops = ({ message }) => {
      const { method, params } = message as Wire;
      if (method === "initialize") asked.push(params?.["protocolVersion"]);
    };
    const chain = conductor(parts, { ...options, watch });
    const connection = await client({ name: "app", version: "1" }).connect(chain);
    await (await connection.newSession({ cwd: "/" })).prompt("hi");
    await connection.close();
    return asked;
  };
  const worker = agent({ name: "worker", version: "1", prompt: () => undefined });
  const inEdition = (edition: Edition, { definition }: Agent) =>
    agent({ ...definition, editions: [edition] });
  assert.deepEqual(await editionsOf([lead, worker]), [2, 2]);
  assert.deepEqual(await editionsOf([lead, worker], { editions: ["v1"] }), [1, 1]);
  assert.deepEqual(await editionsOf([inEdition("v1", lead), inEdition("v2", worker)]), [1, 2]);
});
