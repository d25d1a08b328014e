// The coding agent as a library: tools of one's own, and a system prompt of one's own.

import assert from "node:assert/strict";
import { defineTool, readTool } from "../src/tools.ts";
import { calls, inEveryVersion, says, scriptedModel, talk, toolStories } from "./support/agent-probe.ts";

const shout = defineTool({
  name: "shout",
  description: "Say it louder.",
  isReadOnly: true,
  properties: { text: { type: "string" }, times: { type: "integer", minimum: 1 } },
  required: ["text"],
  prepare: ({ text, times = 1 }) => ({
    presentation: { title: `Shout ${text}`, kind: "other" },
    access: { type: "none" },
    run: () => text.toUpperCase().repeat(times),
  }),
});

inEveryVersion(
  "a tool of one's own is called beside the built-in ones",
  { "a.txt": "alpha\n" },
  async (setup) => {
    const model = scriptedModel([
      calls(["shout", { text: "hey", times: "2" }], ["read", { path: "a.txt" }], ["shout", { times: 0 }]),
      says("done"),
    ]);
    const { session, updates, end } = await talk({ ...setup, models: [model], extraTools: [shout] });
    await session.prompt("go").result;
    const names = model.requests[0]?.tools.map(({ name }) => name) ?? [];
    assert.ok(names.includes("bash"));
    assert.equal(names.at(-1), "shout");
    const told = JSON.stringify(model.requests[1]?.messages.at(-1));
    assert.match(told, /HEYHEY.*alpha.*shout: times must be a whole number from 1 up, got 0/s);
    assert.match(toolStories(updates).join("\n"), /^Shout hey: .*completed$/m);
    await end();
  },
);

inEveryVersion("a tool with the name of a built-in one takes its place", {}, async (setup) => {
  const own = { ...shout, name: "read" };
  const model = scriptedModel([calls(["read", { text: "mine" }]), says("done")]);
  const { session, end } = await talk({ ...setup, models: [model], extraTools: [own] });
  await session.prompt("go").result;
  const tools = model.requests[0]?.tools.filter(({ name }) => name === "read") ?? [];
  assert.deepEqual(
    tools.map(({ description }) => description),
    ["Say it louder."],
  );
  assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /MINE/);
  await end();
});

inEveryVersion("only the tools that are named are offered", {}, async (setup) => {
  const model = scriptedModel([says("done")]);
  const { session, end } = await talk({ ...setup, models: [model], tools: [readTool], extraTools: [shout] });
  await session.prompt("go").result;
  assert.deepEqual(
    model.requests[0]?.tools.map(({ name }) => name),
    ["read", "shout"],
  );
  await end();
});

inEveryVersion(
  "a system prompt of one's own is added to ours, or replaces it",
  { "AGENTS.md": "Be kind." },
  async (setup) => {
    const systemOf = async (systemPrompt: string | ((ours: string) => string)) => {
      const model = scriptedModel([says("done")]);
      const { session, end } = await talk({ ...setup, models: [model], systemPrompt });
      await session.prompt("go").result;
      await end();
      return model.requests[0]?.system ?? "";
    };
    assert.match(
      await systemOf("Speak like a sailor."),
      /^You are Parley.*Speak like a sailor\..*Be kind\./s,
    );
    const replaced = await systemOf((ours) => `I replace ${ours.length > 100}.`);
    assert.match(replaced, /^I replace true\..*Be kind\./s);
    assert.doesNotMatch(replaced, /You are Parley/);
  },
);
