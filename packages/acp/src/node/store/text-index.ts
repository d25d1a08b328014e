// Full-text search over whole messages, which are indexed when somebody searches.

import { normalPath } from "../../base/normal-path.ts";
import { type SpokenText, spokenText } from "../../log/message-search.ts";
import type { TextMatch } from "../../model/store.ts";
import type { Database, List, Row } from "./database.ts";
import { decodeRow, entryColumns } from "./entry-rows.ts";

import { segmentsOf } from "./read-entries.ts";
import type { SessionRow } from "./session-rows.ts";
import type { SearchHit, SearchOptions } from "./store-options.ts";

/** Entries per change, so that others need not wait for long. */
const stepEntries = 250;
/** A longer message is indexed in parts. */
const longestText = 65_536;
const snippetWords = 16;
const defaultLimit = 20;

/** Indexes some entries, inside a change. Returns whether more may be left. */
export function indexStep(db: Database): boolean {
  const session = db.get(
    "SELECT key, last_seq, indexed_seq, open_seq FROM session WHERE tenant = ? AND indexed_seq < last_seq LIMIT 1",
    db.tenant,
  );
  if (session === undefined) return false;
  const { key = null, last_seq = null, indexed_seq = null, open_seq = null } = session;
  const rows = db.lists(
    `SELECT ${entryColumns} FROM entry WHERE session = ? AND seq > ? AND is_spoken = 1 ORDER BY seq LIMIT ${stepEntries}`,
    key,
    indexed_seq,
  );
  const open = Number(open_seq) > 0 ? takeMessage(db, key, open_seq) : undefined;
  const messages = messagesOf(db, rows, {
    open,
    forks: db.all("SELECT base_seq FROM session WHERE parent = ?", key).map((row) => Number(row["base_seq"])),
  });
  for (const { seq, text } of messages) {
    const { key: id } = db.run("INSERT INTO message (session, seq) VALUES (?, ?)", key, seq);
    db.run("INSERT INTO spoken (rowid, text) VALUES (?, ?)", id, text);
  }
  const last = messages.at(-1);
  db.run(
    "UPDATE session SET indexed_seq = ?, open_seq = ? WHERE key = ?",
    rows.length < stepEntries ? last_seq : (rows.at(-1)?.[0] ?? last_seq),
    last?.isChunk ? last.seq : 0,
    key,
  );
  return true;
}

type Message = SpokenText & { readonly seq: number };

/** Removes the last message, which may have grown, from the index and returns it. */
function takeMessage(db: Database, key: Row[string], seq: Row[string]): Message | undefined {
  const [first] = db.lists(`SELECT ${entryColumns} FROM entry WHERE session = ? AND seq = ?`, key, seq);
  const message = first && spokenIn(db, first);
  const id = db.get("SELECT id FROM message WHERE session = ? AND seq = ?", key, seq)?.["id"];
  if (message === undefined || id === undefined) return undefined;
  const text = db.get("SELECT text FROM spoken WHERE rowid = ?", id)?.["text"];
  db.run("DELETE FROM spoken WHERE rowid = ?", id);
  db.run("DELETE FROM message WHERE id = ?", id);
  return { ...message, text: String(text) };
}

/** Joins chunks to messages. A message with a fork in the middle becomes two, because the fork has only the first. */
function messagesOf(
  db: Database,
  rows: readonly List[],
  { open, forks }: { readonly open: Message | undefined; readonly forks: readonly number[] },
): Message[] {
  const messages: Message[] = open === undefined ? [] : [open];
  for (const row of rows) {
    const next = spokenIn(db, row);
    if (next === undefined) continue;
    const last = messages.at(-1);
    const goesOn =
      last?.isChunk &&
      next.isChunk &&
      last.messageId === next.messageId &&
      last.text.length + next.text.length <= longestText &&
      !forks.some((seq) => last.seq <= seq && seq < next.seq);
    if (goesOn) messages[messages.length - 1] = { ...last, text: last.text + next.text };
    else messages.push(next);
  }
  return messages;
}

