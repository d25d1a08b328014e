import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import fc from "fast-check";
import { updates } from "../../test/support/sample-entries.ts";
import type { SessionUpdate } from "../model/update.ts";
import { type TerminalItem, viewFrom } from "../view.ts";

function base64(value: string | Uint8Array): string {
  return Buffer.from(value as Uint8Array).toString("base64");
}

function chunk(value: string | Uint8Array, terminalId = "t"): SessionUpdate {
  return { sessionUpdate: "terminal_output_chunk", terminalId, data: base64(value) };
}

function after(list: readonly SessionUpdate[], terminalBytes?: number): TerminalItem {
  const view = viewFrom(updates(...list), terminalBytes === undefined ? {} : { terminalBytes });
  const [item] = view.terminals.values();
  assert.ok(item);
  return item;
}

test("each chunk is base64 by itself, and characters may be split between chunks (C51)", () => {
  const bytes = Buffer.from("zwölf 🦆\n");
  const chunks = [...bytes].map((byte) => chunk(Uint8Array.of(byte)));
  assert.equal(after(chunks).output.text(), "zwölf 🦆\n");
  assert.equal(after(chunks.slice(0, 9)).output.text(), "zwölf ", "half a character is held back");
  assert.deepEqual(Buffer.from(after(chunks).output.bytes()), bytes);
});

test("a snapshot replaces all that came before it, and chunks continue it (C51)", () => {
  const snapshot: SessionUpdate = {
    sessionUpdate: "terminal_update",
    terminalId: "t",
    output: { data: base64("new") },
  };
  const { output } = after([chunk("old"), snapshot, chunk("er")]);
  assert.deepEqual([output.text(), output.received, output.generation], ["newer", 5, 1]);
  const cleared = after([chunk("old"), { ...snapshot, output: null }]);
  assert.deepEqual([cleared.output.text(), cleared.output.generation], ["", 1]);
});

test("a terminal is patched: absent keeps, null clears, and its exit is final news, not the end of output", () => {
  const item = after([
    chunk("early"),
    {
      sessionUpdate: "terminal_update",
      terminalId: "t",
      command: "make",
      cwd: "/w",
      size: { cols: 80, rows: 24 },
    },
    { sessionUpdate: "terminal_update", terminalId: "t", cwd: null, exitStatus: { exitCode: 2 } },
    chunk(" late"),
  ]);
  assert.deepEqual(
    [item.command, item.cwd, item.size, item.exitStatus, item.output.text()],
    ["make", undefined, { cols: 80, rows: 24 }, { exitCode: 2 }, "early late"],
  );
});

test("a terminal that a call shows before anybody spoke of it is there, and stays (C33, C52)", () => {
  const view = viewFrom(
    updates(
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "c",
        content: [{ type: "terminal", terminalId: "t" }],
      },
      chunk("out"),
      { sessionUpdate: "tool_call_update", toolCallId: "c", content: null },
    ),
  );
  assert.equal(view.terminals.get("t")?.output.text(), "out");
  assert.deepEqual([...view.toolCalls.get("c")!.terminalIds], ["t"]);
});

test("output that is not base64 is counted and ignored", () => {
  const { output } = after([
    chunk("a"),
    { sessionUpdate: "terminal_output_chunk", terminalId: "t", data: "%%%" },
    { sessionUpdate: "terminal_update", terminalId: "t", output: { data: "?" } },
    chunk("b"),
  ]);
  assert.deepEqual([output.text(), output.undecodable], ["ab", 2]);
});

test("only the last bytes are kept, and the text begins with a whole character", () => {
  const { output } = after([chunk("0123456789"), chunk("äöü")], 5);
  assert.deepEqual([output.received, output.dropped, output.bytes().length], [16, 11, 5]);
  assert.equal(output.text(), "öü");
});

test("lines are counted although their bytes are dropped, from each snapshot on", () => {
  const lines = chunk("a line\n".repeat(1_000));
  assert.equal(after([lines, lines, chunk("rest")], 50).output.lines, 2_000);
  const snapshot: SessionUpdate = {
    sessionUpdate: "terminal_update",
    terminalId: "t",
    output: { data: base64("new\n") },
  };
  assert.equal(after([lines, snapshot, chunk("more\n")], 50).output.lines, 2);
});

test("the last bytes are kept, for all chunks and limits, and can be read from any position", () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 12 });
  fc.assert(
    fc.property(chunks, fc.integer({ min: 1, max: 9000 }), fc.nat(20_000), (list, limit, from) => {
      const all = Buffer.concat(list);
      const { output } = after([chunk(""), ...list.map((bytes) => chunk(bytes))], limit);
      assert.deepEqual(Buffer.from(output.bytes()), all.subarray(-limit));
      assert.equal(output.received, all.length);
      assert.equal(output.dropped, Math.max(0, all.length - limit));
      const expected = all.subarray(Math.max(from, output.dropped));
      assert.deepEqual(Buffer.from(output.bytes(from)), expected);
    }),
  );
});

test("a text cut anywhere into chunks reads the same", () => {
  const cuts = fc.array(fc.nat(200), { maxLength: 8 });
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), cuts, (value, at) => {
      const bytes = Buffer.from(value);
      const places = [0, ...at.map((cut) => Math.min(cut, bytes.length)), bytes.length].sort((a, b) => a - b);
      const list = places.slice(1).map((end, index) => chunk(bytes.subarray(places[index], end)));
      assert.equal(after(list).output.text(), bytes.toString());
    }),
  );
});
