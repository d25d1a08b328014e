// `parley agents check`: what can be chosen and typed in a session of an agent.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentScenario } from "@parley/conformance/testing";
import { agentHome, patience } from "../../test/support/agents-probe.ts";

const choice = (value: string) => ({ value, name: `The ${value}` });
const able: Partial<AgentScenario> = {
  open: {
    configOptions: [
      {
        configId: "mode",
        name: "Mode",
        category: "mode",
        type: "select",
        currentValue: "ask",
        options: [choice("ask"), { ...choice("code"), description: "Edits files" }],
      },
      {
        configId: "llm",
        name: "Model",
        category: "model",
        type: "select",
        currentValue: "m1",
        options: [
          {
            groupId: "all",
            name: "All of them",
            options: Array.from({ length: 25 }, (_, at) => choice(`m${at + 1}`)),
          },
        ],
      },
      { configId: "web", name: "Web", type: "boolean", currentValue: true },
      {
        configId: "tone",
        name: "Tone",
        category: "_vendor/tone",
        type: "select",
        currentValue: "dry",
        options: [choice("dry")],
      },
    ],
    availableCommands: [
      { type: "command", name: "test", description: "Runs the \u001b[2Jtests" },
      { type: "command", name: "find", description: "Finds it", input: { type: "text", hint: "what" } },
    ],
  },
};

for (const version of [1, 2] as const) {
  test(
    `the choices of every option and the commands are listed in the agent's order, version ${version} (C36, C37)`,
    patience,
    async (t) => {
      const { parley, agent } = agentHome(t);
      const command = agent({ ...able, editions: [`v${version}`] });
      const { status, stdout, stderr } = await parley(["agents", "check", "--no-tools", "--", ...command]);
      assert.equal(status, 0, stderr);
      assert.match(stdout, /^options: +mode = ask {2}\(--mode ask \| code\)$/m);
      assert.match(stdout, /^ +llm = m1 {2}\(--model m1 \| m2 \|.* m20 \| 5 more, see --json\)$/m);
      assert.match(stdout, /^ +web = true {2}\(--set web=true \| false\)$/m);
      assert.match(stdout, /^ +tone = dry {2}\(--set tone=dry\)$/m);
      assert.deepEqual(
        [...stdout.matchAll(/(\w+) = \w+ {2}\(--/g)].map(([, id]) => id),
        ["mode", "llm", "web", "tone"],
      );
      assert.match(stdout, /^commands: +\/test {2}Runs the tests$/m);
      assert.match(stdout, /^ +\/find what {2}Finds it$/m);
      const { data } = JSON.parse(
        (await parley(["agents", "check", "--no-tools", "--json", "--", ...command])).stdout,
      );
      assert.deepEqual(data.options[0].choices, [
        { value: "ask", name: "The ask" },
        { value: "code", name: "The code", description: "Edits files" },
      ]);
      assert.deepEqual(
        [data.options[1].choices.length, data.options[1].choices[24].group],
        [25, "All of them"],
      );
      assert.deepEqual(data.commands[1], { name: "find", description: "Finds it", hint: "what" });
    },
  );
}

test("commands that an agent names after it has answered are waited for", patience, async (t) => {
  const { parley, agent } = agentHome(t);
  const late = { steps: [{ delay: 100 }, { availableCommands: able.open?.availableCommands ?? [] }] };
  const { stdout } = await parley([
    "agents",
    "check",
    "--no-tools",
    "--",
    ...agent({ editions: ["v1"], open: late }),
  ]);
  assert.match(stdout, /^commands: +\/test/m);
});

test("the session is opened where --cwd says, and that must be a directory", patience, async (t) => {
  const { parley, agent, folder } = agentHome(t);
  // the title of a command says where the session is
  const here = {
    steps: [{ availableCommands: [{ type: "command", name: "here", description: "{{cwd}}" }] }],
  };
  const command = agent({ editions: ["v2"], open: here } as never);
  const { stdout } = await parley(["agents", "check", "--no-tools", "--cwd", folder, "--", ...command]);
  assert.match(stdout, new RegExp(`/here +${folder}`));
  const wrong = await parley(["agents", "check", "--cwd", `${folder}/none`, "--", ...command]);
  assert.deepEqual([wrong.status, /--cwd: .*none is not a directory/.test(wrong.stderr)], [2, true]);
});

test("an agent that offers nothing is said to", patience, async (t) => {
  const { parley, agent } = agentHome(t);
  const { stdout } = await parley(["agents", "check", "--no-tools", "--", ...agent({})]);
  assert.match(stdout, /^options: +none\ncommands: +none$/m);
});
