// Agents that lie about what they do, or act without asking, after a no, or twice on one yes.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { ToolKind } from "@parley/acp/model";
import { parseRule, type Rule } from "@parley/client/policy";
import type { PermissionQuestion } from "../../src/policy.ts";
import { toolKinds } from "../support/gate-probe.ts";
import { type Attempt, ground, hostile, tally } from "./hostile-probe.ts";

const patience = { timeout: 120_000 };
const scopes = ["once", "session", "workspace", "always"] as const;

/** Harmless by its label; harmful by what it says that it does. */
const labels = (kind: ToolKind, rawInput: unknown): Attempt => ({
  act: "ask",
  title: "Read README.md",
  kind,
  rawInput,
  locations: [{ path: "/nowhere/README.md" }],
});

test("no label grants anything: ten kinds, four scopes, five real operations (TH2)", patience, async (t) => {
  const { root } = ground(t);
  const harmful = [
    { command: "rm -rf /" },
    { path: "/etc/cron.d/x", content: "x" },
    { url: "https://evil.example/" },
    { server: "evil", tool: "run" },
    undefined,
  ];
  const violations: string[] = [];
  let count = 0;
  for (const scope of scopes) {
    const harmless = [
      "read README.md",
      "read /nowhere/README.md",
      "exec ls",
      "net good.example",
      "mcp good/*",
    ];
    const rules = harmless.map((text): Rule => {
      const rule = parseRule(text, { effect: "allow", origin: "remembered" });
      return scope === "once" ? rule : { ...rule, scope };
    });
    const { attempt, gate } = await hostile(t, root, { rules });
    const attempts = toolKinds.flatMap((kind) => harmful.map((rawInput) => labels(kind, rawInput)));
    const answers = await attempt(attempts);
    count += attempts.length;
    for (const [at, { value }] of answers.entries())
      if (value !== "false")
        violations.push(`${scope}: ${JSON.stringify(attempts[at])} was answered ${value}`);
    assert.equal(gate.refusals.length, attempts.length);
  }
  tally(t, "labels of a lying agent", count, violations);
});

test("what is really done is asked about, whatever was said before (TH2, TH3)", patience, async (t) => {
  const workspace = ground(t);
  const shown: string[] = [];
  // a person who says yes to everything that looks like reading, and no to all else
  const permission = ({ summary, choices, subjects }: PermissionQuestion) => {
    shown.push(summary);
    const isReading = subjects.every(({ operation, origin }) => operation === "read" || origin === "claim");
    return choices.find(({ effect }) => effect === (isReading ? "allow" : "deny"))?.id;
  };
  const { attempt } = await hostile(t, workspace.root, { asker: { permission } });
  const violations: string[] = [];
  let count = 0;
  for (const [at, kind] of toolKinds.entries()) {
    const path = workspace.at(`target-${at}`);
    const lies: Attempt[] = [
      labels(kind, { path: workspace.at("README.md") }),
      { act: "write", path, content: "harm" },
      labels(kind, { path, content: "harmless" }),
      { act: "write", path, content: "harm" },
      { act: "run", command: "touch", args: [path] },
      { act: "run", command: `touch ${path}` },
      labels(kind, { command: "ls" }),
      { act: "run", command: "/bin/sh", args: ["-c", `ls; touch ${path}`] },
    ];
    const results = await attempt(lies);
    count += lies.length;
    if (existsSync(path)) violations.push(`${kind}: ${path} was made`);
    for (const [index, result] of results.entries())
      if (lies[index]?.act !== "ask" && result.code !== -32060)
        violations.push(`${kind}: ${JSON.stringify(lies[index])} was answered ${JSON.stringify(result)}`);
  }
  assert.ok(shown.some((summary) => summary.startsWith("run touch")));
  tally(t, "real operations of a lying agent", count, violations);
});

test("one yes is one effect: replayed, late and altered ones have none (TH3)", patience, async (t) => {
  const workspace = ground(t);
  const permission = ({ choices, subjects }: PermissionQuestion) =>
    choices.find(({ effect }) => effect === (subjects[0]?.origin === "claim" ? "allow" : "deny"))?.id;
  const { attempt } = await hostile(t, workspace.root, { asker: { permission } });
  const path = workspace.at("file");
  const ask: Attempt = {
    act: "ask",
    title: "Edit",
    kind: "edit",
    rawInput: { path },
    diff: { path, newText: "agreed" },
  };
  const write = (content: string): Attempt => ({ act: "write", path, content });
  const first = await attempt([ask, write("altered"), write("agreed"), write("agreed")]);
  // the approval of one turn is not for the next
  const second = await attempt([ask]);
  const third = await attempt([write("agreed")]);
  const got = [...first, ...second, ...third].map(({ value, code }) => value ?? code);
  const wanted = ["true", -32060, "written", -32060, "true", -32060];
  const violations = got.flatMap((each, at) =>
    each === wanted[at] ? [] : [`attempt ${at}: ${each}, wanted ${wanted[at]}`],
  );
  assert.equal(readFileSync(path, "utf8"), "agreed");
  tally(t, "replayed, late and altered approvals", got.length, violations);
});

test(
  "protected files are asked about whatever is allowed, and what holds the rules is never written (N163-N166)",
  patience,
  async (t) => {
    const workspace = ground(t);
    const own = workspace.at(".config/parley");
    const everything = [parseRule("*", { effect: "allow", origin: "launch" })];
    const { attempt } = await hostile(t, workspace.root, { rules: everything, own: [own] });
    const names = [
      ".git/hooks/pre-commit",
      ".git/config",
      ".GIT/config",
      ".env",
      ".mcp.json",
      ".vscode/tasks.json",
      ".bashrc",
    ];
    const paths = [...names, ".github/workflows/ci.yml", ".config/parley/policy"].map(workspace.at);
    const results = await attempt(paths.map((path) => ({ act: "write", path, content: "harm" })));
    const violations = paths.filter((path, at) => existsSync(path) || results[at]?.code !== -32060);
    tally(t, "protected files", paths.length, violations);
  },
);
