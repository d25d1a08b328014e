// Tests that every request through a relay gets one answer, in any order of events.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type RelayedPair, relayedPair, type Side, versionPairs } from "../../../test/support/race-probe.ts";
import { propertyRuns } from "../../../test/support/soak.ts";
import type { Sink } from "../../jsonrpc/transport.ts";
import { memoryPair } from "../../transport/memory.ts";
import type { Turn } from "../agent/turn/turn.ts";
import type { Prompt } from "../client/session/client-session.ts";
import { relay } from "./relay.ts";

const deadline = { timeout: 30_000 };

const options = [
  {
    configId: "mode",
    name: "Mode",
    category: "mode" as const,
    type: "select" as const,
    currentValue: "ask",
    options: [
      { value: "ask", name: "Ask" },
      { value: "code", name: "Code" },
    ],
  },
];

async function work(turn: Turn): Promise<void> {
  await turn.say("first ");
  await turn.tool({ title: "Edit", kind: "edit" }, async (tool) => {
    await tool.diff({ path: "/project/a.ts", oldText: "a\n", newText: "b\n" });
    if (await tool.requestPermission()) await tool.add("done");
  });
  await turn.say("last");
}

function scripted(pair: readonly [1 | 2, 1 | 2]): RelayedPair {
  return relayedPair(
    pair,
    {
      session: { open: (session) => void session.setConfigOptions(options) },
      prompt: work,
      extensions: { requests: { "_test/echo": (params) => params } },
    },
    { requestPermission: ({ options: [first] }) => first?.optionId },
  );
}

/** Everything that a client may ask of an agent, one after the other; what fails does not stop the rest. */
async function conversation({ editor, wires }: RelayedPair): Promise<void> {
  const agent = await editor.connect(wires.client.transport);
  const session = await agent.newSession({ cwd: "/project" });
  const tried = (work: () => Promise<unknown>): Promise<unknown> =>
    Promise.resolve()
      .then(work)
      .catch(() => undefined);
  // two that overlap, and one that is withdrawn
  await Promise.all([
    tried(() => session.prompt("one").result),
    tried(() => session.prompt("two").result),
    tried(() => agent.request("_test/echo", { a: 1 })),
  ]);
  const third = tried(() => session.prompt("three").result);
  session.cancel();
  await third;
  await tried(() => session.setConfigOption("mode", "code"));
  await tried(() => agent.listSessions());
  await tried(() => session.close());
  await tried(() => agent.loadSession(session.sessionId, { cwd: "/project" }));
  await tried(() => agent.request("_test/nothing", {}));
  await agent.close();
}

/** How many messages cross on each side when nothing happens. */
async function undisturbed(pair: readonly [1 | 2, 1 | 2]): Promise<Record<Side, number>> {
  const all = scripted(pair);
  await conversation(all);
  await all.between.closed;
  answeredOnce(all, "undisturbed");
  return { client: all.wires.client.said.length, agent: all.wires.agent.said.length };
}

function answeredOnce({ wires }: RelayedPair, when: string): void {
  for (const [who, wire] of Object.entries(wires)) {
    for (const by of ["peer", "relay"] as const)
      assert.deepEqual(wire.wronglyAnswered(by), [], `${when}: what the ${who}'s ${by} asked`);
  }
}

/** Somebody dies at the given message. A client that cannot connect or open has learnt that. */
async function interrupted(all: RelayedPair, side: Side, at: number): Promise<void> {
  const { wires, between } = all;
  wires[side].crossed = (count) => {
    if (count === at) wires[side].crash();
  };
  await conversation(all).catch(() => undefined);
  await between.closed;
}

for (const pair of versionPairs) {
  const name = `v${pair[0]} client, v${pair[1]} agent`;
  const isTranslated = pair[0] !== pair[1];

  test(
    `${name}: the client dies at any message, and the agent is told and answered once (G4)`,
    deadline,
    async () => {
      const total = (await undisturbed(pair)).client;
      assert.ok(total > 20, `only ${total} messages`);
      for (let at = 1; at <= total; at += 1) {
        const all = scripted(pair);
        await interrupted(all, "client", at);
        const twice = all.wires.agent.wronglyAnswered("peer").filter((wrong) => !wrong.includes("has 0"));
        assert.deepEqual(twice, [], `after ${at} messages`);
      }
    },
  );

  test(
    `${name}: the agent dies at any message, and every request of the client is answered once (G4)`,
    deadline,
    async () => {
      const total = (await undisturbed(pair)).agent;
      assert.ok(total > 20, `only ${total} messages`);
      for (let at = 1; at <= total; at += 1) {
        const all = scripted(pair);
        await interrupted(all, "agent", at);
        const wrong = all.wronglyAnsweredToClient();
        // pass-through ends with its agent; a translation answers for an agent that cannot
        const wronger = isTranslated ? wrong : wrong.filter((one) => !one.includes("has 0"));
        assert.deepEqual(wronger, [], `after ${at} messages`);
      }
    },
  );

  test(
    `${name}: a cancel at any message of a turn gives one outcome, and the next turn works (G5)`,
    deadline,
    async () => {
      const outcomes = new Set<string>();
      for (let at = 1; ; at += 1) {
        const all = scripted(pair);
        const { wires, between, editor } = all;
        const agent = await editor.connect(wires.client.transport);
        const session = await agent.newSession({ cwd: "/project" });
        const begun = wires.client.said.length;
        let isCancelled = false;
        wires.client.crossed = (count) => {
          if (count - begun !== at) return;
          isCancelled = true;
          session.cancel();
        };
        const { stopReason } = await session.prompt("go").result;
        outcomes.add(stopReason);
        assert.ok(stopReason === "cancelled" || stopReason === "end_turn", `${at}: ${stopReason}`);
        wires.client.crossed = () => undefined;
        const next = await session.prompt("again").result;
        assert.equal(next.stopReason, "end_turn", `the turn after a cancel at message ${at}`);
        await agent.close();
        await between.closed;
        answeredOnce(all, `cancelled at message ${at}`);
        if (!isCancelled) break;
      }
      assert.deepEqual([...outcomes].sort(), ["cancelled", "end_turn"]);
    },
  );
}

