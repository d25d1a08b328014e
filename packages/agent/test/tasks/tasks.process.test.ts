// Twelve recorded tasks in small repositories with three families of models, and how often the user is asked.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inSandbox } from "../../../sandbox/test/support/required-sandbox.ts";
import { modelFamilies } from "./model-families.ts";
import { repositoryTasks } from "./repository-tasks.ts";
import { runTask } from "./run-task.ts";

for (const family of modelFamilies) {
  for (const task of repositoryTasks) {
    test(`a model with ${family.name} ${task.name}`, async (t) => {
      const { stories, questions } = await runTask(t, task, family, { sandbox: "off" });
      assert.equal(questions, task.questions.open, stories.join("\n"));
    });
  }
}

for (const task of repositoryTasks) {
  const asked = `${task.questions.sandboxed} question${task.questions.sandboxed === 1 ? "" : "s"}`;
  test(`with commands in the sandbox, a model that ${task.name} asks ${asked}`, inSandbox, async (t) => {
    const [family] = modelFamilies;
    assert.ok(family);
    const { stories, questions } = await runTask(t, task, family, { sandbox: "workspace" });
    assert.equal(questions, task.questions.sandboxed, stories.join("\n"));
  });
}
