import assert from "node:assert/strict";
import { test } from "node:test";
import { entriesOf, text, updates } from "../../test/support/sample-entries.ts";
import type { EntryBody } from "../model/entry.ts";
import type { SessionUpdate, ToolCallContent, ToolCallUpdate } from "../model/update.ts";
import { type SessionView, type ToolCallItem, viewFrom } from "../view.ts";

function patch(fields: Omit<ToolCallUpdate, "toolCallId">): SessionUpdate {
  return { sessionUpdate: "tool_call_update", toolCallId: "t", ...fields };
}

function chunk(content: ToolCallContent): SessionUpdate {
  return { sessionUpdate: "tool_call_content_chunk", toolCallId: "t", content };
}

function call(view: SessionView): ToolCallItem {
  const item = view.toolCalls.get("t");
  assert.ok(item);
  assert.ok(view.timeline.includes(item));
  return item;
}

function after(...list: SessionUpdate[]): ToolCallItem {
  return call(viewFrom(updates(...list)));
}

function content(value: string): ToolCallContent {
  return { type: "content", content: text(value) };
}

test("a call that begins with any update gets the protocol's defaults (N120)", () => {
  const { status, toolKind, open, title, content: shown } = after(patch({}));
  assert.deepEqual([status, toolKind, open, title, shown], ["pending", "other", true, undefined, []]);
  assert.deepEqual(after(chunk(content("x"))).content, [content("x")]);
});

test("absent keeps, null clears, a value replaces", () => {
  const full = patch({
    title: "Read",
    name: "read",
    kind: "read",
    rawInput: { a: 1 },
    capabilities: { cancel: {} },
  });
  const kept = after(full, patch({}));
  assert.deepEqual([kept.title, kept.name, kept.rawInput], ["Read", "read", { a: 1 }]);
  const none = null;
  const clear = patch({
    title: none,
    name: none,
    kind: none,
    rawInput: none,
    capabilities: none,
    status: none,
  });
  const cleared = after(full, patch({ status: "completed" }), clear);
  assert.deepEqual(
    [cleared.title, cleared.name, cleared.toolKind, cleared.rawInput, cleared.capabilities, cleared.status],
    [undefined, undefined, "other", undefined, undefined, "pending"],
  );
});

test("the label is the title, else the name, else the kind", () => {
  assert.equal(after(patch({ title: "Read a.ts", name: "read", kind: "read" })).label, "Read a.ts");
  assert.equal(after(patch({ name: "read", kind: "read" })).label, "read");
  assert.equal(after(patch({ kind: "search" })).label, "search");
  assert.equal(after(patch({ title: "x" }), patch({ title: null })).label, "other");
});

test("an update of the content replaces earlier chunks, and later chunks append (C50)", () => {
  const replaced = after(chunk(content("a")), patch({ content: [content("b")] }), chunk(content("c")));
  assert.deepEqual(replaced.content, [content("b"), content("c")]);
  assert.deepEqual(after(chunk(content("a")), patch({ content: null })).content, []);
  assert.deepEqual(after(chunk(content("a")), patch({ title: "x" })).content, [content("a")]);
});

test("a late announcement does not lower the status; a patch that says pending alone does", () => {
  // The order in which one production agent sends them.
  const announced = [
    patch({ title: "Edit", status: "pending" }),
    patch({ status: "in_progress" }),
    patch({ title: "Edit a.ts", kind: "edit", status: "pending" }),
  ];
  assert.deepEqual([after(...announced).status, after(...announced).title], ["in_progress", "Edit a.ts"]);
  assert.equal(after(...announced, patch({ status: "completed" })).status, "completed");
  assert.equal(
    after(patch({ status: "failed" }), patch({ title: "Late", status: "pending" })).status,
    "failed",
  );
  assert.equal(after(patch({ status: "in_progress" }), patch({ status: "pending" })).status, "pending");
});

test("a call may skip pending, and may be completed by its first update", () => {
  assert.equal(after(patch({ status: "completed" })).open, false);
  assert.equal(after(patch({ status: "completed" })).endedAt, 1_001);
});

test("updates after completion are shown, and the call stays completed", () => {
  const item = after(patch({ status: "completed" }), patch({ rawOutput: "late" }), chunk(content("later")));
  assert.deepEqual([item.status, item.rawOutput, item.content], ["completed", "late", [content("later")]]);
});

test("a status that nobody knows means still running (N125)", () => {
  const item = after(patch({ status: "_vendor/queued" }));
  assert.deepEqual([item.status, item.open, item.endedAt], ["_vendor/queued", true, undefined]);
  assert.equal(after(patch({ status: "paused" })).open, true);
});

