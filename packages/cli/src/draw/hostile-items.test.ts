// Hostile texts in every kind of item (N198-N218, TH4, TH5).

import assert from "node:assert/strict";
import { test } from "node:test";
import { visibleWidth } from "@earendil-works/pi-tui";
import type { EntryBody } from "@parley/acp/model";
import { type SessionView, viewFrom } from "@parley/acp/view";
import { entriesOf } from "../../../acp/test/support/sample-entries.ts";
import { painter } from "../terminal/paint.ts";
import { drawItem, loadDrawing } from "./draw-item.ts";
import { drawing } from "./draw-options.ts";
import { backgroundLine } from "./event-lines.ts";
import { asciiMarks, unicodeMarks } from "./marks.ts";
import { planLine, planLines } from "./plan-lines.ts";
import { toolCard } from "./tool-card.ts";
import { type TurnFacts, turnSummaryLines } from "./usage-text.ts";

const hostile: Readonly<Record<string, string>> = {
  "N198 clear the screen": "a\u001b[2J\u001b[Hb",
  "N199 cursor up over the prompt": "a\u001b[9A\u001b[2K\ry once > y\r\nb",
  "N200 clipboard": "a\u001b]52;c;ZXZpbA==\u0007b",
  "N201 link with another text": "\u001b]8;;https://evil.example\u001b\\good\u001b]8;;\u001b\\",
  "N202 window title": "a\u001b]0;title\u0007b",
  "N203 queries": "\u001b[6n\u001b[c\u001bP$qm\u001b\\x",
  "N204 device control and application strings":
    "\u001bPq#0;2;0;0;0\u001b\\a\u001b_Gf=100;AAAA\u001b\\b\u001b^p\u001b\\",
  "N205 C1 controls": "a\u009b2J\u009d0;t\u009cb\u0085c\u0090x\u009c",
  "N206 reordered": "user\u202e gpj.exe\u202c \u2066x\u2069 \u200f\u061c",
  "N207 zero width": "pass\u200bword \ufeff\u2060\u180e\u200e",
  "N208 look-alikes": "/etc/pаsswd",
  "N209 tags": "<img src=x onerror=alert(1)><svg onload=x><style>*{}</style>",
  "N210 addresses": "[x](javascript:alert(1)) ![](https://evil.example/?q=1) [y](data:text/html,x)",
  "a cut sequence": "a\u001b",
  "an endless sequence": `a\u001b]0;${"x".repeat(10_000)}`,
  "nested escapes": "\u001b\u001b[\u001b[31m\u001b]\u001b[2J",
  "other controls": "a\u0000b\u0007c\bd\u000be\ff\u007fg\u000e\u000f",
  returns: "first\rsecond\r\rthird\r\n\n\rfourth",
  tabs: "\ta\tb\t\tc\t\t\t",
  "line separators": "a\u2028› b\u2029✓ c",
  "lines that look like ours": "text\n✓ $ rm -rf /\n› yes\n? Allow: allowed\n! notice",
  wide: "漢字かな交じり文".repeat(30),
  emoji: "👩‍👩‍👧‍👦🇩🇪👍🏽❤️🏳️‍🌈".repeat(20),
  combining: `a${"\u0301".repeat(5_000)}b${"\u20dd".repeat(500)}`,
  "half pairs": "a\ud800b\udc00c\ud83d".repeat(30),
  "a line of 1 MB": "x".repeat(1_000_000),
  "a wide line of 300 KB": "漢".repeat(100_000),
  "words of 1 MB": "word ".repeat(200_000),
  "10,000 lines": "line\n".repeat(10_000),
  "nested fences": "````md\n```js\n~~~\n```\n````\n```\nnever closed",
  "deep lists and quotes": `${"> ".repeat(200)}x\n${Array.from({ length: 100 }, (_, at) => `${" ".repeat(2 * at)}- x`).join("\n")}`,
  "a table that is too wide": `|${" a |".repeat(100)}\n|${"---|".repeat(100)}\n|${" b |".repeat(100)}`,
  "a broken patch":
    "@@ -1,99 +1 @@\n+a\n@@ nonsense\n--- \n+++ \n\\ No\ndiff --git\n@@ -99999999999,1 +1,1 @@\n-x",
  "names of JavaScript": "constructor",
  blanks: "   \n\t\n ",
  empty: "",
};

