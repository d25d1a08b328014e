// Exports a session as Markdown or JSON, without secrets.

import type { Entry } from "@parley/acp";
import type { Redactor } from "@parley/acp/redact";
import type { HistorySession } from "./history-record.ts";

export interface ExportOptions {
  readonly format: "markdown" | "json";
  /** Secrets that are known from elsewhere, such as stored keys and the values of variables. */
  readonly secrets?: Iterable<string>;
  /** The home directory of this machine's user. */
  readonly home?: string;
  /** Keeps secrets. Default false. */
  readonly raw?: boolean;
}

export interface ExportedSession {
  readonly text: string;
  /** How many different secrets were replaced. */
  readonly secrets: number;
}

export async function exportSession(
  session: HistorySession,
  entries: readonly Entry[],
  { format, secrets = [], home, raw = false }: ExportOptions,
): Promise<ExportedSession> {
  const [redact, { sessionMarkdown }] = await Promise.all([
    import("@parley/acp/redact"),
    import("./session-markdown.ts"),
  ]);
  const redactor = redact.redactor({ secrets, home });
  const clean = raw ? { session, entries } : redacted(redactor, session, entries);
  const text =
    format === "json"
      ? `${JSON.stringify({ parley: "session", version: 1, ...clean }, undefined, 1)}\n`
      : sessionMarkdown(clean.session, clean.entries);
  return { text, secrets: raw ? 0 : redactor.distinct };
}

/** Three passes find secrets that are named late or split into pieces. */
function redacted(redactor: Redactor, session: HistorySession, entries: readonly Entry[]) {
  let clean = { session, entries };
  for (let pass = 0; pass < 3; pass++) {
    redactor.again();
    // the argv comes first: it may hold secrets that appear later; as: the shape stays
    clean = redactor.value({ session, entries }) as typeof clean;
  }
  return clean;
}
