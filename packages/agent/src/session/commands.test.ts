import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { memoryStore } from "@parley/acp/store";
import {
  calls,
  connected,
  inEveryVersion,
  said,
  says,
  scriptedModel,
  talk,
} from "../../test/support/agent-probe.ts";
import { stubRead, stubWrite } from "../../test/support/stub-tools.ts";

const tools = [stubRead, stubWrite];
const all = ["help", "plan", "test", "clear", "compact", "undo", "redo", "model", "permissions"];

inEveryVersion("the commands are announced with hints, and the list follows the mode", {}, async (setup) => {
  const { session } = await talk({ ...setup, tools, models: [scriptedModel([])] });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    session.availableCommands.map(({ name }) => name),
    all,
  );
  const plan = session.availableCommands.find(({ name }) => name === "plan");
  assert.deepEqual(plan?.type === "command" && plan.input, { type: "text", hint: "what to plan" });
  await session.setMode("chat");
  assert.deepEqual(
    session.availableCommands.map(({ name }) => name),
    all.filter((name) => name !== "plan" && name !== "test"),
  );
});

inEveryVersion("/help says what there is, without asking the model", {}, async (setup) => {
  const model = scriptedModel([]);
  const { session, updates } = await talk({ ...setup, tools, models: [model] });
  assert.equal((await session.prompt("/help").result).stopReason, "end_turn");
  for (const name of all) assert.match(said(updates), new RegExp(`\`/${name}\``));
  assert.equal(model.requests.length, 0);
});

inEveryVersion(
  "/plan changes nothing, whatever the mode, and other content may come with it",
  {},
  async (setup) => {
    const model = scriptedModel([calls(["write", { path: "b", content: "x" }]), says("A plan.")]);
    const { session } = await talk({ ...setup, tools, models: [model], mode: "code" });
    await session.prompt([
      { type: "text", text: "/plan a blue button" },
      { type: "resource_link", uri: "file:///project/button.css", name: "button.css" },
    ]).result;
    const [request] = model.requests;
    assert.match(JSON.stringify(model.sent[0]?.messages.at(-1)), /Mode architect/);
    assert.match(
      JSON.stringify(request?.messages),
      /change nothing:\\na blue button.*file:\/\/\/project\/button.css/,
    );
    assert.equal(existsSync(join(setup.cwd, "b")), false);
  },
);

inEveryVersion("/test asks the model to run the tests", {}, async (setup) => {
  const model = scriptedModel([says("They pass.")]);
  const { session } = await talk({ ...setup, tools, models: [model] });
  await session.prompt("/test the parser").result;
  assert.match(JSON.stringify(model.requests[0]?.messages), /Run the project's tests.* the parser/);
});

inEveryVersion("/clear forgets the conversation, also after a load", {}, async (setup) => {
  const store = memoryStore();
  const model = scriptedModel([says("one"), says("two")]);
  const first = await talk({ ...setup, tools, models: [model], store });
  await first.session.prompt("my secret is 42").result;
  await first.session.prompt("/clear").result;
  await first.session.prompt("hello").result;
  assert.equal(model.requests[1]?.messages.length, 1);
  await first.end();
  const later = scriptedModel([says("three")]);
  const again = await connected({ ...setup, tools, models: [later], store });
  const session = await again.agent.loadSession(first.session.sessionId, { cwd: setup.cwd });
  await session.prompt("and?").result;
  assert.deepEqual(
    later.requests[0]?.messages.map(({ role }) => role),
    ["user", "assistant", "user"],
  );
  assert.doesNotMatch(JSON.stringify(later.requests[0]?.messages), /42/);
});

inEveryVersion("A83 the options that matter most come first: mode, then model", {}, async (setup) => {
  const { session } = await talk({ ...setup, models: [scriptedModel([])] });
  const ids = session.configOptions.map(({ configId }) => configId);
  assert.deepEqual(ids.slice(0, 2), ["mode", "model"]);
});

inEveryVersion("/model lists and switches, and the option follows", {}, async (setup) => {
  const one = scriptedModel([], { id: "one", name: "One" });
  const two = scriptedModel([says("I am two.")], { id: "two", name: "Two" });
  const { session, updates } = await talk({ ...setup, tools, models: [one, two] });
  await session.prompt("/model").result;
  assert.match(said(updates), /`one` One \(chosen\)\n- `two` Two\n- `offline`/);
  await session.prompt("/model three").result;
  assert.match(said(updates), /There is no model `three`/);
  await session.prompt("/model two").result;
  const option = session.configOptions.find(({ category }) => category === "model");
  assert.equal(option?.type === "select" && option.currentValue, "two");
  updates.length = 0;
  await session.prompt("hi").result;
  assert.equal(said(updates), "I am two.");
});

inEveryVersion("a path at the beginning of a message is no command", {}, async (setup) => {
  const model = scriptedModel([says("Yes.")]);
  const { session } = await talk({ ...setup, tools, models: [model] });
  await session.prompt("/etc/hosts is what?").result;
  assert.match(JSON.stringify(model.requests[0]?.messages), /\/etc\/hosts is what/);
});
