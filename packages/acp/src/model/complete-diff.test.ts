// A diff has one shape, whichever edition it came by: changes and a patch, and the texts where they are known.

import assert from "node:assert/strict";
import { test } from "node:test";
import { growthOf } from "../../test/support/growth.ts";
import { inEveryVersion, openSession, quiet } from "../../test/support/peer-probe.ts";
import { applyEntry, createView } from "../view.ts";
import { textsFromPatch } from "./apply-patch.ts";
import { completeContent } from "./complete-diff.ts";
import type { Entry } from "./entry.ts";
import { gitPatch } from "./git-patch.ts";
import type { ToolCallContent } from "./update.ts";

type Diff = Extract<ToolCallContent, { type: "diff" }>;

const complete = (diff: object) => {
  const given = { type: "diff", ...diff } as Diff;
  const [got] = completeContent([given]);
  const { type: _, ...rest } = got as Diff;
  return got === given ? (diff as Partial<Diff>) : (rest as Partial<Diff>);
};

const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => `${line(at)}\n`).join("");

const added = { path: "/project/new.ts", newText: "one\ntwo\n" };
const changed = { path: "/project/old.ts", oldText: "one\ntwo\n", newText: "one\nthree\n" };

inEveryVersion("an app and a view read the same diff in every edition (U4)", async (pair) => {
  const entries: Entry[] = [];
  const asked: (readonly ToolCallContent[] | null | undefined)[] = [];
  const { session, updates } = await openSession(
    pair,
    {
      async prompt(turn) {
        await turn.tool({ title: "Edit" }, async (tool) => {
          await tool.diff(added);
          await tool.diff(changed);
          await tool.requestPermission();
        });
      },
    },
    {
      requestPermission({ subject, options }) {
        if (subject?.type === "tool_call") asked.push(subject.toolCall.content);
        return options[0]?.optionId;
      },
    },
  );
  session.onEntry((entry) => entries.push(entry));
  await session.prompt("x");
  await quiet();
  const view = createView();
  for (const entry of entries) applyEntry(view, entry);
  const last = updates.findLast((each) => each.sessionUpdate === "tool_call_update" && each.content != null);
  assert.ok(last?.sessionUpdate === "tool_call_update");
  for (const content of [last.content, asked[0], [...view.toolCalls.values()][0]?.content]) {
    const [one, other] = (content ?? []) as readonly Diff[];
    assert.deepEqual(
      one?.changes.map(({ operation, path, fileType }) => [operation, path, fileType]),
      [["add", added.path, "text"]],
    );
    assert.equal(one?.patch?.text, gitPatch(added.path, undefined, added.newText));
    assert.deepEqual([one?.path, one?.oldText, one?.newText], [added.path, undefined, added.newText]);
    assert.equal(other?.patch?.text, gitPatch(changed.path, changed.oldText, changed.newText));
    assert.deepEqual(
      other?.changes.map(({ operation }) => operation),
      ["modify"],
    );
    assert.equal(other?.path, changed.path);
    // the patch of a change has only the lines around it
    assert.equal(other?.newText, pair.version === 1 ? changed.newText : undefined);
  }
});

inEveryVersion("an agent can send a diff on as a client received it (U4)", async (pair) => {
  const patchOf = (oldText: string, newText: string | undefined) =>
    ({ format: "git_patch", text: gitPatch("/a", oldText, newText) }) as const;
  const received = completeContent([
    { type: "diff", changes: [{ operation: "modify", path: "/a" }], patch: patchOf("x\n", "y\n") },
    { type: "diff", changes: [{ operation: "delete", path: "/a" }], patch: patchOf("x\n", undefined) },
  ]);
  const { session, updates } = await openSession(pair, {
    async prompt(turn) {
      for (const diff of received) {
        const content = [diff];
        await turn.update({ sessionUpdate: "tool_call_update", toolCallId: "t", title: "Edit", content });
      }
    },
  });
  const { stopReason, error } = await session.prompt("x");
  assert.deepEqual([stopReason, error], ["end_turn", undefined]);
  const shown = updates.filter((each) => each.sessionUpdate === "tool_call_update");
  assert.equal(shown.length, received.length);
});

test("a patch gives the text of a file that it deletes, and texts give their patch", () => {
  const patch = { format: "git_patch", text: gitPatch("/a", "gone\n", undefined) } as const;
  const deleted = complete({ changes: [{ operation: "delete", path: "/a" }], patch });
  assert.deepEqual(deleted, { changes: deleted.changes, patch, path: "/a", oldText: "gone\n" });
  assert.equal(complete(deleted), deleted, "there is nothing to add");
  const texts = complete({ path: "/a", oldText: "x\n", newText: "y\n", changes: [] });
  assert.deepEqual(texts.changes, [{ operation: "modify", path: "/a", fileType: "text" }]);
  assert.equal(texts.patch?.text, gitPatch("/a", "x\n", "y\n"));
});

test("what cannot be known is left out: several files, another format, the rest of a file", () => {
  const format = "git_patch" as const;
  const change = { operation: "modify", path: "/a" } as const;
  const partial = { changes: [change], patch: { format, text: gitPatch("/a", "x\n", "y\n") } };
  assert.deepEqual(complete(partial), { ...partial, path: "/a" });
  const two = { ...partial, changes: [change, { operation: "add", path: "/b" }] };
  assert.equal(complete(two), two);
  const odd = { changes: [{ operation: "add", path: "/a" }], patch: { format: "_acme", text: "+x" } };
  assert.deepEqual(complete(odd), { ...odd, path: "/a" });
  const moved = { changes: [{ operation: "move", oldPath: "/a", path: "/b" }] };
  assert.deepEqual(complete(moved), { ...moved, path: "/b" });
  const unknown = { changes: [{ operation: "_rotate" }] };
  assert.equal(complete(unknown), unknown);
});

test("a large diff costs no more than it is worth", () => {
  const huge = { path: "/a", oldText: "x".repeat(600_000), newText: "y".repeat(600_000), changes: [] };
  assert.equal(complete(huge).patch, undefined);
  // lines that repeat and differ everywhere are the worst case of the search
  const oldText = lines(100_000, (at) => String((at * 7) % 3));
  const newText = lines(100_000, (at) => String((at * 5) % 4));
  const { patch } = complete({ path: "/a", oldText, newText, changes: [] });
  assert.deepEqual(textsFromPatch(patch?.text ?? "", "/a", oldText), { oldText, newText, isPartial: false });
  const growth = growthOf(20_000, (count) => {
    const texts = {
      oldText: lines(count, (at) => String((at * 7) % 3)),
      newText: lines(count, (at) => String((at * 5) % 4)),
    };
    assert.notEqual(complete({ path: "/a", ...texts, changes: [] }).patch, undefined);
  });
  assert.ok(growth < 10, `four times the lines cost ${growth} times as much`);
});

test("the diffs of one update share what completing them may cost", () => {
  const texts = { oldText: "x\n".repeat(50_000), newText: "y\n".repeat(50_000) };
  const diffs = Array.from({ length: 20 }, (_, at) => ({
    type: "diff" as const,
    path: `/${at}`,
    changes: [],
    ...texts,
  }));
  const complete = completeContent(diffs) as readonly Diff[];
  assert.equal(complete.filter(({ patch }) => patch !== undefined).length, 2);
  // all say which file they change
  assert.ok(complete.every(({ changes }) => changes.length === 1));
});
