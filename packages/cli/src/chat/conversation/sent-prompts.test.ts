import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { EntryBody } from "@parley/acp/store";
import { openHistory } from "@parley/client/history";
import { historyFile } from "@parley/client/internal";
import type { HistoryOpener } from "../../live/history-opener.ts";
import { SentPrompts } from "./sent-prompts.ts";

test("the last prompt of a very long session is among the earlier prompts", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-prompts-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const history = historyFile(openHistory({ path: join(folder, "history.db") }));
  const session = { agent: { name: "far" }, cwd: folder, agentSessionId: "s" };
  const writer = await history.begin(session, (error) => assert.fail(String(error)));
  const prompt = (text: string): EntryBody => ({
    kind: "prompt",
    messageId: text,
    prompt: [{ type: "text", text }],
  });
  writer.append(prompt("first"));
  for (let at = 0; at < 6_000; at++) {
    const content = { type: "text", text: "x" } as const;
    const update = { sessionUpdate: "agent_message_chunk", messageId: `${at}`, content } as const;
    writer.append({ kind: "update", update });
  }
  writer.append(prompt("last"));
  await writer.flush();
  const prompts = new SentPrompts(folder, { open: async () => history } as unknown as HistoryOpener); // what is read
  assert.deepEqual(await prompts.find(""), ["last", "first"]);
  await writer.close();
  await history.close();
});
