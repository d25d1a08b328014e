// What holds for all entries, in all orders: properties, hostile input and cost.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyEntries, anyToolCall, anyUpdate } from "../../test/support/arbitrary-entries.ts";
import { chunkEntries, entriesOf, text, updates } from "../../test/support/sample-entries.ts";
import { propertyRuns } from "../../test/support/soak.ts";
import type { Entry, EntryBody } from "../model/entry.ts";
import type { SessionUpdate } from "../model/update.ts";
import { applyEntry, changesSince, createView, snapshot, type TimelineItem, viewFrom } from "../view.ts";
import { bindMethod, decodeParams, Failure } from "../wire/decode.ts";
import { methods } from "../wire/v2/methods.gen.ts";

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

test("a live view equals a replay, whatever the portions and however often it is read", () => {
  fc.assert(
    fc.property(anyEntries, fc.array(fc.nat(40), { maxLength: 5 }), (entries, looks) => {
      const live = createView();
      let drawn = 0;
      for (const [index, entry] of entries.entries()) {
        applyEntry(live, entry);
        if (!looks.includes(index)) continue;
        snapshot(live);
        changesSince(live, drawn);
        drawn = live.version;
      }
      const stored: Entry[] = JSON.parse(JSON.stringify(entries));
      assert.deepEqual(snapshot(live), snapshot(viewFrom(stored)));
    }),
    propertyRuns(400, 10_000),
  );
});

test("entries are never changed: frozen ones fold alike", () => {
  fc.assert(
    fc.property(anyEntries, (entries) => {
      const before = snapshot(viewFrom(entries));
      assert.deepEqual(snapshot(viewFrom(deepFreeze(entries))), before);
    }),
  );
});

test("entries that were applied already are ignored, so replay and live may overlap", () => {
  fc.assert(
    fc.property(anyEntries, fc.nat(40), fc.nat(40), (entries, a, b) => {
      const [from, to] = a < b ? [a, b] : [b, a];
      const view = viewFrom(entries.slice(0, to));
      for (const entry of entries.slice(from)) applyEntry(view, entry);
      assert.deepEqual(snapshot(view), snapshot(viewFrom(entries)));
    }),
  );
});

type Keyed = { readonly key: string; readonly version: number };

test("changes list exactly what changed, with a newer version", () => {
  const things = (entries: Entry[]) => {
    const view = viewFrom(entries);
    // Plain JSON of things that all have a key and a version.
    const { timeline, terminals, plans, files } = snapshot(view) as Record<string, Keyed[]>;
    const all = [timeline, terminals, plans, files].flatMap((list) => list ?? []);
    return { view, byKey: new Map(all.map((thing) => [thing.key, thing])) };
  };
  fc.assert(
    fc.property(anyEntries, fc.nat(40), (entries, cut) => {
      const before = things(entries.slice(0, cut));
      const after = things(entries);
      const changed = new Set(changesSince(after.view, before.view.version).map(({ key }) => key));
      for (const [key, thing] of after.byKey) {
        assert.equal(changed.has(key), thing.version > before.view.version, key);
        if (!changed.has(key)) assert.deepEqual(thing, before.byKey.get(key), key);
      }
      const rest = ({ timeline, terminals, plans, files, seq, ...parts }: ReturnType<typeof snapshot>) =>
        parts;
      if (changed.size === 0) assert.deepEqual(rest(snapshot(after.view)), rest(snapshot(before.view)));
    }),
    propertyRuns(300, 10_000),
  );
});

test("keys are unique, and items keep their places", () => {
  fc.assert(
    fc.property(anyEntries, fc.nat(40), (entries, cut) => {
      const keys = (view: { timeline: readonly TimelineItem[] }) => view.timeline.map(({ key }) => key);
      const all = keys(viewFrom(entries));
      assert.equal(new Set(all).size, all.length);
      const early = keys(viewFrom(entries.slice(0, cut)));
      assert.deepEqual(all.slice(0, early.length), early);
    }),
  );
});

test("a completed call stays completed whatever follows without a status", () => {
  fc.assert(
    fc.property(anyEntries, fc.array(anyToolCall, { maxLength: 5 }), (before, patches) => {
      const list = patches.map(({ status: _, ...quiet }) => ({ ...quiet, toolCallId: "1" }));
      const bodies = [{ toolCallId: "1", status: "completed" }, ...list].map((patch) => ({
        kind: "update",
        update: { sessionUpdate: "tool_call_update", ...patch },
      }));
      // The arbitraries are written in the words of the wire; their types are wider than the model's.
      const after = entriesOf(structuredClone(bodies) as unknown as EntryBody[], before.length + 1);
      assert.equal(viewFrom([...before, ...after]).toolCalls.get("1")?.status, "completed");
    }),
  );
});

