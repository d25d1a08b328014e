// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// One small task for a real model: it reads a file, edits it, answers, and remembers the answer in a second turn.

import { randomInt } from "node:crypto";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { client, type PromptResult, type SessionUpdate } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { codingAgent } from "../../src/coding-agent.ts";
import type { Model } from "../../src/model/model.ts";
import { said } from "../support/agent-probe.ts";

export interface SmokeResult {
  /** Empty when the model did everything. */
  readonly problems: readonly string[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Input tokens that the provider read from its cache. */
  readonly cachedTokens: number;
}

const words = ["harbour", "lantern", "meadow", "orchard", "pebble", "saddle", "thimble", "walnut"];

export async function smoke(model: Model, signal?: AbortSignal): Promise<SmokeResult> {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "parley-live-")));
  const [left, right] = memoryPair();
  const served = codingAgent({ version: "1", models: [model], mode: "code", sandbox: "off" }).connect(left);
  try {
    // a word that no model can know
    const word = `${words[randomInt(words.length)]}-${randomInt(1_000)}`;
    const notes = join(cwd, "notes.txt");
    writeFileSync(notes, `The word of the day is ${word}.\n`);
    const agent = await client({ name: "live", version: "1" }).connect(right);
    const updates: SessionUpdate[] = [];
    const session = await agent.newSession({ cwd, onUpdate: (update) => void updates.push(update) });
    const results: PromptResult[] = [];
    for (const text of [
      "Read notes.txt. Then edit it: replace the word of the day by `done`, and change nothing else. Then answer with the old word of the day only.",
      "What was the old word of the day? Answer with the word only, without tools.",
    ]) {
      const prompt = session.prompt(text);
      signal?.addEventListener("abort", () => void prompt.cancel(), { once: true });
      results.push(await prompt.result);
      signal?.throwIfAborted();
    }
    const answers = said(updates).split(word).length - 1;
    const sum = (name: "inputTokens" | "outputTokens" | "cachedReadTokens") =>
      results.reduce((total, { usage }) => total + (usage?.[name] ?? 0), 0);
    const ends = results.map(({ stopReason }) => stopReason).join(", ");
    return {
      problems: [
        ...(ends === "end_turn, end_turn" ? [] : [`the turns ended with ${ends}`]),
        ...(readFileSync(notes, "utf8") === "The word of the day is done.\n"
          ? []
          : ["the file is not as asked for"]),
        ...(answers >= 2 ? [] : [`the word is in ${answers} of 2 answers`]),
        ...(sum("inputTokens") > 0 ? [] : ["no tokens were counted"]),
      ],
      inputTokens: sum("inputTokens"),
      outputTokens: sum("outputTokens"),
      cachedTokens: sum("cachedReadTokens"),
    };
  } finally {
    await right.close();
    await served.closed;
    rmSync(cwd, { recursive: true, force: true });
  }
}