const numbers = [Number.NaN, -5, 0, Number.POSITIVE_INFINITY, 1e21, 0.5];

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** Every kind of item with this text wherever an agent can put one. */
function viewWith(text: string, number = 3): SessionView {
  const block = { type: "text", text };
  const blocks = [
    block,
    { type: "image", data: text, mimeType: text, uri: text },
    { type: "audio", data: "AAAA", mimeType: text },
    { type: "resource_link", name: text, uri: text, title: text, mimeType: text, size: number },
    { type: "resource", resource: { uri: text, text, mimeType: text } },
    { type: text, data: text },
  ];
  const locations = [{ path: text, line: number }];
  const terminal = { type: "terminal", terminalId: "t" };
  const bodies = [
    { sessionUpdate: "user_message", messageId: "u", content: blocks },
    { sessionUpdate: "agent_message", messageId: "a", content: blocks },
    { sessionUpdate: "agent_thought", messageId: "t", content: blocks },
    { sessionUpdate: "terminal_update", terminalId: "t", command: text, output: { data: base64(text) } },
    {
      sessionUpdate: "terminal_update",
      terminalId: "t",
      exitStatus: { exitCode: number, signal: text },
      size: { cols: number, rows: number },
    },
    ...["completed", "failed", "cancelled", "in_progress", text].map((status, at) => ({
      sessionUpdate: "tool_call_update",
      toolCallId: `c${at}`,
      title: text,
      kind: ["execute", "edit", "read", "search", text][at],
      status,
      locations,
      rawInput: { text },
      rawOutput: { error: text },
      content: [
        terminal,
        { type: "content", content: block },
        ...blocks.map((content) => ({ type: "content", content })),
        { type: "diff", path: text, oldText: `${text}\nold`, newText: `${text}\nnew`, changes: [] },
        { type: "diff", changes: [{ operation: "move", oldPath: text, path: text }] },
        { type: "diff", changes: [], patch: { format: "git_patch", text } },
        { type: text, text },
      ],
      _meta: { claudeCode: { parentToolUseId: `c${(at + 1) % 5}` } },
    })),
    {
      sessionUpdate: "tool_call_update",
      toolCallId: "bare",
      title: text,
      status: "failed",
      rawOutput: text,
      _meta: { claudeCode: null },
    },
    { sessionUpdate: "notice", severity: text, title: text, description: text },
    { sessionUpdate: "compaction_update", compactionId: "k", status: "failed", error: text, summary: blocks },
    {
      sessionUpdate: "subagent_update",
      sessionId: text,
      title: text,
      description: text,
      state: { state: text },
    },
    {
      sessionUpdate: "session_message",
      messageId: "m",
      senderSessionId: text,
      recipientSessionId: "other",
      content: blocks,
    },
    { sessionUpdate: text === "" ? "x" : text, raw: text },
    { sessionUpdate: "plan_update", plan: { type: "items", planId: "p", entries: [planEntry(text)] } },
    { sessionUpdate: "plan_update", plan: { type: "markdown", planId: "q", content: text } },
    { sessionUpdate: "plan_update", plan: { type: "file", planId: "r", uri: text } },
    {
      sessionUpdate: "state_update",
      state: "running",
      background: [
        { type: "terminal", terminalId: "t" },
        { type: "tool_call", toolCallId: "c0" },
        { type: text },
      ],
    },
  ].map((update) => ({ kind: "update", update }));
  const asks = [
    {
      kind: "ask",
      askId: "1",
      permission: {
        title: text,
        description: text,
        options: [{ optionId: "o", name: text, kind: "allow_once" }],
      },
    },
    { kind: "answer", askId: "1", permission: { outcome: "selected", optionId: "o" } },
    { kind: "ask", askId: "2", elicitation: { mode: "url", message: text, url: text, elicitationId: "e" } },
  ];
  // as: peers send what they like
  return viewFrom(entriesOf([...bodies, ...asks] as unknown as EntryBody[]));
}

