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
