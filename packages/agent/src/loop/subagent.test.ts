import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { SessionUpdate } from "@parley/acp";
import { memoryStore } from "@parley/acp/store";
import {
  calls,
  connected,
  inEveryVersion,
  says,
  scriptedModel,
  talk,
  temporaryFolder,
  toolStories,
  toolUpdates,
} from "../../test/support/agent-probe.ts";
import { ModelError, type ModelEvent, type ModelRequest } from "../model/model.ts";

const research = { description: "Find the number", prompt: "Which number is in a.txt?" };

/** Which task a request belongs to; undefined for the model that asked. */
function taskOf({ system, messages }: ModelRequest): string | undefined {
  if (!system.startsWith("You research one task")) return undefined;
  const [first] = messages;
  const [part] = first?.role === "user" ? first.content : [];
  return part?.type === "text" ? part.text : "";
}

/** The text of the outcomes that a request ends with. */
function told(request: ModelRequest | undefined): string[] {
  const last = request?.messages.findLast(({ role }) => role === "tool");
  if (last?.role !== "tool") return [];
  return last.outcomes.map(({ content }) =>
    content.map((each) => ("text" in each ? each.text : "")).join("; "),
  );
}

/** The ids of calls and of the calls that they are shown below. */
function parents(updates: readonly SessionUpdate[]): [title: string, parent: string | undefined][] {
  const shown = toolUpdates(updates);
  const titleOf = (id: string) =>
    shown.find(({ toolCallId, title }) => toolCallId === id && title)?.title ?? "";
  const ids = [...new Set(shown.map(({ toolCallId }) => toolCallId))];
  return ids.map((id) => {
    const claude = shown.find(({ toolCallId, _meta }) => toolCallId === id && _meta != null)?._meta?.[
      "claudeCode"
    ];
    const parent = (claude as { parentToolUseId?: string } | undefined)?.parentToolUseId;
    return [titleOf(id), parent === undefined ? undefined : titleOf(parent)];
  });
}

inEveryVersion(
  "a task is researched by a subagent: its calls are shown below the task, and the model gets its report",
  { "a.txt": "42\n" },
  async (setup) => {
    const store = memoryStore();
    const model = scriptedModel([
      calls(["task", research]),
      calls(["read", { path: "a.txt" }], ["bash", { command: "true" }]),
      says("The number is 42 (a.txt:1)."),
      says("It is 42."),
    ]);
    const before = await talk({ ...setup, models: [model], mode: "code", store });
    const { usage } = await before.session.prompt("which number?").result;
    const nested = [
      ["Task: Find the number", undefined],
      ["Read a.txt", "Task: Find the number"],
      ["bash", "Task: Find the number"],
    ];
    assert.deepEqual(parents(before.updates), nested);
    assert.deepEqual(
      toolStories(before.updates).at(0),
      "Task: Find the number: pending > in_progress > completed",
    );
    const [asked, first, second, after] = model.requests;
    assert.equal(taskOf(first!), research.prompt);
    assert.deepEqual(
      first?.tools.map(({ name }) => name),
      ["read", "list", "find", "grep"],
    );
    assert.match(told(second)[1] ?? "", /There is no tool "bash".*Available tools: read, list, find, grep/);
    assert.equal(after?.system, asked?.system);
    assert.deepEqual(told(after), ["The number is 42 (a.txt:1)."]);
    if (usage !== undefined && usage !== null) assert.equal(usage.totalTokens, 4 * 110);
    await before.end();

    const again = scriptedModel([says("Still 42.")]);
    const link = await connected({ ...setup, models: [again], store });
    const replayed: SessionUpdate[] = [];
    const session = await link.agent.loadSession(before.session.sessionId, {
      cwd: setup.cwd,
      onUpdate: (update) => void replayed.push(update),
    });
    assert.deepEqual(parents(replayed), nested);
    await session.prompt("still?").result;
    const { messages = [] } = again.requests[0] ?? {};
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["user", "assistant", "tool", "assistant", "user"],
      "the model has the task and its report, and no call of the subagent",
    );
    assert.deepEqual(told(again.requests[0]), ["The number is 42 (a.txt:1)."]);
  },
);

