// Tests that the handshake loads no provider, no MCP client, no tools and no database.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sourceLauncher } from "../../acp/test/support/programs.ts";
import { home, patience, start } from "./support/process-probe.ts";

const heavy =
  /^(?:@ai-sdk\/|ai$|zod|undici|ws$|@modelcontextprotocol\/|node:sqlite$|htmlparser2|ignore$|picomatch)/;
/** What a session or a prompt needs. */
const later =
  /answer-prompt|(?:open-session|session-state|coding-tools|turn-loop|mcp\/servers|provider-model)\.ts$/;

test("initialize is answered before a provider, MCP, tools or SQLite are loaded", patience, async (t) => {
  const place = home(t);
  const names = join(place.path, "names");
  const hook = join(place.path, "hook.mjs");
  writeFileSync(names, "");
  writeFileSync(
    hook,
    `import { appendFileSync } from "node:fs";
     import { registerHooks } from "node:module";
     registerHooks({ resolve(name, context, next) {
       appendFileSync(${JSON.stringify(names)}, name + "\\n");
       return next(name, context);
     } });`,
  );
  place.configure({
    agent: { model: "anthropic/claude-opus-5-5", providers: { anthropic: { apiKey: "k" } } },
  });
  const { agent } = await start(t, place, 1, {
    command: sourceLauncher,
    env: { NODE_OPTIONS: `--import=${hook}` },
  });
  const loaded = () => [...new Set(readFileSync(names, "utf8").split("\n"))];
  assert.ok(
    loaded().some((name) => name === "@parley/agent"),
    "the hook sees what is loaded",
  );
  assert.deepEqual(
    loaded().filter((name) => heavy.test(name) || later.test(name)),
    [],
  );
  await agent.newSession({ cwd: place.cwd });
  assert.deepEqual(
    loaded().filter((name) => heavy.test(name)),
    ["node:sqlite"],
    "a session needs its store, and no provider yet",
  );
  assert.ok(
    loaded().some((name) => later.test(name)),
    "the names of what is loaded later are right",
  );
});
