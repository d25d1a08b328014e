import assert from "node:assert/strict";
import { test } from "node:test";
import type { WorkspaceSettings } from "@parley/client/trust";
import { ignoredNotice, settingsLines } from "./trust-text.ts";

const evil = "x\n  Trust this folder? y\r\u001b[2K\u202eevil\u009b1m";

const settings: WorkspaceSettings = {
  folder: `/home/me/${evil}`,
  items: [
    { file: ".parley/policy", what: `deny read ${evil}`, details: [] },
    { file: ".mcp.json", what: `MCP server ${evil}`, details: [`sh -c '${evil}'`, `with A=${evil}`] },
  ],
  rules: [`deny read ${evil}`],
  parsedRules: [],
  mcpServers: [{ type: "stdio", name: evil, command: "sh", args: [], env: [] }],
  files: [],
  problems: [`/home/me/.parley/policy:2: ${evil}`],
  identity: { device: "1", inode: "2", content: "3" },
};

test("TH15 a folder cannot forge, hide or reorder a line of the question about it", () => {
  const [changed] = settings.items;
  const trust = {
    state: "changed",
    changed: changed === undefined ? [] : [changed],
    gone: [{ file: ".parley/policy", what: evil }],
  } as const;
  const lines = [...settingsLines(settings, trust), ignoredNotice(settings, trust)];
  for (const line of lines) {
    assert.doesNotMatch(line, /[\p{Cc}\u202a-\u202e]/u);
    assert.ok(line.includes("evil") || /^ {2}\.(?:parley\/policy|mcp\.json)$/.test(line), line);
  }
  assert.equal(lines.length, 1 + 2 + 4 + 1 + 1 + 1);
});

test("a removed rule is listed under its file, and a problem does not say twice that it is ignored", () => {
  const gone = [{ file: ".parley/policy", what: "deny write b" }];
  const brought = {
    ...settings,
    folder: "/p",
    items: [
      { file: ".parley/policy", what: "deny write a", details: [] },
      { file: ".mcp.json", what: "MCP server db", details: ["db-server"] },
    ],
    problems: ["/p/.parley/policy:2: its allow rules are ignored"],
  };
  assert.deepEqual(
    settingsLines(brought, { state: "changed", changed: [], gone }, ["db is ignored"]).slice(1),
    [
      "  .parley/policy",
      "    deny write a",
      "  - deny write b (removed)",
      "  .mcp.json",
      "    MCP server db",
      "        db-server",
      "  note: /p/.parley/policy:2: its allow rules are ignored",
      "  note: db is ignored",
    ],
  );
});
