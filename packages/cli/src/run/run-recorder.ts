// The history of a run: opened beside the agent, and never a reason to stop.

import { type History, type LiveRecorder, liveRecorder, openHistory } from "@parley/client/history";
import { historyPath } from "../sessions/opened-history.ts";
import type { RunTarget } from "./run-target.ts";
import { safeLine } from "./safe-text.ts";

export function runHistory(notice: (text: string) => void): History {
  return openHistory({ path: historyPath(), failed: untold(notice) });
}

export function runRecorder(
  history: History,
  { agent, known }: RunTarget,
  name: string | undefined,
  notice: (text: string) => void,
): LiveRecorder {
  return liveRecorder(history, {
    agent,
    known,
    name: known === undefined ? name : undefined,
    failed: untold(notice),
  });
}

function untold(notice: (text: string) => void): (error: unknown) => void {
  return (error) => {
    const why = error instanceof Error ? error.message : String(error);
    notice(`this session is not kept in the history: ${safeLine(why)}`);
  };
}