test("every update that the decoder accepts can be shown", () => {
  const row = methods.find(({ method }) => method === "session/update");
  assert.ok(row);
  const bound = bindMethod(row, "*");
  let shown = 0;
  const garbage = fc.oneof(
    anyUpdate,
    fc.tuple(anyUpdate, fc.object({ maxDepth: 3 })).map(([base, more]) => ({ ...base, ...more })),
  );
  fc.assert(
    fc.property(fc.array(garbage, { maxLength: 10 }), (list) => {
      const decoded = list.flatMap((value) => {
        const params = decodeParams(bound, { sessionId: "s", update: structuredClone(value) });
        return params instanceof Failure ? [] : [(params as { update: SessionUpdate }).update];
      });
      const view = viewFrom(updates(...decoded));
      snapshot(view);
      shown += view.timeline.length;
    }),
    propertyRuns(500, 10_000),
  );
  assert.ok(shown > 100, `only ${shown} items came through`);
});

test("ids and metadata keys that are names of built-in things are just names", () => {
  const view = viewFrom(
    updates(
      { sessionUpdate: "agent_message_chunk", messageId: "__proto__", content: text("x") },
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "__proto__",
        _meta: JSON.parse('{"__proto__":{"bad":1}}'),
      },
      { sessionUpdate: "terminal_output_chunk", terminalId: "__proto__", data: "eA==" },
    ),
  );
  assert.equal(view.toolCalls.size, 1);
  const { _meta: meta } = view.toolCalls.get("__proto__")!;
  assert.deepEqual([Object.keys(meta ?? {}), Object.getPrototypeOf(meta)], [["__proto__"], Object.prototype]);
  assert.equal(({} as { bad?: unknown }).bad, undefined);
  assert.match(JSON.stringify(snapshot(view)), /"__proto__":\{"bad":1\}/);
});

test("an id of a million characters is an id", () => {
  const messageId = "x".repeat(1_000_000);
  const view = viewFrom(updates({ sessionUpdate: "agent_message_chunk", messageId, content: text("a") }));
  assert.equal(view.timeline[0]?.key.length, messageId.length + "agent_message:".length);
});

test("a million chunks make one message whose text can be read", () => {
  const view = createView();
  const update: SessionUpdate = {
    sessionUpdate: "agent_message_chunk",
    messageId: "m",
    content: text("0123456789abcdef"),
  };
  for (let seq = 1; seq <= 1_000_000; seq += 1)
    applyEntry(view, { format: 1, seq, time: 0, kind: "update", update });
  const [item] = view.timeline;
  assert.ok(item?.kind === "agent_message");
  assert.equal(item.text.length, 16_000_000);
  assert.ok(item.text.endsWith("def0123456789abcdef"));
  // reading what has grown must not copy everything
  for (const block of item.content) assert.ok(block.type === "text" && block.text.length <= 513 * 1024);
});

/** How often the fold reads anything of an entry: a measure of work that no machine changes. */
function counted(entry: Entry): { entry: Entry; reads: () => number } {
  let count = 0;
  const watch = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(inner, key, receiver) {
        count += 1;
        const value: unknown = Reflect.get(inner, key, receiver);
        return typeof value === "object" && value !== null ? watch(value) : value;
      },
    });
  return { entry: watch(entry), reads: () => count };
}

for (const messages of [1, 7]) {
  test(`the 100,000th chunk costs what the 100th did, with ${messages} messages at a time`, () => {
    const view = createView();
    const costs: unknown[] = [];
    for (const entry of chunkEntries(100_000, messages)) {
      if (entry.seq !== 100 && entry.seq !== 100_000) {
        applyEntry(view, entry);
        continue;
      }
      const watched = counted(entry);
      applyEntry(view, watched.entry);
      const changed = changesSince(view, entry.seq - 1);
      costs.push({ reads: watched.reads(), changed: changed.length, items: view.timeline.length });
    }
    assert.deepEqual(costs[0], costs[1]);
    assert.deepEqual(changesSince(view, 0).length, messages);
  });
}

test("the cost of an update does not grow with the number of other items", () => {
  const update = (index: number): SessionUpdate => ({
    sessionUpdate: "tool_call_update",
    toolCallId: `call-${index}`,
    status: "completed",
    locations: [{ path: `/file-${index}` }],
  });
  const view = viewFrom(updates(...Array.from({ length: 5_000 }, (_, index) => update(index))));
  const [again] = entriesOf([{ kind: "update", update: update(3) }], 5_001);
  applyEntry(view, again!);
  assert.deepEqual(
    changesSince(view, 5_000).map(({ key }) => key),
    ["tool_call:call-3"],
  );
});
