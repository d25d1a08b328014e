// Exports a session as Markdown, HTML or JSON, without secrets.

import type { Entry } from "@parley/acp";
import { checkOptions } from "@parley/acp/jsonrpc";
import type { Redactor } from "@parley/acp/redact";
import type { HistorySession } from "./history-record.ts";

/** The format of an export, and the secrets to replace. */
export interface ExportOptions {
  /** "markdown" or "html", a page that needs nothing else, to read it; "json" to process it. */
  readonly format: "markdown" | "html" | "json";
  /** Known secrets, such as API keys. They are replaced in addition to those that are found. */
  readonly secrets?: Iterable<string> | undefined;
  /** The home directory of the user, which is replaced. */
  readonly homeFolder?: string | undefined;
  /** Keeps secrets, user names and paths. Default false. */
  readonly raw?: boolean | undefined;
}

/** An exported session. */
export interface ExportedSession {
  /** The Markdown, HTML or JSON. */
  readonly text: string;
  /** How many different secrets were replaced. */
  readonly secrets: number;
}

/**
 * Exports a session as Markdown, HTML or JSON. Secrets, user names and the home directory are replaced, unless `raw` is set.
 *
 * @example
 * import type { Entry } from "@parley/acp";
 * import { exportSession, openHistory } from "@parley/client/history";
 *
 * await using history = openHistory({ path: "/home/me/.local/share/my-app/history.db" });
 * const [session] = await history.list({ limit: 1 });
 * if (session !== undefined) {
 *   const entries: Entry[] = [];
 *   for await (const entry of history.entries(session.id)) entries.push(entry);
 *   const { text } = await exportSession(session, entries, { format: "markdown" });
 *   console.log(text);
 * }
 */
export async function exportSession(
  session: HistorySession,
  entries: readonly Entry[],
  options: ExportOptions,
): Promise<ExportedSession> {
  checkOptions("exportSession", options, { format: true, secrets: true, homeFolder: true, raw: true });
  const { format, secrets = [], homeFolder: home, raw = false } = options;
  const [redact, { sessionMarkdown }] = await Promise.all([
    import("@parley/acp/redact"),
    import("./session-markdown.ts"),
  ]);
  const redactor = redact.redactor({ secrets, homeFolder: home });
  // the options of proxies may hold secrets that are known only to whoever wrote them
  const clean = raw ? { session, entries } : redacted(redactor, { ...session, proxies: [] }, entries);
  const result = (text: string) => ({ text, secrets: raw ? 0 : redactor.distinct });
  if (format === "json")
    return result(`${JSON.stringify({ parley: "session", version: 1, ...clean }, undefined, 1)}\n`);
  const markdown = sessionMarkdown(clean.session, clean.entries);
  if (format === "markdown") return result(markdown);
  const { sessionHtml } = await import("./session-html.ts");
  return result(sessionHtml(markdown));
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