test("a client that goes while its agent is silent does not wait for it", deadline, async () => {
  const [toRelay, clientEnd] = memoryPair();
  const [agentEnd, atAgent] = memoryPair();
  const heard = Promise.withResolvers<void>();
  const told = Promise.withResolvers<void>();
  const silent: Sink = {
    message: () => heard.resolve(),
    idle: () => undefined,
    reject: () => undefined,
    drain: () => undefined,
    end: () => told.resolve(),
  };
  atAgent.start(silent);
  const between = relay(clientEnd, agentEnd);
  toRelay.start({ ...silent, message: () => assert.fail("nothing is known yet"), end: () => undefined });
  toRelay.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } });
  await heard.promise;
  await toRelay.close();
  await between.closed;
  await told.promise;
});

interface Happening {
  /** After how many messages on the client's wire, from the first prompt on. */
  readonly at: number;
  readonly what: "prompt" | "cancel" | "withdraw" | "echo" | "list" | "option" | "client dies" | "agent dies";
}

const happening: fc.Arbitrary<Happening> = fc.record({
  at: fc.integer({ min: 0, max: 40 }),
  what: fc.constantFrom(
    ...(["prompt", "prompt", "cancel", "cancel", "withdraw", "echo", "list", "option"] as const),
    ...(["client dies", "agent dies"] as const),
  ),
});

test("whatever happens at whatever message, every request has one answer (G4, G5)", {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...versionPairs),
      fc.array(happening, { maxLength: 8 }),
      async (pair, happenings) => {
        const all = scripted(pair);
        const { wires, between, editor } = all;
        const agent = await editor.connect(wires.client.transport);
        const session = await agent.newSession({ cwd: "/project" });
        const begun = wires.client.said.length;
        const answers: Promise<unknown>[] = [];
        const prompts: Prompt[] = [];
        const prompt = (): void => {
          const sent = session.prompt("go");
          prompts.push(sent);
          answers.push(sent.result);
        };
        const does: Record<Happening["what"], () => void> = {
          prompt,
          cancel: () => session.cancel(),
          withdraw: () => prompts.at(-1)?.cancel(),
          echo: () => answers.push(agent.request("_test/echo", {})),
          list: () => answers.push(agent.listSessions()),
          option: () => answers.push(session.setConfigOption("mode", "code")),
          "client dies": () => wires.client.crash(),
          "agent dies": () => wires.agent.crash(),
        };
        let left = happenings.toSorted((a, b) => a.at - b.at);
        wires.client.crossed = (count) => {
          const due = left.filter(({ at }) => at <= count - begun);
          left = left.filter(({ at }) => at > count - begun);
          // in a later microtask, as everything that an app does is
          for (const { what } of due) queueMicrotask(() => attempt(does[what], answers));
        };
        prompt();
        // each may bring further ones
        for (let settled = 0; settled < answers.length; ) {
          const known = answers.length;
          await Promise.allSettled(answers);
          settled = known;
        }
        await agent.close();
        await between.closed;
        const isDead = happenings.some(({ what }) => what.endsWith("dies"));
        if (!isDead) return answeredOnce(all, JSON.stringify(happenings));
        for (const wire of Object.values(wires)) {
          const twice = wire.wronglyAnswered("peer").filter((wrong) => !wrong.includes("has 0"));
          assert.deepEqual(twice, []);
        }
        const isAnswered = pair[0] !== pair[1] && !happenings.some(({ what }) => what === "client dies");
        if (isAnswered) assert.deepEqual(all.wronglyAnsweredToClient(), []);
      },
    ),
    propertyRuns(100, 2_000),
  );
});

/** Whoever is dead refuses at once, which is an answer too. */
function attempt(work: () => void, answers: Promise<unknown>[]): void {
  try {
    work();
  } catch (error) {
    answers.push(Promise.reject(error));
  }
}
