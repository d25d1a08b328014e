// Opens the history, finds sessions in it, and formats them without secrets.

import { homedir } from "node:os";
import type { Entry } from "@parley/acp";
import { normalPath } from "@parley/acp/internal";
import { optional } from "@parley/acp/jsonrpc";
import type { History, HistorySession } from "@parley/client/history";
import { CommandError, usageError } from "../command/command.ts";
import { historyPath } from "../settings/data-folder.ts";
import { knownSecrets, shownWords } from "../settings/known-secrets.ts";
import { columns } from "../terminal/columns.ts";
import { escapedLine, safeLine } from "../terminal/sanitise.ts";

const shownSessions = 10;

/** Closes the history when the work is done. */
export async function withHistory<Result>(work: (history: History) => Promise<Result>): Promise<Result> {
  const { openHistory } = await import("@parley/client/history");
  const history = openHistory({ path: historyPath() });
  try {
    return await work(history);
  } finally {
    await history.close();
  }
}

/** Throws a usage error for a second session. */
export function oneSession([word, extra]: readonly string[], command: string): string | undefined {
  if (extra === undefined) return word;
  throw usageError(
    `${command}: expected one session, got also ${escapedLine(extra)}`,
    `see parley help ${command}`,
  );
}

export async function sessionNamed<Session extends HistorySession>(
  logs: {
    find(word: string): Promise<Session | undefined>;
    list(query: { readonly limit: number }): Promise<readonly Session[]>;
  },
  word: string | undefined,
): Promise<Session> {
  if (word === undefined) throw usageError("expected a session", "parley sessions list prints the ids");
  const session = await logs.find(word);
  if (session !== undefined) return session;
  const all = await logs.list({ limit: Number.POSITIVE_INFINITY });
  const matching = all.filter(({ id, name }) => name === word || id.startsWith(word));
  // as `parley run -s` does
  const [here, another] = matching.filter(
    ({ name, cwd }) => name === word && normalPath(cwd) === normalPath(process.cwd()),
  );
  if (here !== undefined && another === undefined) return here;
  if (matching.length > 1) {
    const shown = sessionLines(matching.slice(0, shownSessions), Date.now()).map(
      (line) => `  ${line.trimEnd()}`,
    );
    const more = matching.length > shown.length ? ["  and more"] : [];
    const message = `${escapedLine(word)} matches ${matching.length} sessions:`;
    throw new CommandError("ambiguous", [message, ...shown, ...more].join("\n"), "use the whole id");
  }
  const message = `session ${escapedLine(word)} not found`;
  throw new CommandError("not_found", message, "parley sessions list prints the ids");
}

export interface SessionRedactor {
  session<Session extends HistorySession>(session: Session): Session;
  text(text: string): string;
  entries(entries: AsyncIterable<Entry>): AsyncIterable<Entry>;
}

export async function sessionRedactor(sessions: readonly HistorySession[]): Promise<SessionRedactor> {
  const [{ redactor, streamRedactor }, secrets] = await Promise.all([
    import("@parley/acp/redact"),
    knownSecrets({ agents: sessions.map(({ agent }) => agent) }),
  ]);
  const known = streamRedactor<Entry>(secrets);
  const commands = redactor({ names: false, secrets });
  return {
    session(session) {
      const clean = known.value(session);
      const { command } = session.agent;
      const agent = command && { ...clean.agent, command: commands.command(command) };
      return { ...clean, proxies: shownWords(session.proxies), ...optional({ agent }) };
    },
    text: (text) => known.text(text),
    async *entries(entries) {
      for await (const entry of entries) yield* known.next(entry);
      yield* known.end();
    },
  };
}

export async function redactedSessions<Session extends HistorySession>(
  sessions: readonly Session[],
): Promise<readonly Session[]> {
  const redactor = await sessionRedactor(sessions);
  return sessions.map((session) => redactor.session(session));
}

export function sessionLine(session: Listed, now: number): string {
  return sessionLines([session], now)[0] ?? "";
}

/** Of a session that no host has, the agent's own log is shown. */
type Listed = HistorySession & { readonly log?: "host" | "agent" };

/** The title comes last: it may be long. */
export function sessionLines(sessions: readonly Listed[], now: number): string[] {
  return columns(
    sessions.map(({ id, name, title, agent, cwd, updatedAt, log }) => {
      const label = [name === undefined ? "" : `${safeLine(name)}:`, safeLine(title ?? "(no title)")]
        .join(" ")
        .trim();
      return [
        id,
        age(now - updatedAt).padStart(4),
        `${safeLine(agent.name)}${log === "agent" ? " (its log)" : ""}`,
        home(cwd),
        label,
      ];
    }),
  );
}

export function sessionJson(session: HistorySession): object {
  const { createdAt, updatedAt, ...rest } = session;
  return {
    ...rest,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

const steps = [
  [1000, "now"],
  [60_000, "s"],
  [3_600_000, "m"],
  [86_400_000, "h"],
] as const;

export function age(ms: number): string {
  if (ms < steps[0][0]) return "now";
  for (let at = 1; at < steps.length; at++) {
    const [limit, unit] = steps[at] ?? steps[1];
    if (ms < limit) return `${Math.floor(ms / (steps[at - 1]?.[0] ?? 1))}${unit}`;
  }
  return `${Math.floor(ms / 86_400_000)}d`;
}

export function home(path: string): string {
  const own = homedir();
  return safeLine(path === own || path.startsWith(`${own}/`) ? `~${path.slice(own.length)}` : path);
}
