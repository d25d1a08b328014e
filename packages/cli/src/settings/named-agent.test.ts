import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readAgents } from "./named-agent.ts";

test("our own agent gets what it reaches its providers and MCP servers with, and no other secrets", (t) => {
  const home = mkdtempSync(join(tmpdir(), "parley-named-"));
  const before = process.env["PARLEY_HOME"];
  t.after(() => {
    if (before === undefined) delete process.env["PARLEY_HOME"];
    else process.env["PARLEY_HOME"] = before;
    rmSync(home, { recursive: true, force: true });
  });
  process.env["PARLEY_HOME"] = home;
  const key = ["$", "{TRACKER_KEY}"].join("");
  const agent = {
    providers: { work: { baseUrl: "https://models.example.com/v1", apiKeyEnv: "WORK_KEY" } },
    mcpServers: { tracker: { url: "https://t.example", headers: { "X-Key": key } } },
  };
  mkdirSync(join(home, "config"));
  writeFileSync(join(home, "config/config.json"), JSON.stringify({ agent }));
  const entry = readAgents(() => undefined).agents.get("parley");
  const passes = entry !== undefined && "pass" in entry ? (entry.pass ?? []) : [];
  const isPassed = (name: string) =>
    passes.some((each) => (each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : name === each));
  for (const name of [
    ...["PARLEY_MODEL", "WORK_KEY", "TRACKER_KEY"],
    ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_BASE_URL", "OLLAMA_HOST"],
    ...["CEREBRAS_API_KEY", "ZAI_API_KEY", "MINIMAX_API_KEY", "TOGETHER_API_KEY"],
    ...["AWS_REGION", "AWS_ACCESS_KEY_ID", "GOOGLE_VERTEX_PROJECT", "AZURE_RESOURCE_NAME", "AZURE_API_KEY"],
  ])
    assert.ok(isPassed(name), name);
  for (const name of ["GITHUB_TOKEN", "NPM_TOKEN", "DATABASE_URL", "AZURE_CLIENT_SECRET"])
    assert.ok(!isPassed(name), name);
});
