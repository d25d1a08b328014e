// Tests how a call is shown while the model writes it.

import assert from "node:assert/strict";
import {
  calls,
  inEveryVersion,
  says,
  scriptedModel,
  talk,
  toolStories,
  toolUpdates,
  written,
} from "../../test/support/agent-probe.ts";
import { customTool, stubRead, stubWrite } from "../../test/support/stub-tools.ts";
import type { ModelRequest } from "../model/model.ts";
import type { Tool } from "../tools/base/tool.ts";

const tools = [stubRead, stubWrite];
const write = ["write", { path: "long.txt", content: "x" }] as const;

inEveryVersion("a call is shown while the model writes it, and runs under the same id", {}, async (setup) => {
  const seen = Promise.withResolvers<void>();
  async function* slowly(_: ModelRequest) {
    yield { type: "tool_input" as const, id: "call-0", name: "write", text: "" };
    yield {
      type: "tool_input" as const,
      id: "call-0",
      name: "write",
      text: '{"path":"long.txt","content":"',
    };
    // the rest comes when the client has seen it
    await seen.promise;
    yield* calls(write);
  }
  const model = scriptedModel([slowly, says("done")]);
  const { session, updates } = await talk({ ...setup, tools, models: [model], mode: "code" });
  session.onUpdate(() => {
    if (toolStories(updates).includes("Write long.txt: pending")) seen.resolve();
  });
  await session.prompt("go").result;
  assert.deepEqual(toolStories(updates), ["Write long.txt: pending > in_progress > completed"]);
  assert.equal(new Set(toolUpdates(updates).map(({ toolCallId }) => toolCallId)).size, 1);
});

inEveryVersion("a call that is never finished ends with its turn", {}, async (setup) => {
  const half = written(write).slice(0, 2);
  async function* endless({ signal }: ModelRequest) {
    yield* half;
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }
  const model = scriptedModel([endless, [...half, ...says("Never mind.")]]);
  const { session, updates } = await talk({ ...setup, tools, models: [model] });
  const isWaiting = () => model.requests.length === 1 && toolStories(updates).includes("Write: pending");
  session.onUpdate(() => {
    if (isWaiting()) session.cancel();
  });
  assert.equal((await session.prompt("go").result).stopReason, "cancelled");
  // version 1 has no such status: the client knows it by itself
  const end = setup.version === 1 ? "cancelled > failed" : "cancelled";
  assert.deepEqual(toolStories(updates), [`Write: pending > ${end}`]);
  updates.length = 0;
  assert.equal((await session.prompt("again").result).stopReason, "end_turn");
  assert.deepEqual(toolStories(updates), ["Write: pending > failed"]);
});

inEveryVersion("an invalid call is shown with its tool's title", {}, async (setup) => {
  const outside = ["write", { path: "/etc/passwd", content: "" }] as const;
  const model = scriptedModel([
    calls(outside, ["delete", { path: "gone.txt" }], ["list", { depth: "x" }], ["nuke", {}]),
    says("done"),
    written(outside),
    says("done"),
  ]);
  const { session, updates } = await talk({ ...setup, models: [model] });
  await session.prompt("go").result;
  const failed = ["Write /etc/passwd", "Delete gone.txt", "List", "nuke"];
  assert.deepEqual(
    toolStories(updates),
    failed.map((title) => `${title}: pending > failed`),
  );
  const kinds = toolUpdates(updates).flatMap(({ kind }) => kind ?? []);
  assert.deepEqual(kinds, ["edit", "delete", "read", "other"]);
  updates.length = 0;
  await session.prompt("go").result;
  assert.deepEqual(toolStories(updates), ["Write /etc/passwd: pending > failed"]);
});

inEveryVersion(
  "a tool of one's own says how its drafts are shown and which modes offer it",
  {},
  async (setup) => {
    const own: Tool = {
      ...customTool("deploy", async () => "deployed"),
      draft: { title: "Deploy", kind: "execute" },
      modes: ["chat"],
    };
    const model = scriptedModel([calls(["deploy", {}]), says("done"), calls(["deploy", {}]), says("done")]);
    const { session, updates } = await talk({ ...setup, tools: [own], models: [model], mode: "chat" });
    await session.prompt("go").result;
    assert.deepEqual(toolStories(updates), ["deploy: pending > in_progress > completed"]);
    updates.length = 0;
    await session.setMode("code");
    await session.prompt("go").result;
    assert.deepEqual(toolStories(updates), ["Deploy: pending > failed"]);
  },
);

inEveryVersion("a draft shows the path under any name that models know", {}, async (setup) => {
  const model = scriptedModel([written(["read", { limit: 1, file_path: "none.txt" }]), says("done")]);
  const { session, updates } = await talk({ ...setup, models: [model], mode: "code" });
  const titles = new Set<string>();
  session.onUpdate(() => {
    for (const { title } of toolUpdates(updates)) if (title != null) titles.add(title);
  });
  await session.prompt("go").result;
  assert.deepEqual([...titles], ["Read", "Read none.txt", "Read none.txt (lines 1-1)"]);
});
