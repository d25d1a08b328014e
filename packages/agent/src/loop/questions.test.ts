import assert from "node:assert/strict";
import {
  calls,
  inEveryVersion,
  says,
  scriptedModel,
  talk,
  toolStories,
} from "../../test/support/agent-probe.ts";
import { customTool } from "../../test/support/stub-tools.ts";

const color = customTool(
  "color",
  async ({ ask }) => (await ask("Which color?", ["red", "blue"])) ?? "no answer",
);
const name = customTool("name", async ({ ask }) => (await ask("What is its name?", [])) ?? "no answer");

const script = () => scriptedModel([calls(["color", {}], ["name", {}]), says("ok")]);

inEveryVersion("a tool asks by a form where the client has forms", {}, async (setup) => {
  const model = script();
  const asked: string[] = [];
  const { session } = await talk({
    ...setup,
    tools: [color, name],
    models: [model],
    clientDefinition: {
      elicit(ask) {
        asked.push(ask.message);
        return { action: "accept", content: { answer: asked.length === 1 ? "blue" : "Tom" } };
      },
    },
  });
  await session.prompt("go").result;
  assert.deepEqual(asked, ["Which color?", "What is its name?"]);
  assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /"blue".*"Tom"/);
});

inEveryVersion(
  "a tool asks with buttons where the client has no forms, and gets no free text",
  {},
  async (setup) => {
    const model = script();
    const { session, asks, updates } = await talk({
      ...setup,
      tools: [color, name],
      models: [model],
      answers: ["option-1"],
    });
    await session.prompt("go").result;
    assert.deepEqual(
      asks.map(({ options }) => options.map((option) => option.name)),
      [["red", "blue", "No answer"]],
    );
    assert.match(JSON.stringify(asks), /"Which color\?"/);
    // at the call that asks, not beside it
    assert.deepEqual(toolStories(updates), [
      "color: pending > in_progress > completed",
      "name: pending > in_progress > completed",
    ]);
    assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /"blue".*"no answer"/);
  },
);

inEveryVersion("A97 an address among the answers is shown without its scheme", {}, async (setup) => {
  const site = customTool(
    "site",
    async ({ ask }) => (await ask("Which?", ["https://a.example/x", "b"])) ?? "none",
  );
  const model = scriptedModel([calls(["site", {}]), says("ok")]);
  const forms: string[] = [];
  const { session } = await talk({
    ...setup,
    tools: [site],
    models: [model],
    clientDefinition: {
      elicit(ask) {
        forms.push(JSON.stringify(ask));
        return { action: "accept", content: { answer: "https://a.example/x" } };
      },
    },
  });
  await session.prompt("go").result;
  assert.match(forms.join(), /"title":"a\.example\/x"/);
  assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /https:\/\/a\.example\/x/);
});

inEveryVersion("a declined form counts as no answer", {}, async (setup) => {
  const model = script();
  const { session } = await talk({
    ...setup,
    tools: [color, name],
    models: [model],
    clientDefinition: { elicit: () => ({ action: "decline" }) },
  });
  await session.prompt("go").result;
  assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /"no answer".*"no answer"/);
});

inEveryVersion("effort and the longest answer reach the model", {}, async (setup) => {
  const model = scriptedModel([says("ok"), says("ok")]);
  const { session } = await talk({ ...setup, tools: [], models: [model] });
  await session.prompt("go").result;
  await session.setConfigOption("effort", "low");
  await session.setConfigOption("maxTokens", "4096");
  await session.prompt("go").result;
  assert.deepEqual(
    model.requests.map(({ effort, maxTokens }) => [effort, maxTokens]),
    [
      ["medium", undefined],
      ["low", 4_096],
    ],
  );
});
