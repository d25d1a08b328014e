// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// Runs a recorded task with the whole agent, against a local server that speaks the provider's protocol.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { modelAt } from "../fake-provider/asking.ts";
import { type Answer, fakeProvider, streamed } from "../fake-provider/fake-provider.ts";
import { type TalkOptions, talk, temporaryFolder, toolStories } from "../support/agent-probe.ts";
import type { ModelFamily } from "./model-families.ts";
import { callsOf, type RepositoryTask, repositoryFolder } from "./repository-tasks.ts";

export interface TaskOutcome {
  /** How many questions the user was asked. */
  readonly questions: number;
  /** `title: pending > completed`, call by call. */
  readonly stories: readonly string[];
}

/** Throws when the provider would refuse a request, a turn does not end well, or the work is not done. */
export async function runTask(
  context: TestContext,
  task: RepositoryTask,
  family: ModelFamily,
  options: Pick<TalkOptions, "sandbox">,
): Promise<TaskOutcome> {
  const cwd = temporaryFolder(context, task.files);
  const web = await fakeProvider((exchange) => exchange.text(200, "<p>The limit is 7.</p>", "text/html"));
  const answer: Answer = (exchange, index) => {
    const { body } = exchange.request;
    const fault = family.fault(body as never);
    if (fault !== undefined) return exchange.json(400, { error: { message: fault } });
    const step = task.steps[index] ?? [];
    const seen = { conversation: JSON.stringify(body.messages ?? body.input), page: `${web.url}/limits` };
    const calls = callsOf(step, seen).map((call) => family.spelt(call));
    return streamed(family.answer(calls, "Done."))(exchange, index);
  };
  const fake = await fakeProvider(answer);
  let questions = 0;
  const made = await talk({
    version: 2,
    cwd,
    models: [modelAt(fake.url, family.model)],
    mode: task.mode ?? "code",
    privateHosts: [new URL(web.url).host],
    clientDefinition: {
      requestPermission(question) {
        questions += 1;
        return question.options.find(({ kind }) => kind === "allow_once")?.optionId;
      },
    },
    ...options,
  });
  try {
    const { stopReason } = await made.session.prompt(task.name).result;
    assert.equal(stopReason, "end_turn");
    assert.equal(fake.requests.length, task.steps.length + 1, "a step was repeated or left out");
    task.check(repositoryFolder(cwd), JSON.stringify(fake.requests.at(-1)?.body));
    assert.deepEqual(fake.faults, []);
    return { questions, stories: toolStories(made.updates) };
  } finally {
    await made.end();
    await Promise.all([fake.close(), web.close()]);
  }
}
