import assert from "node:assert/strict";
import { test } from "node:test";
import type { PermissionQuestion, RuleSubject } from "@parley/client/policy";
import { endsQuestions, modeAllows } from "./known-modes.ts";

const mode = (value: string, name = value) => ({ value, name });

test("modes of known agents in which nothing is asked are known by id or name, in any spelling", () => {
  for (const each of [
    mode("bypassPermissions", "Bypass Permissions"),
    mode("full-access", "Full access"),
    mode("agent-full-access", "Agent (full access)"),
    mode("yolo", "YOLO"),
    mode("auto-high", "Auto (High)"),
    mode("https://agentclientprotocol.com/protocol/session-modes#autopilot", "Autopilot"),
  ])
    assert.equal(endsQuestions(each), true, each.value);
  for (const each of [
    "ask",
    "code",
    "default",
    "acceptEdits",
    "auto",
    "plan",
    "dontAsk",
    "#agent",
    "workspace-write",
    "auto-low",
  ])
    assert.equal(endsQuestions(mode(each)), false, each);
});

function asked(subject: Partial<RuleSubject>, more: Partial<PermissionQuestion> = {}): PermissionQuestion {
  return {
    sessionId: "s",
    summary: "",
    subjects: [{ origin: "claim", operation: "write", ...subject }],
    reason: "",
    isAlwaysAsked: false,
    choices: [],
    signal: new AbortController().signal,
    ...more,
  };
}

test("a mode that accepts edits allows a change, and neither a deletion, a command, nor what is always asked", () => {
  const edits = mode("acceptEdits");
  assert.equal(modeAllows("claude", edits, asked({})), true);
  assert.equal(modeAllows("claude", edits, asked({ deletes: true })), false);
  assert.equal(modeAllows("claude", edits, asked({ operation: "exec" })), false);
  assert.equal(modeAllows("claude", edits, asked({}, { isAlwaysAsked: true })), false);
  // what a mode means is known of known agents only
  assert.equal(modeAllows("other", edits, asked({})), false);
  assert.equal(modeAllows("claude", mode("plan"), asked({})), false);
  for (const [agent, each] of [
    ["codex", mode("workspace-write", "Workspace access")],
    ["codex", mode("auto", "Default")],
    ["droid", mode("auto-low", "Auto (Low)")],
  ] as const)
    assert.equal(modeAllows(agent, each, asked({})), true, each.value);
});

test("our own agent says which modes would not have asked", () => {
  const kind = "allow_once";
  const options = [{ optionId: "y", name: "Allow", kind, _meta: { "_parley.dev/modes": ["code"] } }] as const;
  const command = asked({ operation: "exec" }, { request: { title: "ls", options } });
  assert.equal(modeAllows("parley", mode("code"), command), true);
  assert.equal(modeAllows("parley", mode("architect"), command), false);
});