test("several tasks of one answer are researched at the same time", { timeout: 20_000 }, async (context) => {
  const cwd = temporaryFolder(context, {});
  const prompts = ["one", "two", "three"];
  const together = Promise.withResolvers<void>();
  let running = 0;
  async function* answer(request: ModelRequest): AsyncIterable<ModelEvent> {
    running += 1;
    if (running === prompts.length) together.resolve();
    await together.promise;
    yield* says(`report of ${taskOf(request)}`);
  }
  const tasks = prompts.map((prompt) => ["task", { description: prompt, prompt }] as const);
  const model = scriptedModel([calls(...tasks), answer, answer, answer, says("done")]);
  const { session } = await talk({ version: 2, cwd, models: [model] });
  await session.prompt("go").result;
  assert.deepEqual(
    told(model.requests.at(-1)),
    prompts.map((prompt) => `report of ${prompt}`),
  );
});

/** Never answers. */
async function* hangs({ signal }: ModelRequest): AsyncIterable<ModelEvent> {
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  yield { type: "text", text: "" };
  throw new ModelError("aborted", "aborted");
}

inEveryVersion("a cancel of the turn stops the subagent", {}, async (setup) => {
  const begun = Promise.withResolvers<void>();
  const model = scriptedModel([
    calls(["task", research]),
    (request) => {
      begun.resolve();
      return hangs(request);
    },
  ]);
  const { session, updates } = await talk({ ...setup, models: [model] });
  const { result } = session.prompt("go");
  await begun.promise;
  await session.cancel();
  assert.equal((await result).stopReason, "cancelled");
  // version 1 has no word for it
  assert.match(toolStories(updates)[0] ?? "", setup.version === 1 ? /> failed$/ : /> cancelled$/);
});

test("a user can cancel a task alone, with the question of its call; the model goes on", {
  timeout: 20_000,
}, async (context) => {
  const cwd = temporaryFolder(context, { ".env": "KEY=1\n" });
  const model = scriptedModel([
    calls(["task", research]),
    calls(["read", { path: ".env" }]),
    says("Then not."),
  ]);
  const asked = Promise.withResolvers<void>();
  const clientDefinition = {
    requestPermission: () => {
      asked.resolve();
      return new Promise<undefined>(() => undefined);
    },
  };
  const { session, updates } = await talk({ version: 2, cwd, models: [model], clientDefinition });
  const { result } = session.prompt("go");
  await asked.promise;
  const task = toolUpdates(updates).find(({ title }) => title === "Task: Find the number");
  await session.cancelToolCall(task?.toolCallId ?? "");
  assert.equal((await result).stopReason, "end_turn");
  assert.deepEqual(told(model.requests.at(-1)), ["The user cancelled this call."]);
  assert.deepEqual(
    toolStories(updates).map((story) => story.replace(/.*> /, "")),
    ["cancelled", "cancelled"],
  );
});

inEveryVersion(
  "a question about a call of a subagent names its task; what it reads counts as unread by the model",
  { ".env": "KEY=1\n", "a.txt": "old\n" },
  async (setup) => {
    const model = scriptedModel([
      calls(["task", research]),
      calls(["read", { path: ".env" }], ["read", { path: "a.txt" }]),
      says("KEY is 1"),
      calls(["write", { path: "a.txt", content: "new\n" }]),
      says("ok"),
    ]);
    const { session, asks, cwd } = await talk({
      ...setup,
      models: [model],
      mode: "code",
      answers: ["allow_once"],
    });
    await session.prompt("go").result;
    assert.equal(asks[0]?.title, "Read .env");
    assert.match(JSON.stringify(asks[0]), /for the task \\"Find the number\\": [^"]*\.env may hold secrets"/);
    assert.match(told(model.requests.at(-1))[0] ?? "", /read/);
    assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "old\n");
  },
);

const fails = (kind: ConstructorParameters<typeof ModelError>[0], message: string) =>
  // biome-ignore lint/correctness/useYield: it fails at once
  async function* () {
    throw new ModelError(kind, message);
  };

