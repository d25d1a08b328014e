import assert from "node:assert/strict";
import { test } from "node:test";
import { ScenarioError } from "@parley/conformance/testing";
import { checkAgentScenario, checkClientScenario } from "./check-scenario.ts";

const agent = (more: object) => ({ parley: "agent-scenario", version: 1, ...more });
const client = (more: object) => ({ parley: "client-scenario", version: 1, steps: [], ...more });
const steps = (...list: unknown[]) => agent({ turns: [{ steps: list }] });

const wrongAgents: readonly (readonly [unknown, string])[] = [
  [null, "$: got null, wanted an agent's scenario"],
  [{ version: 1 }, '$.parley: got nothing, wanted "agent-scenario"'],
  [agent({ version: 2 }), "$.version: got the number 2, wanted 1"],
  [agent({ turn: [] }), "$.turn: got a key that has no meaning here, wanted one of parley, version, name,"],
  [agent({ editions: ["v3"] }), '$.editions[0]: got the string "v3", wanted "v1" or "v2", or an objec'],
  [steps("say"), '$.turns[0].steps[0]: got the string "say", wanted a step: an object with one verb'],
  [steps({ say: 5 }), "$.turns[0].steps[0].say: got the number 5, wanted a text, or a content block"],
  [
    steps({ say: "x", think: "y" }),
    "$.turns[0].steps[0]: got an object with say, think, wanted exactly one of say, think,",
  ],
  [
    steps({ say: "x", tims: 2 }),
    "$.turns[0].steps[0].tims: got a key that has no meaning here, wanted one of times",
  ],
  [
    steps({ tool: { title: "x" }, steps: [{ ask: true, on: { yes: [{ say: {} }] } }] }),
    "$.turns[0].steps[0].steps[0].on.yes[0].say",
  ],
  [
    steps({ plan: [{ content: "x", priority: "high" }] }),
    "$.turns[0].steps[0].plan[0].status: got nothing, wanted",
  ],
  [steps({ wait: { gat: "x" } }), "$.turns[0].steps[0].wait.gat"],
  [
    agent({ wire: { replies: [{ method: "x", answer: "thrice" }] } }),
    '$.wire.replies[0].answer: got the string "thrice"',
  ],
];

for (const [scenario, message] of wrongAgents) {
  test(`an agent's scenario is refused: ${message}`, () => {
    assert.throws(
      () => checkAgentScenario(scenario),
      (error) => {
        assert.ok(error instanceof ScenarioError);
        assert.equal(error.message.slice(0, message.length), message);
        assert.ok(error.message.startsWith(`${error.path}: `));
        return true;
      },
    );
  });
}

const wrongClients: readonly (readonly [unknown, string])[] = [
  [{ parley: "client-scenario", version: 1 }, "$.steps: got nothing, wanted a list of steps"],
  [client({ steps: [{ prompt: "x", cancel: "soon" }] }), "$.steps[0].cancel"],
  [client({ steps: [{ setConfigOption: "model" }] }), "$.steps[0].value: got nothing, wanted any JSON"],
  [
    client({ permissions: [{ answer: "yes" }] }),
    '$.permissions[0].answer: got the string "yes", wanted "cancel" or "never"',
  ],
];

for (const [scenario, message] of wrongClients) {
  test(`a client's scenario is refused: ${message}`, () => {
    assert.throws(() => checkClientScenario(scenario), { name: "ScenarioError" });
    try {
      checkClientScenario(scenario);
    } catch (error) {
      assert.equal((error as Error).message.slice(0, message.length), message);
    }
  });
}
