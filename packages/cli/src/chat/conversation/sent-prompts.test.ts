import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Entry } from "@parley/acp";
import { openHistory } from "@parley/client/history";
import { recordingHistory } from "@parley/client/internal";
import type { LiveHistory } from "../../live/live-history.ts";
import { SentPrompts } from "./sent-prompts.ts";

test("the last prompt of a very long session is among the earlier prompts", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-prompts-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const history = recordingHistory(openHistory({ path: join(folder, "history.db") }));
  const recorder = await history.begin({ agent: { name: "far" }, cwd: folder, agentSessionId: "s" });
  const prompt = (text: string): Entry => ({
    ...{ format: 1, seq: 0, time: 1, kind: "prompt", messageId: text },
    prompt: [{ type: "text", text }],
  });
  recorder.entry(prompt("first"));
  for (let at = 0; at < 6_000; at++) {
    const content = { type: "text", text: "x" } as const;
    const update = { sessionUpdate: "agent_message_chunk", messageId: `${at}`, content } as const;
    recorder.entry({ format: 1, seq: 0, time: 1, kind: "update", update });
  }
  recorder.entry(prompt("last"));
  await recorder.stored();
  const prompts = new SentPrompts(folder, { open: async () => history } as unknown as LiveHistory); // what is read
  assert.deepEqual(await prompts.find(""), ["last", "first"]);
  await recorder.close();
  await history.close();
});
