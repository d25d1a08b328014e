// Records the sessions of an agent into a history, for apps.

import type { AgentEntry } from "../agents/agent-spec.ts";
import type { HistoryFile } from "../history/history-file.ts";
import type { HistoryAgent } from "../history/history-record.ts";
import { recordSessions } from "../history/session-recording.ts";
import type { ManagedConnection } from "./manage-agent.ts";
import type { Recorder } from "./managed-options.ts";

export function sessionRecorder(
  history: HistoryFile,
  agentNow: () => HistoryAgent,
  warn: (message: string) => void,
): Recorder & ReturnType<typeof recordSessions> {
  const recorder = recordSessions(
    async () => history,
    ({ forks }) => {
      const agent = agentNow();
      const original = forks === undefined ? undefined : () => recorder.historyOf(agent, forks);
      const failed = (error: unknown) =>
        warn(`a session cannot be stored in the history: ${messageOf(error)}`);
      return { agent, original, failed };
    },
  );
  return recorder;
}

/** A command is known by its argv, and called by the name that its agent gives itself. */
export function historyAgent(entry: AgentEntry, agent: ManagedConnection | undefined): HistoryAgent {
  if (entry.transport !== "stdio" || entry.origin !== "command") return { name: entry.name };
  const own = agent?.info?.name.slice(0, 80) ?? "";
  return { name: own === "" ? entry.name : own, command: [entry.command, ...entry.args] };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
