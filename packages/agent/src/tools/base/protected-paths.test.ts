import assert from "node:assert/strict";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isProtected } from "./protected-paths.ts";

const own = process.env["PARLEY_HOME"] || join(homedir(), ".config", "parley");

test("the agent's own configuration is asked about before it is read or written", () => {
  for (const access of ["read", "write"] as const) assert.ok(isProtected(join(own, "config.json"), access));
  assert.ok(!isProtected("/w/src/a.ts", "write"));
});

test("the user's own skills may be read, but not written, and not their secrets", () => {
  const home = process.env["PARLEY_HOME"];
  const config = home ? join(home, "config") : own;
  const skill = join(config, "skills", "release");
  assert.ok(!isProtected(join(skill, "steps.md"), "read"));
  assert.ok(isProtected(join(skill, "steps.md"), "write"));
  assert.ok(isProtected(join(skill, ".env"), "read"));
  assert.ok(isProtected(join(config, "skills-and-more"), "read"));
});