inEveryVersion("a failure of a subagent is the outcome of its task", {}, async (setup) => {
  const model = scriptedModel([
    calls(["task", research], ["task", research]),
    fails("unavailable", "The server is down."),
    fails("overflow", "Too long."),
    calls(["task", research]),
    [{ type: "end", cause: "stop", usage: undefined }],
    says("ok"),
  ]);
  const { session, updates } = await talk({ ...setup, models: [model] });
  assert.equal((await session.prompt("go").result).stopReason, "end_turn");
  assert.deepEqual(told(model.requests[3]), [
    "the subagent failed: The server is down.",
    "the subagent failed: Too long.; give it a smaller task, or several",
  ]);
  assert.deepEqual(told(model.requests.at(-1)), ["the subagent gave no report"]);
  assert.match(toolStories(updates)[0] ?? "", /> failed$/);
});

test("a subagent whose conversation is too long goes on without the output of its first calls", {
  timeout: 20_000,
}, async (context) => {
  const cwd = temporaryFolder(context, { "long.txt": "many words\n".repeat(3_000), "b.txt": "b\n" });
  const model = scriptedModel(
    [
      calls(["task", research]),
      calls(["read", { path: "long.txt" }]),
      calls(["read", { path: "b.txt" }]),
      fails("overflow", "Too long."),
      says("done"),
      says("ok"),
    ],
    { contextWindow: 30_000 },
  );
  const { session } = await talk({ version: 2, cwd, models: [model] });
  await session.prompt("go").result;
  const retried = JSON.stringify(model.requests[4]?.messages);
  assert.match(retried, /The rest of this output was dropped/);
  assert.ok(retried.length < 3_000);
  assert.deepEqual(told(model.requests.at(-1)), ["done"]);
});

test("a subagent asks for no longer answer than there is room for", { timeout: 20_000 }, async (context) => {
  const cwd = temporaryFolder(context, { "a.txt": "1\n" });
  const nearlyFull: ModelEvent[] = [
    { type: "tool_call", id: "1", name: "read", input: { path: "a.txt" } },
    { type: "end", cause: "tool_calls", usage: { input: 79_900, output: 100 } },
  ];
  const answers = [calls(["task", research]), nearlyFull, says("report"), says("done")];
  const model = scriptedModel(answers, { contextWindow: 100_000, maxOutput: 32_000 });
  const { session, end } = await talk({ version: 2, cwd, models: [model] });
  await session.prompt("go").result;
  const limits = model.requests.map(({ maxTokens = 0 }) => maxTokens);
  assert.equal(limits[1], 32_000);
  assert.ok((limits[2] ?? 0) <= 18_000 && (limits[2] ?? 0) > 17_000, String(limits[2]));
  assert.equal(limits[3], 32_000, "the conversation of the agent itself is short");
  await end();
});

test("a subagent that never reports ends after 40 requests, and its last one is announced", {
  timeout: 20_000,
}, async (context) => {
  const cwd = temporaryFolder(context, { "a.txt": "1\n" });
  const reads = Array.from({ length: 40 }, () => calls(["list", {}]));
  const model = scriptedModel([calls(["task", research]), ...reads, says("ok")]);
  const { session } = await talk({ version: 2, cwd, models: [model] });
  await session.prompt("go").result;
  assert.match(JSON.stringify(model.sent[40]?.messages.at(-1)), /This is your last answer/);
  assert.match(told(model.requests.at(-1))[0] ?? "", /no report within 40 requests/);
});

inEveryVersion(
  "the subagents of a turn together make no more requests than a turn may",
  {},
  async (setup) => {
    let asked = 0;
    const many = Array.from(
      { length: 20 },
      (_, i) => ["task", { ...research, prompt: `part ${i}` }] as const,
    );
    const answer = async function* (request: ModelRequest): AsyncGenerator<ModelEvent> {
      if (taskOf(request) !== undefined) yield* calls(["list", {}]);
      else yield* asked++ === 0 ? calls(...many) : says("done");
    };
    const model = scriptedModel(Array.from({ length: 1_000 }, () => answer));
    const { session } = await talk({ ...setup, models: [model], maxRequests: 50 });
    await session.prompt("go").result;
    assert.equal(model.requests.filter((request) => taskOf(request) !== undefined).length, 50);
    assert.match(
      told(model.requests.at(-1)).at(-1) ?? "",
      /as many requests as they may; do the rest yourself/,
    );
  },
);