function spokenIn(db: Database, row: List): Message | undefined {
  try {
    const spoken = spokenText(decodeRow(db, row));
    return spoken && { ...spoken, seq: Number(row[0]) };
  } catch (error) {
    // damaged; reported when the session is read
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Removes the messages of a session after a seq from the index. */
export function unindex(db: Database, key: number, afterSeq: number): void {
  const found = "FROM message WHERE session = ? AND seq > ?";
  db.run(`DELETE FROM spoken WHERE rowid IN (SELECT id ${found})`, key, afterSeq);
  db.run(`DELETE ${found}`, key, afterSeq);
  db.run("UPDATE session SET indexed_seq = min(indexed_seq, ?), open_seq = 0 WHERE key = ?", afterSeq, key);
}

export function searchIndex(db: Database, query: string, options: SearchOptions): SearchHit[] {
  const match = matchExpression(query);
  const limit = Math.max(1, options.limit ?? defaultLimit);
  if (match === undefined) return [];
  const hits: SearchHit[] = [];
  const found = db.each(
    `SELECT session, seq, snippet(spoken, 0, '', '', '…', ${snippetWords}) AS snippet
       FROM spoken CROSS JOIN message ON id = spoken.rowid WHERE spoken MATCH ? ORDER BY rank`,
    match,
  );
  for (const { session = null, seq = null, snippet } of found) {
    // a fork includes its parents' messages before the fork
    const holders = db.all(
      `WITH RECURSIVE holding (key) AS (
         VALUES (?) UNION ALL
         SELECT session.key FROM session JOIN holding ON parent = holding.key WHERE base_seq >= ?)
       SELECT id FROM session JOIN holding USING (key)
         WHERE id IS NOT NULL AND tenant = ? AND cwd = coalesce(?, cwd) ORDER BY key`,
      session,
      seq,
      db.tenant,
      options.cwd === undefined ? null : normalPath(options.cwd),
    );
    for (const { id } of holders) {
      hits.push({
        sessionId: String(id),
        seq: Number(seq),
        snippet: oneLine(snippet),
      });
      if (hits.length === limit) return hits;
    }
  }
  return hits;
}

/** The messages that match, the last one first, by the key of the session that has their rows. */
export type Matches = ReadonlyMap<number, readonly { readonly id: number; readonly seq: number }[]>;

/** Undefined if the query has no word. */
export function matchesOf(db: Database, query: string): Matches | undefined {
  const match = matchExpression(query);
  if (match === undefined) return undefined;
  const found = new Map<number, { id: number; seq: number }[]>();
  const sql =
    "SELECT session, seq, id FROM spoken CROSS JOIN message ON id = spoken.rowid WHERE spoken MATCH ? ORDER BY session, seq DESC";
  for (const [session, seq, id] of db.lists(sql, match)) {
    const messages = found.get(Number(session));
    const message = { id: Number(id), seq: Number(seq) };
    if (messages === undefined) found.set(Number(session), [message]);
    else messages.push(message);
  }
  return found;
}

/** The last message of a session that matches. It may come from the source of a fork. */
export function matchIn(
  db: Database,
  matches: Matches,
  query: string,
  session: SessionRow,
): TextMatch | undefined {
  for (const { key, from, to } of segmentsOf(db, session).reverse()) {
    const message = matches.get(key)?.find(({ seq }) => from <= seq && seq <= to);
    if (message === undefined) continue;
    const [row] = db.lists(
      `SELECT snippet(spoken, 0, '', '', '…', ${snippetWords}) FROM spoken WHERE spoken MATCH ? AND rowid = ?`,
      matchExpression(query) ?? "",
      message.id,
    );
    return { seq: message.seq, snippet: oneLine(row?.[0]) };
  }
  return undefined;
}

function oneLine(text: unknown): string {
  return String(text ?? "").replaceAll(/\s+/g, " ");
}

/** Quotes each word, so that FTS5's query syntax has no effect. Undefined without a word. */
function matchExpression(query: string): string | undefined {
  const terms = [...query.matchAll(/"([^"]*)"|([^\s"]+)/g)].filter(([term]) => /[\p{L}\p{N}]/u.test(term));
  const last = terms.at(-1);
  const words = terms.map(([, phrase, word]) => `"${phrase ?? word ?? ""}"`);
  if (last === undefined) return undefined;
  return `${words.join(" ")}${last[2] === undefined ? "" : "*"}`;
}
