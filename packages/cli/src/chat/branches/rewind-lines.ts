// What a rewind did, in sentences, and how a prompt is listed that can be rewound to.

import { relative } from "node:path";
import type { PastPrompt, RewindOutcome } from "@parley/client/conversation";
import { counted } from "../../draw/text-lines.ts";
import { changeText } from "../../draw/usage-text.ts";
import { age } from "../../sessions/stored-sessions.ts";
import { escapedLine, safeLine } from "../../terminal/sanitise.ts";

/** A list of prompts is of no use then. */
export const isWorking = "the agent works: stop the turn or wait for its end, then rewind";
/** Of a session in a list. */
export const leftByRewind = "left by a rewind";
export const undoLabel = "Undo the rewind";
export const undoHelp = "back to the branch that was left, with its files";

/** `branches` says where the branch that was left is. */
export function rewindLines(outcome: RewindOutcome, cwd: string, branches: string): string[] {
  const { memory, leftOut = 0, files } = outcome;
  const missing = leftOut === 0 ? "" : `, without its first ${leftOut.toLocaleString("en-US")} characters`;
  const memories: Readonly<Record<RewindOutcome["memory"], string>> = {
    kept: "rewound: the agent continues its own memory up to there",
    told: `rewound: a new session that was told the conversation up to there${missing}`,
    new: "rewound: a new session, since nothing was said before",
    back: "the rewind was undone: this is the branch that was left",
  };
  const changed = files.files === 0 ? [] : [`files as they were: ${counted(files.files, "file")} put back`];
  const kept = files.kept.map(
    ({ path, reason }) => `left as it is: ${escapedLine(relative(cwd, path))}: ${reason}`,
  );
  const back =
    memory === "back" ? [] : [`the branch left behind is in ${branches}; /rewind undo goes back to it`];
  return [memories[memory], ...changed, ...kept, ...files.notes, ...back].map(safeLine);
}

export function promptLine({ text }: PastPrompt): string {
  const line = safeLine(text.slice(0, 300).replaceAll(/\s+/g, " ").trim());
  return line === "" ? "(no text)" : line;
}

/** Such as "5m ago · 3 files +92 -46". */
export function promptFacts({ time, changed }: PastPrompt, now = Date.now()): string {
  const passed = age(now - time);
  const when = passed === "now" ? "just now" : `${passed} ago`;
  return changed === undefined ? when : `${when} · ${changeText(changed)}`;
}
