// Removes secrets from sessions before they are printed: those that became known after the session was recorded.

import type { Entry } from "@parley/acp";
import type { HistorySession } from "@parley/client/history";
import { knownSecrets } from "../settings/known-secrets.ts";

export interface SessionRedactor {
  session(session: HistorySession): HistorySession;
  text(text: string): string;
  entries(entries: AsyncIterable<Entry>): AsyncIterable<Entry>;
}

export async function sessionRedactor(sessions: readonly HistorySession[]): Promise<SessionRedactor> {
  const [{ Redactor, StreamRedactor }, secrets] = await Promise.all([
    import("@parley/acp/redact"),
    knownSecrets({ agents: sessions.map(({ agent }) => agent) }),
  ]);
  const known = new StreamRedactor<Entry>(secrets);
  const commands = new Redactor({ names: false, secrets });
  return {
    session(session) {
      const { agent, ...rest } = known.value(session);
      const { command } = session.agent;
      return {
        ...rest,
        agent: command === undefined ? agent : { ...agent, command: commands.command(command) },
      };
    },
    text: (text) => known.text(text),
    async *entries(entries) {
      for await (const entry of entries) yield* known.next(entry);
      yield* known.end();
    },
  };
}

export async function redactedSessions(
  sessions: readonly HistorySession[],
): Promise<readonly HistorySession[]> {
  const redactor = await sessionRedactor(sessions);
  return sessions.map((session) => redactor.session(session));
}
