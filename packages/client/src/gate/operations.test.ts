import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { PermissionOption } from "@parley/acp";
import { type Decision, type GateOptions, rememberedRules } from "@parley/client/policy";
import { folder, rules, talk } from "../../test/support/gate-probe.ts";

/** As the dialect "scoped" offers them. */
const scopes: PermissionOption[] = [
  { optionId: "once", name: "Once", kind: "allow_once" },
  { optionId: "session", name: "For the session", kind: "allow_always" },
  { optionId: "workspace", name: "In the workspace", kind: "allow_always" },
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "reject_once", name: "No", kind: "reject_once" },
  { optionId: "reject_always", name: "Never", kind: "reject_always" },
];

type Asked = readonly [operation: string, resource: string];

/** What is answered to questions about operations. */
async function answers(t: TestContext, options: GateOptions, ...asked: readonly Asked[]) {
  const cwd = folder(t, { "src/a.ts": "old" });
  const got: unknown[] = [];
  const decisions: Decision[] = [];
  const { gate, go } = await talk(t, cwd, options, async (turn) => {
    for (const [operation, resource] of asked) {
      let chosen: string | undefined;
      await turn.requestPermission({
        title: `${operation}: ${resource}`,
        subject: { type: "_operation", operation, resource, reason: "to see" },
        options: scopes,
        onAnswer: ({ optionId }: PermissionOption) => {
          chosen = optionId;
        },
      });
      got.push(chosen);
    }
  });
  gate.onDecision((decision) => decisions.push(decision));
  await go();
  return { got, decisions, cwd };
}

test("rules answer questions about operations exactly, each for once", async (t) => {
  const given = rules(
    "allow read src",
    "allow write src/a.ts",
    "allow exec npm test",
    "allow net example.org",
    "allow mcp github/*",
    "deny write src/b.ts",
  );
  const { got } = await answers(
    t,
    { rules: given },
    ["file_read", "src/a.ts"],
    ["file_write", "src/a.ts"],
    ["terminal_execute", "npm test"],
    ["network_access", "https://example.org/page"],
    ["mcp_tool", "github/list_issues"],
    ["mcp_tool", "mcp__github__list_issues"],
    ["file_delete", "src/b.ts"],
    ["terminal_execute", "npm test && rm -r src"],
    ["mcp_tool", "list_issues"],
    ["make_coffee", "src/a.ts"],
  );
  assert.deepEqual(
    got.slice(0, 6),
    Array.from({ length: 6 }, () => "once"),
  );
  assert.deepEqual(
    got.slice(6),
    Array.from({ length: 4 }, () => "reject_once"),
  );
});

test("a question about an operation counts with what the call that it names says (V13)", async (t) => {
  const cwd = folder(t, { "src/a.ts": "old" });
  const got: unknown[] = [];
  const inputs = [
    { command: "npm test" },
    { command: "npm test", cwd: "/elsewhere" },
    { command: "rm -r src" },
  ];
  const { go } = await talk(t, cwd, { rules: rules("allow exec npm test") }, async (turn) => {
    for (const rawInput of inputs) {
      const toolCallId = `t${got.length}`;
      await turn.update({
        sessionUpdate: "tool_call_update",
        toolCallId,
        title: "Test",
        kind: "execute",
        rawInput,
      });
      let chosen: string | undefined;
      await turn.requestPermission({
        title: "Test",
        subject: { type: "_operation", operation: "terminal_execute", resource: "npm test", toolCallId },
        options: scopes,
        onAnswer: ({ optionId }: PermissionOption) => {
          chosen = optionId;
        },
      });
      got.push(chosen);
    }
  });
  await go();
  assert.deepEqual(got, ["once", "reject_once", "reject_once"]);
});

test("an operation is told from its facts, and deleting is more than writing", async (t) => {
  const { decisions, cwd } = await answers(
    t,
    {},
    ["file_delete", "src/a.ts"],
    ["network_access", "wss://a.org"],
  );
  assert.deepEqual(
    decisions.map(({ subjects }) => subjects),
    [
      [{ origin: "claim", operation: "write", deletes: true, path: join(cwd, "src/a.ts") }],
      [{ origin: "claim", operation: "net", host: "a.org:443" }],
    ],
  );
});

for (const [choice, optionId] of Object.entries({
  "allow:once": "once",
  "allow:session": "session",
  "allow:workspace": "workspace",
  "allow:always": "always",
  "deny:once": "reject_once",
  "deny:session": "reject_always",
})) {
  test(`the agent is answered with the scope that we remember: ${choice} is ${optionId}`, async (t) => {
    const remembered = rememberedRules(join(folder(t), "permissions.ndjson"));
    const asker = { permission: () => choice };
    const { got } = await answers(t, { asker, remembered }, ["file_read", "/elsewhere/a"]);
    assert.deepEqual(got, [optionId]);
  });
}
