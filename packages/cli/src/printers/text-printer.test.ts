import assert from "node:assert/strict";
import { test } from "node:test";
import type { StopReason } from "@parley/acp";
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