function planEntry(content: string) {
  return { content, status: "in_progress", priority: "high" };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const sgr = /\u001b\[[\d;]*m/g;
const forbidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;

function assertSafe(lines: readonly string[], width: number, what: string): void {
  for (const line of lines) {
    const plain = line.replaceAll(sgr, "");
    assert.doesNotMatch(plain, forbidden, `${what}: ${JSON.stringify(line.slice(0, 200))}`);
    const columns = visibleWidth(line);
    assert.ok(
      columns <= width,
      `${what}: ${columns} columns, not ${width}: ${JSON.stringify(line.slice(0, 300))}`,
    );
  }
}

/** Only marks of ours stand in the first column, and one at most: at the beginning. */
function assertOurs(lines: readonly string[], what: string): void {
  for (const [at, line] of lines.entries()) {
    const first = line.replaceAll(sgr, "").slice(0, 1);
    const isRemoved = first === unicodeMarks.notice;
    assert.ok(first === "" || first === " " || at === 0 || isRemoved, `${what}: ${JSON.stringify(line)}`);
  }
}

await loadDrawing();
const plain = painter(false, {});
const coloured = painter(true, {}, "dark");

for (const [name, text] of Object.entries(hostile)) {
  test(`every kind of item stays in its lines and is safe: ${name}`, () => {
    const view = viewWith(text);
    const isLong = text.length > 50_000;
    for (const width of isLong ? [60, 130] : [20, 35, 60, 130]) {
      for (const isExpanded of [false, true]) {
        for (const paint of [plain, coloured]) {
          const options = { width, paint, cwd: "/project", isExpanded, now: 5_000 };
          for (const item of view.timeline) {
            const what = `${item.kind}, ${width} columns${isExpanded ? ", expanded" : ""}`;
            const lines = drawItem(item, view, options);
            assertSafe(lines, width, what);
            assertOurs(lines, what);
            if (!isExpanded && item.kind !== "user_message" && item.kind !== "agent_message")
              assert.ok(lines.length < 100, `${what}: ${lines.length} lines`);
          }
          assertSafe(planLines(view, { width, paint }), width, "plan");
          assert.ok(planLines(view, { width, paint }).length <= 6);
          for (const plan of view.plans.values())
            assertSafe([planLine(plan, { width, paint })], width, "plan");
          assertSafe([backgroundLine(view, drawing(options)) ?? ""], width, "background work");
          const result = { stopReason: text, error: { kind: "internal", code: 1, message: text } } as const;
          assertSafe(
            turnSummaryLines(
              { result: result as unknown as TurnFacts["result"], durationMs: 1 },
              { width, paint },
            ),
            width,
            "summary",
          );
        }
      }
    }
  });
}

test("the plain form of a tool call has no control characters either (TH5)", () => {
  for (const [name, text] of Object.entries(hostile)) {
    const view = viewWith(text);
    for (const call of view.toolCalls.values()) {
      const options = { width: Number.POSITIVE_INFINITY, paint: plain, cwd: "/", isPlain: true };
      for (const line of toolCard(call, view, options))
        assert.doesNotMatch(
          line.replaceAll("\t", ""),
          forbidden,
          `${name}: ${JSON.stringify(line.slice(0, 200))}`,
        );
    }
  }
});

test("numbers that are no numbers of anything are not shown as such", () => {
  for (const number of numbers) {
    const view = viewWith("text", number);
    for (const item of view.timeline) {
      const odd = { ...item, time: number, ...("endedAt" in item ? { endedAt: number } : {}) };
      const options = { width: 60, paint: plain, cwd: "/project", now: number };
      const lines = drawItem(odd, view, options);
      assertSafe(lines, 60, `${item.kind} with ${number}`);
      assert.doesNotMatch(lines[0] ?? "", /NaN|Infinity|-5/, `${item.kind} with ${number}`);
    }
    const changed = { files: number, added: number, removed: number };
    const usage = { totalTokens: number, inputTokens: 0, outputTokens: 0 };
    const cost = { amount: number, currency: "USD" };
    const facts = { result: { stopReason: "end_turn", usage }, durationMs: number, changed, cost } as const;
    const lines = turnSummaryLines(facts, { width: 60, paint: plain });
    assert.doesNotMatch(lines.join(""), /NaN|Infinity|-5/, String(number));
    assertSafe(lines, 60, "summary");
  }
});

test("a terminal that is too narrow, or reports no width, still gets safe lines", () => {
  const view = viewWith("some words");
  for (const width of [Number.NaN, 0, -1, 1, 3.7]) {
    for (const item of view.timeline)
      assertSafe(
        drawItem(item, view, { width, paint: plain, cwd: "/" }),
        Number.isNaN(width) ? 80 : 20,
        item.kind,
      );
  }
});

test("a kind of tool that is named as a part of JavaScript has the icon of other tools", () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    const view = viewWith(name);
    const [call] = [...view.toolCalls.values()].filter(({ toolKind }) => toolKind === name);
    assert.ok(call);
    const [line = ""] = drawItem(call, view, { width: 200, paint: plain, cwd: "/" });
    assert.match(line, new RegExp(` • ${name} `));
  }
});

test("in ASCII, nothing of ours needs UTF-8", () => {
  const view = viewWith("some words");
  for (const isExpanded of [false, true]) {
    for (const item of view.timeline) {
      const lines = drawItem(item, view, {
        width: 30,
        paint: plain,
        cwd: "/",
        isExpanded,
        marks: asciiMarks,
        now: 9_000,
      });
      assert.match(lines.join(""), /^[\x20-\x7e]*$/, item.kind);
    }
  }
});
