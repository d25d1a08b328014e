// Tests an agent that says only in the title of a call what it will do, as Gemini CLI does.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PermissionOption } from "@parley/acp";
import type { ToolCallUpdate } from "@parley/acp/model";
import { hasExactTitles } from "@parley/client/launch";
import { folder, rules } from "../../test/support/gate-probe.ts";
import { type PermissionQuestion, permissionGate } from "../policy.ts";

const options: PermissionOption[] = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

async function asked(
  t: Parameters<typeof folder>[0],
  call: Pick<ToolCallUpdate, "title" | "kind" | "rawInput" | "locations">,
  given: { readonly isExact: boolean; readonly rule?: string },
) {
  const questions: PermissionQuestion[] = [];
  const permission = (question: PermissionQuestion) => {
    questions.push(question);
    return "deny:once";
  };
  const gate = permissionGate({
    asker: { permission },
    rules: rules(given.rule ?? "allow read none"),
  });
  const session = { sessionId: "s", cwd: folder(t), roots: [] };
  const toolCall = { toolCallId: "c", locations: [], ...call } as ToolCallUpdate; // what a gate needs
  const subject = { type: "tool_call", toolCall } as const;
  const { signal } = new AbortController();
  const request = { title: String(call.title), subject, options };
  const context = { session, signal, exactTitles: given.isExact };
  const answer = await gate.decide({ type: "permission", request }, context);
  const { optionId } = answer as { readonly optionId?: string }; // of a gate
  return { answer: optionId, question: questions[0] };
}

const tool = { title: "echo (labstdio MCP Server)", kind: "other" } as const;
const command = { title: "touch b.txt", kind: "execute" } as const;

test("rules match the command and the tool that an exact title names, and answers to it can be remembered", async (t) => {
  assert.equal((await asked(t, tool, { isExact: true, rule: "allow mcp labstdio/echo" })).answer, "yes");
  assert.equal((await asked(t, tool, { isExact: true, rule: "allow mcp labstdio/other" })).answer, "no");
  assert.equal((await asked(t, command, { isExact: true, rule: "allow exec touch b.txt" })).answer, "yes");
  for (const call of [tool, command]) {
    const { question } = await asked(t, call, { isExact: true });
    assert.ok(
      question?.choices.some(({ id }) => id === "allow:session"),
      call.title,
    );
  }
});

test("a title that says more than the command is another command, and a call that says more is judged by that", async (t) => {
  const rule = "allow exec touch b.txt";
  for (const title of ["touch b.txt (harmless)", "touch b.txt; rm a", "Run touch b.txt", "x: touch b.txt"])
    assert.equal((await asked(t, { ...command, title }, { isExact: true, rule })).answer, "no", title);
  const more = { ...command, rawInput: { command: "rm a" } };
  assert.equal((await asked(t, more, { isExact: true, rule })).answer, "no");
});

test("of other agents a title is a label, and the question says why no rule can allow it", async (t) => {
  const named = await asked(t, tool, { isExact: false, rule: "allow mcp labstdio/echo" });
  assert.equal(named.answer, "no");
  assert.equal(named.question?.reason, "only the agent's title says what this is, so no rule can allow it");
  const ran = await asked(t, command, { isExact: false, rule: "allow exec touch b.txt" });
  assert.match(ran.question?.reason ?? "", /only the rule exec \*\* can allow it/);
});

test("of a file without the change, the question says what is missing", async (t) => {
  const call = { title: "Edit it", kind: "edit", locations: [{ path: "/w/a.ts" }] } as const;
  const { question } = await asked(t, call, { isExact: false });
  assert.equal(
    question?.reason,
    "the agent says which file, but not what it does there, and no rule allows that",
  );
});

test("Gemini CLI has exact titles, by its entry and by the name that it gives itself", () => {
  assert.equal(hasExactTitles({ traits: { exactTitles: true } }, undefined), true);
  assert.equal(hasExactTitles({}, "gemini-cli"), true);
  assert.equal(hasExactTitles({}, "claude-agent-acp"), false);
  assert.equal(hasExactTitles({}, undefined), false);
});
