// The options of a session: the efforts are those of the chosen model.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClientSession } from "@parley/acp";
import { memoryStore } from "@parley/acp/store";
import { connected, inEveryVersion, says, scriptedModel, talk } from "../../test/support/agent-probe.ts";
import { nearestEffort } from "../model/efforts.ts";

const claude = () =>
  scriptedModel([says("ok")], { id: "claude", efforts: ["low", "medium", "high", "xhigh", "max"] });
const small = () => scriptedModel([says("ok")], { id: "small", efforts: ["minimal", "low"] });
const plain = () => scriptedModel([says("ok")], { id: "plain", efforts: [] });

/** `high of low medium high`, or undefined without the option. */
function effort({ configOptions }: ClientSession): string | undefined {
  const option = configOptions.find(({ configId }) => configId === "effort");
  if (option?.type !== "select") return undefined;
  const values = option.options.flatMap((each) => ("value" in each ? [each.value] : []));
  return `${option.currentValue} of ${values.join(" ")}`;
}

inEveryVersion("the efforts follow the model, and clients are told", {}, async (setup) => {
  const models = [claude(), small(), plain()];
  const { session, updates } = await talk({ ...setup, tools: [], models, effort: "high" });
  assert.equal(effort(session), "high of low medium high xhigh max");
  await session.setConfigOption("effort", "max");
  await session.setConfigOption("model", "small");
  assert.equal(effort(session), "low of minimal low", "the nearest that it has");
  await session.setConfigOption("model", "plain");
  assert.equal(effort(session), undefined, "a model without reasoning has no such option");
  const last = updates.findLast(({ sessionUpdate }) => sessionUpdate === "config_option_update");
  assert.doesNotMatch(JSON.stringify(last), /"effort"/);
  await session.setConfigOption("model", "claude");
  assert.equal(effort(session), "max of low medium high xhigh max", "what the user wanted is remembered");
});

inEveryVersion("/model changes the efforts, too", {}, async (setup) => {
  const { session } = await talk({ ...setup, tools: [], models: [plain(), claude()] });
  assert.equal(effort(session), undefined);
  await session.prompt("/model claude").result;
  assert.equal(effort(session), "medium of low medium high xhigh max");
});

inEveryVersion("a loaded session has the efforts of its own model", {}, async (setup) => {
  const store = memoryStore();
  const first = await talk({ ...setup, tools: [], models: [plain(), claude()], store });
  await first.session.setConfigOption("model", "claude");
  await first.session.setConfigOption("effort", "xhigh");
  await first.end();
  const model = claude();
  const { agent } = await connected({ ...setup, tools: [], models: [plain(), model], store });
  const session = await agent.loadSession(first.session.sessionId, { cwd: setup.cwd });
  assert.equal(effort(session), "xhigh of low medium high xhigh max");
  await session.prompt("go").result;
  assert.equal(model.requests[0]?.effort, "xhigh");
});

test("a model without the wanted effort gets the next lower one, else the next higher, and none only if that is wanted", () => {
  assert.equal(nearestEffort("max", ["low", "xhigh"]), "xhigh");
  assert.equal(nearestEffort("medium", ["none", "low", "high"]), "low");
  assert.equal(nearestEffort("medium", ["none", "high"]), "high");
  assert.equal(nearestEffort("none", ["low", "high"]), "low");
  assert.equal(nearestEffort("none", ["none", "low"]), "none");
  assert.equal(nearestEffort("low", ["none"]), undefined);
  assert.equal(nearestEffort("low", []), undefined);
});
