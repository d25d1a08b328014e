// Secrets of our environment reach neither undeclared agents nor their commands.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { agentEnvironment, type CommandEntry, readyAgents } from "@parley/client/launch";
import { parseRule } from "@parley/client/policy";
import { ground, hostile, hostileEntry, tally } from "./hostile-probe.ts";

const patience = { timeout: 60_000 };

const names = [
  "ANTHROPIC_API_KEY",
  "OPENAI_API_KEY",
  "GEMINI_API_KEY",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "GITHUB_TOKEN",
  "GH_TOKEN",
  "NPM_TOKEN",
  "DATABASE_URL",
  "PARLEY_TOKEN",
  "PARLEY_GATEWAY_TOKEN",
  "PARLEY_API_KEY",
  "PARLEY_WIRE_FD",
  "CLAUDECODE",
  "MY_PASSWORD",
  "SLACK_WEBHOOK",
];
const canaries = Object.fromEntries(names.map((name, at) => [name, `canary-${at}-${name}`]));

function leaked(text: string): string[] {
  return Object.entries(canaries).flatMap(([name, value]) => (text.includes(value) ? [name] : []));
}

test("no canary of our environment is in an agent's or in its commands' (TH7)", patience, async (t) => {
  const { root } = ground(t);
  const before = { ...process.env };
  Object.assign(process.env, canaries);
  t.after(() => {
    for (const name of names) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });
  // as the agents are that need no configuration: it gets what it declares
  const entry: CommandEntry = { ...hostileEntry, origin: "ready", pass: ["OPENAI_API_KEY"] };
  const rules = [parseRule("exec **", { effect: "allow", origin: "launch" })];
  const env = agentEnvironment(entry, process.env);
  const { attempt, pid } = await hostile(t, root, { rules, env }, entry);
  const [own, command] = await attempt([{ act: "environment" }, { act: "run", command: "env", args: [] }]);
  const seen: [string, string][] = [
    ["agent", own?.value ?? ""],
    ["command", command?.value ?? ""],
  ];
  if (process.platform === "linux") seen.push(["process", readFileSync(`/proc/${pid}/environ`, "utf8")]);
  const violations = seen.flatMap(([where, text]) => {
    assert.ok(text.includes(canaries["OPENAI_API_KEY"] ?? "?"), `${where}: what is declared is there`);
    return leaked(text)
      .filter((name) => name !== "OPENAI_API_KEY")
      .map((name) => `${name} is in the ${where}'s environment`);
  });
  tally(t, "canaries in environments", seen.length * names.length, violations);
});

test("a command that somebody typed gets our environment without what is ours alone (TH7)", () => {
  const env = agentEnvironment(hostileEntry, { ...canaries, PATH: "/bin" });
  const kept = leaked(JSON.stringify(env));
  for (const name of [
    "PARLEY_TOKEN",
    "PARLEY_GATEWAY_TOKEN",
    "PARLEY_API_KEY",
    "PARLEY_WIRE_FD",
    "CLAUDECODE",
  ])
    assert.ok(!kept.includes(name), name);
  assert.ok(kept.includes("GITHUB_TOKEN"));
});

test("no agent that needs no configuration gets another one's key (TH7)", (t) => {
  const violations: string[] = [];
  const entries = readyAgents();
  for (const entry of entries) {
    const { pass: passes = [] } = entry;
    const declared = (name: string) =>
      passes.some((pass) => pass === name || (pass.endsWith("*") && name.startsWith(pass.slice(0, -1))));
    for (const name of leaked(JSON.stringify(agentEnvironment(entry, canaries))))
      if (!declared(name) || name.startsWith("PARLEY_")) violations.push(`${entry.name} gets ${name}`);
  }
  tally(t, "canaries in the environments of known agents", entries.length * names.length, violations);
});
