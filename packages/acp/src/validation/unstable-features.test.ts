import assert from "node:assert/strict";
import { test } from "node:test";
import {
  inEveryVersion,
  openSession,
  place,
  quiet,
  text,
  withScriptedAgent,
} from "../../test/support/peer-probe.ts";
import { agent, client, type OutgoingUpdate, type SessionUpdate, type UnstableFeature } from "../index.ts";
import { relay } from "../relay.ts";
import { memoryPair } from "../transport.ts";
import * as v1 from "../v1.gen.ts";
import * as v2 from "../v2.gen.ts";

const who = { name: "n", version: "1" };

test("an unknown feature is refused with the nearest one, by every side that takes features", () => {
  const sides: Readonly<Record<string, (unstable: never) => unknown>> = {
    "agent: unstable": (unstable) => agent({ ...who, unstable, prompt: () => undefined }),
    "client: unstable": (unstable) => client({ ...who, unstable }),
    "relay: unstable": (unstable) => relay(memoryPair()[0], memoryPair()[0], { unstable }),
    unstable: (unstable) => [
      v1.agentPeer(memoryPair()[0], { unstable }),
      v2.clientPeer(memoryPair()[0], { unstable }),
    ],
  };
  for (const [where, make] of Object.entries(sides)) {
    const refuses = (unstable: unknown, message: RegExp) =>
      assert.throws(() => make(unstable as never), { name: "TypeError", message });
    refuses(["frok"], new RegExp(`^${where}: there is no feature "frok"; did you mean "fork"\\?$`));
    refuses(["usage", "providrs"], /there is no feature "providrs"; did you mean "providers"\?$/);
    refuses(
      ["session/fork"],
      /there is no feature "session\/fork"; the features are "fork", "system_prompt", /,
    );
    refuses([7], /there is no feature 7; the features are "fork"/);
    refuses("fork", new RegExp(`^${where} must be "\\*" or a list of "fork", .*; got "fork"$`));
  }
});

const updates: readonly (readonly [UnstableFeature, OutgoingUpdate])[] = [
  ["plans", { sessionUpdate: "plan_removed", planId: "p" }],
  ["plans", { sessionUpdate: "plan_update", plan: { type: "markdown", planId: "p", content: "# Plan" } }],
  ["subagents", { sessionUpdate: "subagent_update", sessionId: "child" }],
  ["subagents", { sessionUpdate: "session_message", messageId: "m" }],
  ["subagents", { sessionUpdate: "session_message_chunk", messageId: "m", content: text("x") }],
];

inEveryVersion(
  "an agent that says an update of a feature that it has not enabled is told which one",
  async (pair) => {
    const say = async (unstable: readonly UnstableFeature[]) => {
      const refused: string[] = [];
      const { session } = await openSession(pair, {
        unstable,
        prompt(turn) {
          for (const [, update] of updates) {
            try {
              void turn.update(update);
              refused.push("");
            } catch (error) {
              assert.ok(error instanceof TypeError);
              refused.push(error.message);
            }
          }
        },
      });
      await session.prompt("x").result;
      return refused;
    };
    for (const others of [[], ["usage", "fork"]] as const) {
      const refused = await say(others);
      for (const [i, [feature]] of updates.entries())
        assert.match(
          refused[i] ?? "",
          new RegExp(`must be .*enabled by unstable: \\["${feature}"\\], got "`),
        );
    }
    const halfway = await say(["plans"]);
    assert.deepEqual(
      halfway.map((message) => message === ""),
      updates.map(([feature]) => feature === "plans"),
    );
    assert.deepEqual(new Set(await say(["plans", "subagents"])), new Set([""]));
  },
);

for (const version of [1, 2] as const) {
  test(`v${version}: an update of a feature that the client has not enabled is of an unknown kind`, async () => {
    const removed = { sessionUpdate: "plan_removed", planId: "p" };
    const seen = async (unstable: readonly UnstableFeature[] | "*") => {
      const { agent: connected, peer } = await withScriptedAgent(version, {}, { unstable });
      const session = await connected.newSession(place);
      const got: SessionUpdate[] = [];
      session.onUpdate((update) => void got.push(update));
      peer.update("s1", removed);
      await quiet();
      return got;
    };
    const unknown = [{ sessionUpdate: "plan_removed", unknown: true, raw: removed }];
    assert.deepEqual(await seen([]), unknown);
    assert.deepEqual(await seen(["subagents"]), unknown);
    assert.deepEqual(await seen(["plans"]), [removed]);
    assert.deepEqual(await seen("*"), [removed]);
  });
}

inEveryVersion('the feature "usage" alone reports the tokens of a turn', async (pair) => {
  const usage = { totalTokens: 3, inputTokens: 2, outputTokens: 1 };
  const prompt = () => ({ stopReason: "end_turn", usage }) as const;
  const { session } = await openSession(pair, { unstable: ["usage"], prompt });
  assert.deepEqual(await session.prompt("x").result, { stopReason: "end_turn", usage });
});