const cancelled: EntryBody = { kind: "result", messageId: "u", result: { stopReason: "cancelled" } };
const idleCancelled: SessionUpdate = {
  sessionUpdate: "state_update",
  state: "idle",
  stopReason: "cancelled",
};

function update(value: SessionUpdate): EntryBody {
  return { kind: "update", update: value };
}

for (const [name, end] of [
  ["result", cancelled],
  ["idle state", update(idleCancelled)],
] as const) {
  test(`a cancelled ${name} shows open calls as cancelled and finished ones as they are (C26)`, () => {
    const view = viewFrom(
      entriesOf([
        update(patch({ status: "in_progress" })),
        update({ sessionUpdate: "tool_call_update", toolCallId: "done", status: "completed" }),
        end,
      ]),
    );
    assert.deepEqual([call(view).status, call(view).reportedStatus], ["cancelled", "in_progress"]);
    assert.deepEqual([call(view).open, call(view).endedAt], [false, 1_003]);
    assert.equal(view.toolCalls.get("done")?.status, "completed");
  });
}

test("updates after a cancel are not lost: content is shown and the real end counts (C27)", () => {
  const start = [update(patch({ status: "in_progress" })), cancelled];
  const late = [...start, update(patch({ status: "in_progress", content: [content("late")] }))];
  const trickled = call(viewFrom(entriesOf(late)));
  assert.deepEqual([trickled.status, trickled.content], ["cancelled", [content("late")]]);
  assert.equal(
    call(viewFrom(entriesOf([...late, update(patch({ status: "completed" }))]))).status,
    "completed",
  );
});

test("a call that was shown as cancelled runs again when new work reports it running", () => {
  const again = [
    update(patch({ status: "in_progress" })),
    update({ sessionUpdate: "state_update", state: "running" }),
    update(idleCancelled),
    update({ sessionUpdate: "state_update", state: "running" }),
    update(patch({ status: "in_progress" })),
  ];
  assert.equal(call(viewFrom(entriesOf(again))).status, "in_progress");
});

test("a call in the background survives a cancel, also when the list comes later", () => {
  const background = [{ type: "tool_call" as const, toolCallId: "t" }];
  const running = update(patch({ status: "in_progress" }));
  const listed = entriesOf([running, update({ ...idleCancelled, background })]);
  assert.equal(call(viewFrom(listed)).status, "in_progress");
  const idle = update({ sessionUpdate: "state_update", state: "idle", background });
  assert.equal(call(viewFrom(entriesOf([running, cancelled, idle]))).status, "in_progress");
});

function operations(view: SessionView): unknown {
  return [...view.files.values()].map((file) => [file.path, [...file.operations], [...file.toolCallIds]]);
}

test("files are gathered from locations, whose operation is the kind of the call, in either order", () => {
  const locations = [{ path: "/a" }, { path: "/b", line: 3 }];
  const read = ["read"];
  for (const list of [
    [patch({ kind: "read", locations })],
    [patch({ locations }), patch({ kind: "read" })],
    [patch({ kind: "read" }), patch({ locations }), patch({ locations: [] })],
  ]) {
    assert.deepEqual(operations(viewFrom(updates(...list))), [
      ["/a", read, ["t"]],
      ["/b", read, ["t"]],
    ]);
  }
  const vague = viewFrom(updates(patch({ kind: "think", locations: [{ path: "/a" }] })));
  assert.deepEqual(operations(vague), [["/a", [], ["t"]]]);
});

test("files are gathered from diffs of both shapes, with and without a patch (C53)", () => {
  const view = viewFrom(
    updates(
      patch({
        content: [
          {
            type: "diff",
            changes: [
              { operation: "move", oldPath: "/old", path: "/new" },
              { operation: "copy", oldPath: "/new", path: "/copy" },
              { operation: "delete", path: "/gone" },
            ],
          },
          { type: "diff", changes: [], path: "/v1-new", newText: "x" },
        ],
      }),
      chunk({ type: "diff", changes: [], path: "/v1", oldText: "", newText: "x" }),
    ),
  );
  assert.deepEqual(operations(view), [
    ["/new", ["move", "read"], ["t"]],
    ["/old", ["delete"], ["t"]],
    ["/copy", ["copy"], ["t"]],
    ["/gone", ["delete"], ["t"]],
    ["/v1-new", ["add"], ["t"]],
    ["/v1", ["modify"], ["t"]],
  ]);
});
