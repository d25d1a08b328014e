// What is shown of the history has no secret that we were given: neither in the words that started an agent, nor in what was
// said. What was given when it was recorded is not in it any more; what became known since is taken out here.

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
  const words = new Redactor({ names: false, secrets });
  return {
    session(session) {
      const { agent, ...rest } = known.value(session);
      const { command } = session.agent;
      return {
        ...rest,
        agent: command === undefined ? agent : { ...agent, command: words.command(command) },
      };
    },
    text: (text) => known.text(text),
    async *entries(entries) {
      for await (const entry of entries) yield* known.next(entry);
      yield* known.end();
    },
  };
}

export async function redactedSessions(sessions: readonly HistorySession[]): Promise<readonly HistorySession[]> {
  const teller = await sessionRedactor(sessions);
  return sessions.map((session) => teller.session(session));
}
