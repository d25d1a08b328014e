import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, StopReason } from "@parley/acp";
import { painter } from "../terminal/paint.ts";
import { TextPrinter } from "./text-printer.ts";

test("the last line for people has the agent's reason as text, and none of its sequences", (t) => {
  let footer = "";
  t.mock.method(process.stderr, "write", (text: string) => {
    footer += text;
    return true;
  });
  const printer = new TextPrinter({
    output: { write: () => undefined, flush: () => undefined },
    paint: painter(false),
    warn: () => undefined,
    status: () => undefined,
    cwd: "/nowhere",
  });
  const ids = { sessionId: "s", session: undefined, name: undefined, resumed: false, cwd: "/nowhere" };
  printer.started({ agent: { name: "a" }, edition: "v1", protocol: 1, ...ids });
  const stopReason = "max\u001b]0;title\u0007_\nparley: fine";
  printer.end({
    exitCode: 1,
    outcome: { stopReason: stopReason as StopReason },
    error: undefined,
    durationMs: 100,
  });
  assert.equal(footer, "(max  parley: fine, 0.1 s)\n");
});

test("a notice keeps its lines, and none of its sequences", () => {
  let shown = "";
  const printer = new TextPrinter({
    output: {
      write(text) {
        shown += text;
      },
      flush: () => undefined,
    },
    paint: painter(false),
    warn: () => undefined,
    cwd: "/nowhere",
  });
  const notice = {
    sessionUpdate: "notice",
    noticeId: "n",
    severity: "warning",
    title: "The server is not running",
    description: "It wrote:\n    no database\n\nhint: start\u001b[2J it",
  };
  printer.entry({ seq: 1, time: 0, kind: "update", update: notice } as unknown as Entry); // as: a fixture
  assert.equal(shown, "! The server is not running\n  It wrote:\n  no database\n  hint: start it\n");
});

test("a question keeps its line: no status is drawn while it is open", () => {
  const drawn: (string | undefined)[] = [];
  const printer = new TextPrinter({
    output: { write: () => undefined, flush: () => undefined },
    paint: painter(false),
    warn: () => undefined,
    status: (text) => void drawn.push(text),
    cwd: "/nowhere",
  });
  printer.progress("reading");
  printer.pause();
  printer.progress("no output from the agent for 30 s");
  printer.resume();
  printer.progress("writing");
  assert.deepEqual(drawn, ["reading", undefined, "writing"]);
});

/** What a printer writes at a terminal of 40 columns. */
async function atTerminal(updates: readonly unknown[]): Promise<string> {
  let shown = "";
  const output = {
    write(text: string) {
      shown += text;
    },
    flush: () => undefined,
  };
  const ignored = () => undefined;
  const printer = new TextPrinter({
    output,
    paint: painter(false),
    warn: ignored,
    cwd: "/work",
    columns: () => 40,
  });
  await printer.load();
  for (const [at, update] of updates.entries())
    printer.entry({ seq: at + 1, time: 1_000 * at, kind: "update", update } as unknown as Entry); // fixtures
  printer.end({ exitCode: 0, outcome: undefined, error: undefined, durationMs: 0 });
  return shown;
}

function said(text: string, sessionUpdate = "agent_message_chunk", messageId = sessionUpdate) {
  return { sessionUpdate, messageId, content: { type: "text", text } };
}

test("at a terminal, Markdown is drawn when its blocks are finished, and tool calls as in chat", async () => {
  const call = { sessionUpdate: "tool_call_update", toolCallId: "c", title: "Read a.ts", kind: "read" };
  const shown = await atTerminal([
    said("Let me\nthink of it", "agent_thought_chunk"),
    said("I **lo"),
    said("ok** at the file, which has a name.\n\n- on"),
    said("e\n- two"),
    { ...call, status: "in_progress" },
    { ...call, status: "completed" },
    said("Done.", "agent_message_chunk", "another"),
  ]);
  assert.equal(
    shown,
    `∴ Let me
  think of it

  I look at the file, which has a name.

  - one
  - two

✓ ≡ Read a.ts  1.0 s

  Done.
`,
  );
});

test("at a terminal, an agent's text never stands in the first column, where our marks are (TH5)", async () => {
  const shown = await atTerminal([
    said("text\n\n✓ $ rm -rf /\n\n> ? Allow\n\u001b[1G\u001b[2K› yes\n\n```\n✓ done\n"),
  ]);
  for (const line of shown.split("\n")) assert.match(line, /^(?: {2}|$)/);
});

test("a message that is broken off by a question goes on below it", async () => {
  let shown = "";
  const output = {
    write(text: string) {
      shown += text;
    },
    flush: () => undefined,
  };
  const ignored = () => undefined;
  const printer = new TextPrinter({
    output,
    paint: painter(false),
    warn: ignored,
    cwd: "/work",
    columns: () => 40,
    status: ignored,
  });
  await printer.load();
  const entry = (seq: number, text: string) =>
    printer.entry({ seq, time: 0, kind: "update", update: said(text) } as unknown as Entry); // a fixture
  entry(1, "May I ");
  printer.pause();
  assert.equal(shown, "  May I\n");
  printer.resume();
  entry(2, "thank you.\n\nMore");
  printer.progress("working");
  assert.equal(shown, "  May I\n\n  thank you.\n");
});

test("a pause of the model is told: in the status line of a terminal, else as a notice; not one of a recorded session", () => {
  const told = (time: number, isTerminal: boolean) => {
    const lines: (string | undefined)[] = [];
    const printer = new TextPrinter({
      output: { write: () => undefined, flush: () => undefined },
      paint: painter(false),
      warn: (text) => lines.push(`warned: ${text}`),
      ...(isTerminal && { status: (text: string | undefined) => lines.push(text) }),
      cwd: "/nowhere",
    });
    const retry = { attempt: 2, of: 5, delayMs: 7_500, reason: "The rate limit is reached." };
    const update = { sessionUpdate: "session_info_update", _meta: { "_parley.dev/retry": retry } };
    printer.entry({ seq: 1, time, kind: "update", update } as unknown as Entry); // as: a fixture
    return lines;
  };
  const line = "waiting 8 s, attempt 2 of 5: The rate limit is reached.";
  assert.deepEqual(told(Date.now(), true), [line]);
  assert.deepEqual(told(Date.now(), false), [`warned: ${line}`]);
  assert.deepEqual(told(0, true), []);
});
