import assert from "node:assert/strict";
import { test } from "node:test";
import { entriesOf } from "../../test/support/sample-entries.ts";
import type { PermissionRequest } from "../model/ask.ts";
import type { ToolCallStatus } from "../model/content.ts";
import type { EntryBody } from "../model/entry.ts";
import { viewFrom } from "../view.ts";

const permission: PermissionRequest = {
  title: "Write a.ts?",
  subject: { type: "tool_call", toolCall: { toolCallId: "t", title: "Write a.ts", kind: "edit" } },
  options: [
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ],
};
const ask: EntryBody = { kind: "ask", askId: "1", permission };

function answer(optionId: string): EntryBody {
  return { kind: "answer", askId: "1", permission: { outcome: "selected", optionId } };
}

function status(value: ToolCallStatus): EntryBody {
  return { kind: "update", update: { sessionUpdate: "tool_call_update", toolCallId: "t", status: value } };
}

const running: EntryBody = { kind: "update", update: { sessionUpdate: "state_update", state: "running" } };

test("the tool call in a permission is applied like an update, before the question (C60)", () => {
  const view = viewFrom(entriesOf([status("in_progress"), ask]));
  assert.deepEqual(
    view.timeline.map(({ key }) => key),
    ["tool_call:t", "ask:1"],
  );
  const { title, toolKind, status: shown } = view.toolCalls.get("t")!;
  assert.deepEqual([title, toolKind, shown], ["Write a.ts", "edit", "in_progress"]);
});

test("a call that only a permission ever named is shown, and its title is the call's own (C60)", () => {
  const view = viewFrom(entriesOf([ask]));
  assert.equal(view.toolCalls.get("t")?.title, "Write a.ts");
});

test("a question is pending until it is answered, and the answer stands with it", () => {
  assert.deepEqual([...viewFrom(entriesOf([ask])).pendingAsks.keys()], ["1"]);
  const view = viewFrom(entriesOf([ask, answer("yes")]));
  const item = view.timeline.at(-1);
  assert.ok(item?.kind === "permission");
  assert.deepEqual([item.answer, view.pendingAsks.size], [{ outcome: "selected", optionId: "yes" }, 0]);
});

test("forms and addresses to visit are questions too", () => {
  const elicitation = {
    mode: "url",
    message: "Sign in",
    elicitationId: "e",
    url: "https://example.com",
  } as const;
  const view = viewFrom(
    entriesOf([
      { kind: "ask", askId: "1", elicitation },
      { kind: "answer", askId: "1", elicitation: { action: "decline" } },
    ]),
  );
  const [item] = view.timeline;
  assert.ok(item?.kind === "elicitation");
  assert.deepEqual([item.ask, item.answer, view.pendingAsks.size], [elicitation, { action: "decline" }, 0]);
});

test("the first answer counts; answers to another kind of question, or to none, are ignored", () => {
  const wrongKind: EntryBody = { kind: "answer", askId: "1", elicitation: { action: "cancel" } };
  const view = viewFrom(entriesOf([answer("early"), ask, wrongKind, answer("yes"), answer("no")]));
  const item = view.timeline.at(-1);
  assert.ok(item?.kind === "permission");
  assert.deepEqual(item.answer, { outcome: "selected", optionId: "yes" });
});

test("a question that is asked again is open again, in its old place", () => {
  const notice: EntryBody = {
    kind: "update",
    update: { sessionUpdate: "notice", severity: "info", title: "reconnected" },
  };
  const view = viewFrom(entriesOf([ask, answer("no"), notice, ask]));
  assert.deepEqual(
    view.timeline.map(({ key }) => key),
    ["tool_call:t", "ask:1", "notice:3"],
  );
  const [pending] = view.pendingAsks.values();
  assert.deepEqual([pending?.seq, pending?.answer, pending], [1, undefined, view.timeline[1]]);
});

test("a no to an operation is a no to the call that it belongs to", () => {
  const subject = { type: "_operation", operation: "file_write", resource: "/a", toolCallId: "t" } as const;
  const options = [{ optionId: "no", name: "No", kind: "reject_once" }] as const;
  const asked: EntryBody = { kind: "ask", askId: "1", permission: { title: "Write?", subject, options } };
  const view = viewFrom(entriesOf([running, status("pending"), asked, answer("no")]));
  assert.equal(view.toolCalls.get("t")?.status, "cancelled");
});

test("a call that was refused before it began is shown as cancelled, unless it runs after all (A89)", () => {
  const shown = (...bodies: EntryBody[]) => viewFrom(entriesOf(bodies)).toolCalls.get("t")?.status;
  assert.equal(shown(running, ask, answer("no")), "cancelled");
  assert.equal(
    shown(running, ask, { kind: "answer", askId: "1", permission: { outcome: "cancelled" } }),
    "cancelled",
  );
  assert.equal(shown(running, ask, answer("yes")), "pending");
  assert.equal(shown(running, status("in_progress"), ask, answer("no")), "in_progress");
  assert.equal(shown(running, ask, answer("no"), status("pending")), "cancelled");
  assert.equal(shown(running, ask, answer("no"), status("in_progress")), "in_progress");
  assert.equal(shown(running, ask, answer("no"), status("failed")), "failed");
});

test("a call knows how long it waited for the user, and whether it was refused", () => {
  const times = [1_000, 2_000, 27_000];
  const timed = (...bodies: EntryBody[]) =>
    viewFrom(
      entriesOf(bodies).map((entry, at) => ({ ...entry, time: times.at(at - bodies.length) ?? 0 })),
    ).toolCalls.get("t");
  const call = (optionId: string) => timed(status("pending"), ask, answer(optionId));
  assert.equal(call("yes")?.waitedMs, 26_000, "it has not begun: its time starts at the answer");
  assert.equal(timed(status("in_progress"), ask, answer("yes"))?.waitedMs, 25_000);
  assert.equal(call("yes")?.isRefused, false);
  assert.equal(call("no")?.isRefused, true);
});
