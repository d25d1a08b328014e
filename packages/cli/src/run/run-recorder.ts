// The history of a run: opened beside the agent, and never a reason to stop.

import type { LiveRecorder } from "@parley/client/history";
import { historyPath } from "../sessions/opened-history.ts";
import type { RunOptions } from "./run-options.ts";
import { safeLine } from "./safe-text.ts";

export interface RunRecorder extends LiveRecorder {
  readonly name: string | undefined;
}

export async function runRecorder(
  { keepsHistory, command, session: name }: RunOptions,
  notice: (text: string) => void,
): Promise<RunRecorder | undefined> {
  if (!keepsHistory) return undefined;
  const { liveRecorder, openHistory } = await import("@parley/client/history");
  const failed = (error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    notice(`this session is not kept in the history: ${safeLine(why)}`);
  };
  const history = openHistory({ path: historyPath(), failed });
  const agent = command.length > 0 ? { name: command[0] ?? "", command } : { name: "parley" };
  const recorder = liveRecorder(history, { agent, name, failed });
  return {
    ...recorder,
    name,
    async close() {
      await recorder.close();
      await history.close();
    },
  };
}
