import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readyAgents } from "@parley/client/launch";

test("docs/agents.md lists what each ready agent writes to and reaches in a sandbox", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../../docs/agents.md"), "utf8");
  for (const { name, needs } of readyAgents({ command: "parley" })) {
    assert.ok(needs?.state?.length, name);
    const row = new RegExp(`^\\| ${name} \\| (.*~.*) \\|$`, "m").exec(text)?.[1] ?? "";
    const shown = [...row.matchAll(/`([^`]+)`/g)].map(([, word]) => word);
    const state = needs.state.flatMap((path) => path.split("=").reverse());
    assert.deepEqual(shown, [...state, ...(needs.hosts ?? [])], name);
  }
});

test("what a ready agent keeps in its home is in the list of secrets in docs/sandbox.md, which a test compares", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../../docs/sandbox.md"), "utf8");
  for (const { name, needs } of readyAgents({ command: "parley" })) {
    const state = (needs?.state ?? []).map((path) => path.split("=").at(-1) ?? "");
    for (const path of state.filter((each) => !/^~\/\.(?:cache|local\/state)\//.test(each)))
      assert.ok(text.includes(`\`${path}\``), `${name}: ${path}`);
  }
});
