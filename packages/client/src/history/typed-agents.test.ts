// The sessions of agents whose command was typed: found by it, also those of older versions, and without its words beside it.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteStore } from "@parley/acp/node";
import { openHistory } from "@parley/client/history";
import { historyFile } from "@parley/client/internal";
import { recordFrom } from "./history-record.ts";

for (const isOlder of [false, true])
  test(`a session of a typed command is found by it, and its words are kept once (${isOlder ? "an older version" : "this version"})`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "parley-typed-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, "history.db");
    const agent = { name: "my-agent", command: ["my-agent", "--token", "hunter2-hunter2"] };
    const record = recordFrom({ agent, agentSessionId: "s1", cwd: "/project" }, Date.now());
    const { agent: _, agentSessionId: __, ...older } = record;
    await using store = sqliteStore(path);
    await store.create(isOlder ? older : record);
    await store.close();
    const history = historyFile(openHistory({ path }));
    assert.equal((await history.ofAgent(agent, "s1"))?.id, record.sessionId);
    await history.close();
    const db = new DatabaseSync(path);
    const row = db.prepare("SELECT agent, record FROM session").get();
    db.close();
    assert.match(String(row?.["agent"]), /^sha256:/);
    assert.equal(String(row?.["record"]).split("hunter2-hunter2").length, 2);
  });
