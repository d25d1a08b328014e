import assert from "node:assert/strict";
import { test } from "node:test";
import { createView } from "@parley/acp/view";
import type { Conversation } from "@parley/client/conversation";
import { painter } from "../../terminal/paint.ts";
import { firstLine } from "./first-line.ts";

/** The first line in a window of this width. */
function shown(width: number, cwd = "/work/a project"): string[] {
  const session = {
    agent: { name: "parley", title: "Parley 0.1.0" },
    view: { ...createView(), mode: { id: "ask", name: "Ask" } },
    ...{ cwd, options: [], sandbox: "sandbox workspace" },
  } as unknown as Conversation; // what is read
  return firstLine(session, width, painter(false, {}));
}

test("where the first line is too long, each further line begins with a whole fact", () => {
  const whole = "Parley 0.1.0 · /work/a project · mode Ask · sandbox workspace";
  assert.deepEqual(shown(whole.length), [whole]);
  assert.deepEqual(shown(whole.length - 1), [
    "Parley 0.1.0 · /work/a project · mode Ask",
    "  sandbox workspace",
  ]);
  assert.deepEqual(shown(24), ["Parley 0.1.0", "  /work/a project", "  mode Ask", "  sandbox workspace"]);
});

test("a fact that is wider than the window is broken", () => {
  const cwd = `/${"long".repeat(10)}`;
  const lines = shown(30, cwd);
  assert.ok(lines.every((line) => line.length <= 30));
  assert.ok(lines.join("").replaceAll("  ", "").includes(cwd));
});
