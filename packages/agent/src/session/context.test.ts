import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  calls,
  connected,
  inEveryVersion,
  says,
  scriptedModel,
  talk,
  temporaryFolder,
} from "../../test/support/agent-probe.ts";
import { customTool, stubRead } from "../../test/support/stub-tools.ts";

const tools = [stubRead];

inEveryVersion(
  "AGENTS.md files are read from the repository root down to the working directory",
  {
    "repo/AGENTS.md": "Use tabs.",
    "repo/app/AGENTS.md": "No, spaces.",
    "AGENTS.md": "Not of this repository.",
  },
  async ({ version, cwd }) => {
    mkdirSync(join(cwd, "repo/.git"));
    mkdirSync(join(cwd, "repo/app/deep"));
    const model = scriptedModel([says("ok")]);
    const { session } = await talk({ version, cwd: join(cwd, "repo/app/deep"), tools, models: [model] });
    await session.prompt("hi").result;
    const { system = "" } = model.requests[0] ?? {};
    assert.ok(system.indexOf("Use tabs.") < system.indexOf("No, spaces."));
    assert.ok(system.includes("Use tabs."));
    assert.doesNotMatch(system, /Not of this repository/);
    assert.match(system, new RegExp(`Working directory: ${join(cwd, "repo/app/deep")}`));
  },
);

inEveryVersion(
  "A45 the AGENTS.md files of additional directories are read too; an earlier root takes precedence",
  { "one/AGENTS.md": "Use tabs.", "two/AGENTS.md": "Use spaces.", "three/AGENTS.md": "Use both." },
  async ({ version, cwd }) => {
    const model = scriptedModel([says("ok")]);
    const { agent } = await talk({ version, cwd: join(cwd, "one"), tools, models: [model] });
    const additionalDirectories = [join(cwd, "two"), join(cwd, "three")];
    const session = await agent.newSession({ cwd: join(cwd, "one"), additionalDirectories });
    await session.prompt("hi").result;
    const { system = "" } = model.requests[0] ?? {};
    assert.match(system, /Use both\..*Use spaces\..*Use tabs\..*follow the last ones/s);
  },
);

for (const mode of ["append", "override"] as const) {
  test(`a system prompt of the client that says ${mode} is honoured`, {
    timeout: 20_000,
  }, async (context) => {
    const cwd = temporaryFolder(context, {});
    const model = scriptedModel([says("ok")]);
    const { agent } = await talk({
      version: 2,
      cwd,
      tools,
      models: [model],
      clientDefinition: { unstable: ["system_prompt"] },
    });
    const systemPrompt = { mode, content: [{ type: "text" as const, text: "Speak like a pirate." }] };
    const session = await agent.newSession({ cwd, systemPrompt });
    await session.prompt("hi").result;
    assert.match(model.requests[0]?.system ?? "", /Speak like a pirate/);
    assert.equal(/You are Parley/.test(model.requests[0]?.system ?? ""), mode === "append");
  });
}

inEveryVersion(
  "links and embedded files reach the model, and what is for the user alone does not",
  {},
  async (setup) => {
    const model = scriptedModel([says("ok")]);
    const { session } = await talk({ ...setup, tools, models: [model] });
    await session.prompt([
      { type: "text", text: "Look at this" },
      { type: "text", text: "only for my eyes", annotations: { audience: ["user"] } },
      { type: "text", text: "for both", annotations: { audience: ["user", "assistant"] } },
      { type: "resource_link", uri: "file:///project/a.ts", name: "a.ts" },
      { type: "resource", resource: { uri: "file:///project/b.ts", text: "const b = 1;" } },
    ]).result;
    const [message] = model.requests[0]?.messages ?? [];
    assert.ok(message?.role === "user");
    const text = message.content.map((part) => (part.type === "text" ? part.text : "?"));
    assert.deepEqual(text, [
      "Look at this\n\nfor both",
      "[The user refers to file:///project/a.ts (a.ts); read it if you need it.]",
      '<resource uri="file:///project/b.ts">\nconst b = 1;\n</resource>',
    ]);
  },
);

inEveryVersion("an empty prompt is refused and forgotten", {}, async (setup) => {
  const model = scriptedModel([says("ok")]);
  const { session } = await talk({ ...setup, models: [model], tools: [] });
  const forUser = { type: "text", text: "for your eyes", annotations: { audience: ["user"] } } as const;
  // a client of another library may send it
  const empty = [{ type: "text", text: "" }] as const;
  for (const nothing of [empty, " \n", [forUser]] as const) {
    const { stopReason, error } = await session.prompt(nothing as string).result;
    assert.equal(stopReason, "error");
    assert.equal(error?.code, -32_602);
    assert.match(error?.message ?? "", /^The prompt is empty\. Write something/);
  }
  await session.prompt("hello").result;
  assert.equal(model.requests.length, 1);
  assert.equal(model.requests[0]?.messages.length, 1);
});

inEveryVersion("a session needs an existing directory", { "a.txt": "1" }, async (setup) => {
  const { agent, end } = await connected({ ...setup, tools: [] });
  const gone = join(setup.cwd, "gone");
  await assert.rejects(agent.newSession({ cwd: gone }), {
    code: -32_602,
    message: `the working directory "${gone}" does not exist: choose an existing directory`,
  });
  await assert.rejects(agent.newSession({ cwd: join(setup.cwd, "a.txt") }), /is not a directory/);
  await assert.rejects(
    agent.newSession({ cwd: setup.cwd, additionalDirectories: [gone] }),
    /the additional directory .* does not exist/,
  );
  assert.deepEqual((await agent.listSessions()).sessions, []);
  await end();
});

inEveryVersion(
  "B3 modes, jobs and changed rules leave the beginning of a conversation as it is",
  { "AGENTS.md": "Use tabs." },
  async (setup) => {
    const { session, model } = await (async () => {
      const change = customTool("change", async () => {
        writeFileSync(join(setup.cwd, "AGENTS.md"), "Use spaces.");
        await made.session.setMode("code");
        return "changed";
      });
      const script = scriptedModel([calls(["change", {}]), says("one"), says("two"), says("three")]);
      const made = await talk({ ...setup, tools: [...tools, change], models: [script] });
      return { session: made.session, model: script };
    })();
    await session.prompt("go").result;
    await session.prompt("more").result;
    await session.setMode("architect");
    await session.prompt("plan").result;
    const heads = model.sent.map((request) => JSON.stringify([request.system, request.tools]));
    assert.equal(new Set(heads).size, 1);
    for (const [i, { messages }] of model.sent.slice(1).entries()) {
      const before = model.sent[i]?.messages ?? [];
      assert.deepEqual(messages.slice(0, before.length), before, "what was sent stays as it was");
    }
    const modes = model.sent.map(({ messages }) =>
      [...JSON.stringify(messages).matchAll(/Mode (\w+):/g)].map(([, mode]) => mode),
    );
    assert.deepEqual(modes, [["ask"], ["ask", "code"], ["ask", "code"], ["ask", "code", "architect"]]);
  },
);
