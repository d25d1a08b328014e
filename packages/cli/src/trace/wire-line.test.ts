import assert from "node:assert/strict";
import { test } from "node:test";
import { escapedLine } from "../terminal/sanitise.ts";
import { WireReader, type WireText, wireLine } from "./wire-line.ts";

function printer(columns = 200) {
  const reader = new WireReader();
  return (from: WireText["from"], message: unknown, { t = 7, note = "" } = {}) => {
    const wire = { from, t, text: typeof message === "string" ? message : JSON.stringify(message) };
    return wireLine(wire, reader.read(wire), { columns, paint: (_, text) => text, note });
  };
}

test("characters that move the cursor or turn the text around are shown as their numbers", () => {
  for (const code of [0x00, 0x07, 0x08, 0x0a, 0x0d, 0x1b, 0x7f, 0x85, 0x9b, 0x9f]) {
    const shown = `\\u${code.toString(16).padStart(4, "0")}`;
    assert.equal(escapedLine(`a${String.fromCharCode(code)}b`), `a${shown}b`);
  }
  for (const code of [0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069]) {
    assert.equal(escapedLine(`a${String.fromCharCode(code)}b`), `a\\u${code.toString(16)}b`);
  }
  assert.equal(escapedLine("ünï ✓ 🙂 漢字"), "ünï ✓ 🙂 漢字");
});

test("nothing that a peer writes reaches the terminal as a control character", () => {
  const line = printer();
  const nasty = "\u001b[2J\u202eevil\r\n";
  const lines = [
    line("agent", nasty),
    line("agent", { id: nasty, method: nasty, params: { [nasty]: nasty } }),
    line("client", { id: nasty, error: { code: nasty, message: nasty } }),
    line("client", {
      method: "session/update",
      params: { update: { sessionUpdate: nasty, content: nasty } },
    }),
    line("agent", { id: 1, result: { [nasty]: [{ type: "text", text: nasty }] } }),
  ];
  for (const shown of lines) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    assert.doesNotMatch(shown, /[\u0000-\u001f\u007f-\u009f\u202e]/);
    assert.match(shown, /evil/);
  }
});

test("an answer is shown with the method that it answers, and each side has ids of its own", () => {
  const line = printer();
  line("client", { id: 1, method: "session/prompt" });
  line("agent", { id: 1, method: "fs/read_text_file" });
  assert.equal(
    line("client", { id: 1, result: { content: "milk" } }),
    '    7 ms  client → agent  answer to fs/read_text_file #1  content: "milk"',
  );
  assert.equal(
    line("agent", { id: 1, error: { code: -32603, message: "internal error" } }),
    "    7 ms  client ← agent  error for session/prompt #1  -32603 internal error",
  );
});

test("the updates of every edition begin with their kind", () => {
  const line = printer();
  const update = (params: object) =>
    line("agent", { method: "session/update", params: { sessionId: "s", ...params } }).slice(26);
  assert.equal(
    update({ update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "hi" } } }),
    'session/update  agent_message_chunk, content: "hi"',
  );
  assert.equal(
    update({ update: { type: "message", role: "agent", content: [{ type: "text", text: "hi" }] } }),
    'session/update  message, role: "agent", content: ["hi"]',
  );
  assert.equal(
    update({ type: "agent_message_chunk", data: { content: "hi" }, timestamp: "2026-01-01T00:00:00Z" }),
    'session/update  agent_message_chunk, content: "hi"',
  );
});

test("the other messages of the dialects are shown with their methods and fields", () => {
  const line = printer();
  assert.equal(
    line("agent", {
      id: 4,
      method: "session/request_permission",
      params: { operation: "file_write", resource: "/a" },
    }),
    '    7 ms  client ← agent  session/request_permission #4  operation: "file_write", resource: "/a"',
  );
  assert.equal(
    line("client", { id: 4, result: { granted: true, scope: "once" } }),
    '    7 ms  client → agent  answer to session/request_permission #4  granted: true, scope: "once"',
  );
  // in scoped it is the client that sends it
  assert.equal(
    line("client", { id: 5, method: "terminal/output", params: { terminalId: "t", data: "more" } }),
    '    7 ms  client → agent  terminal/output #5  terminalId: "t", data: "more"',
  );
  // pharo answers with null
  line("client", { id: 6, method: "session/set_mode", params: { sessionId: "s", modeId: "ask" } });
  assert.equal(
    line("agent", { id: 6, result: null }),
    "    7 ms  client ← agent  answer to session/set_mode #6",
  );
});

test("an answer to nothing, or a second one, is shown as nobody's", () => {
  const line = printer();
  assert.match(line("agent", { id: 9, result: {} }), /answer to nobody's request$/);
  line("client", { id: 1, method: "session/list" });
  assert.match(line("agent", { id: 1, result: {} }), /answer to session\/list #1$/);
  assert.match(line("agent", { id: 1, result: {} }), /answer to nobody's request$/);
});

test("a notification has no number, and an update leads with its kind", () => {
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "hello" } };
  assert.equal(
    printer()("agent", { method: "session/update", params: { sessionId: "s", update } }),
    '    7 ms  client ← agent  session/update  agent_message_chunk, content: "hello"',
  );
});

test("a line is cut to the width of the terminal, and text that is not JSON is shown as such", () => {
  const line = printer(80);
  const long = line("client", { method: "m", params: { text: "x".repeat(1_000) } });
  assert.equal(long.length, 80);
  assert.ok(long.endsWith("…"));
  assert.equal(line("client", "this is no JSON"), "    7 ms  client → agent  not JSON  this is no JSON");
});

test("a line is as wide as the terminal, however long its method and its note are", () => {
  const line = printer(73);
  const method = "session/request_permission";
  const note = " after 12345.6 ms [s2]";
  const request = { id: 17, method, params: { sessionId: "x".repeat(90) } };
  const answer = { id: 17, result: { outcome: { outcome: "selected", optionId: "yes" } } };
  for (const shown of [line("agent", request), line("client", answer, { t: 12345, note })]) {
    assert.ok(shown.length <= 73, shown);
  }
  assert.ok(line("client", answer, { t: 12345, note }).includes(note));
});
