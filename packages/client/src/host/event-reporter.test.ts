// Tests what is told about an agent besides its updates.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventReporter, type Reporter } from "./event-reporter.ts";

/** Reports one event, with or without a status line. */
function told(showsProgress: boolean, event: Parameters<ReturnType<typeof eventReporter>>[0]): string[] {
  const lines: string[] = [];
  const printer: Reporter = {
    showsProgress,
    progress: (text) => lines.push(`status: ${text}`),
    notice: (text) => lines.push(`notice: ${text}`),
    stderr: () => undefined,
  };
  eventReporter(printer, { isVerbose: false, timeoutMs: undefined })(event);
  return lines;
}

test("a remote agent that cannot be reached is told with how long it is tried, and that it is back", () => {
  assert.deepEqual(told(true, { kind: "cut", agent: "far", keptMs: 600_000 }), [
    "notice: connection lost, trying again for up to 10 min; Ctrl-C to stop",
  ]);
  assert.deepEqual(told(false, { kind: "back", agent: "far" }), ["notice: connected again"]);
});

test("the silence of an agent is told on a terminal and elsewhere", () => {
  const silence = { kind: "quiet", ms: 30_000 } as const;
  assert.deepEqual(told(true, silence), ["status: no output from the agent for 30 s"]);
  assert.deepEqual(told(false, silence), ["notice: no output from the agent for 30 s"]);
});
