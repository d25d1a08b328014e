// Rules that all session stores share: refusals, patches, pagination.

import { fromBase64, toBase64 } from "../base/base64.ts";
import { normalPath } from "../base/normal-path.ts";
import { RequestError } from "../jsonrpc/errors.ts";
import type { SessionPatch, SessionQuery, SessionRecord } from "./store.ts";

/** An id as messages show it: ids may be long, and may hold anything. */
export function quotedId(sessionId: string): string {
  return JSON.stringify(sessionId.length > 80 ? `${sessionId.slice(0, 80)}…` : sessionId);
}

export function unknownSession(sessionId: string): RequestError {
  return new RequestError("session_not_found", `there is no session ${quotedId(sessionId)}`, {
    data: { reason: "session_not_found" },
  });
}

export function sessionExists(sessionId: string): RequestError {
  return new RequestError("conflict", `session ${quotedId(sessionId)} already exists: use another id`, {
    data: { reason: "session_exists" },
  });
}

export function notClaimed(sessionId: string): RequestError {
  const message = `session ${quotedId(sessionId)} is not claimed: claim it before appending`;
  return new RequestError("conflict", message, { data: { reason: "not_claimed" } });
}

export function heldElsewhere(
  sessionId: string,
  { pid, since }: { readonly pid: number; readonly since: number },
): RequestError {
  const message =
    `session ${quotedId(sessionId)} is in use by process ${pid} since ${new Date(since).toISOString()}: ` +
    "close it there first";
  return new RequestError("conflict", message, { data: { reason: "session_held", holder: { pid, since } } });
}

/** Throws unless the entries continue a sequence whose last number is `last`. */
export function checkSequence(sessionId: string, last: number, entries: readonly { seq: number }[]): void {
  let expected = last;
  for (const { seq } of entries) {
    expected++;
    if (seq === expected) continue;
    const message = `session ${quotedId(sessionId)} goes on with entry ${expected}, got ${seq}: nothing was stored`;
    throw new RequestError("internal_error", message, { data: { reason: "out_of_sequence" } });
  }
}

export function patched(record: SessionRecord, patch: SessionPatch): SessionRecord {
  const changes = Object.entries(patch).filter(([, value]) => value !== undefined);
  // as: only fields of a record, absent ones left out
  return { ...record, ...(Object.fromEntries(changes) as SessionPatch) };
}

/** Whether a list of this kind has sessions that are archived, or that are not. */
export function isListed({ archived: filter = "exclude" }: SessionQuery, archived: boolean): boolean {
  return filter === "include" || archived === (filter === "only");
}

/** The record of a fork: what the caller set wins over the config of the source. */
export function forked(source: SessionRecord, record: SessionRecord): SessionRecord {
  return { ...record, config: { ...source.config, ...record.config } };
}

/** The place in a list after which the next page begins. Sessions that are added later do not move it. */
export interface ListPosition {
  readonly updatedAt: number;
  readonly sessionId: string;
}

const defaultPage = 50;
const largestPage = 1_000;

export function pageSize(query: SessionQuery): number {
  const limit = Math.trunc(query.limit ?? defaultPage);
  return Math.min(Math.max(Number.isNaN(limit) ? defaultPage : limit, 1), largestPage);
}

const cursorVersion = 2;

export function cursorAfter({ updatedAt, sessionId }: ListPosition, query: SessionQuery): string {
  const text = JSON.stringify([cursorVersion, updatedAt, sessionId, ...filtersOf(query)]);
  return base64url(`${checksum(text)}${text}`);
}

/** Throws RequestError "invalid_params" for a cursor that was not made for this very query. */
export function positionFromCursor(query: SessionQuery): ListPosition | undefined {
  if (query.cursor === undefined) return undefined;
  const text = textFromBase64url(query.cursor);
  const body = text.slice(8);
  if (text.slice(0, 8) !== checksum(body)) throw badCursor("was not given out by this store");
  // as: the checksum says that we wrote it
  const [version, updatedAt, sessionId, ...filters] = JSON.parse(body) as [
    number,
    number,
    string,
    ...unknown[],
  ];
  if (version !== cursorVersion) throw badCursor("is of another version");
  const [cwd, archived] = filtersOf(query);
  if (cwd !== filters[0]) throw badCursor("belongs to a list with another cwd");
  if (archived !== filters[1]) throw badCursor("belongs to a list with another filter for archived sessions");
  return { updatedAt, sessionId };
}

function filtersOf({ cwd, archived }: SessionQuery): readonly [string | null, string] {
  return [cwd === undefined ? null : normalPath(cwd), archived ?? "exclude"];
}

function badCursor(problem: string): RequestError {
  return new RequestError("invalid_params", `the cursor ${problem}: list again without one`, {
    data: { reason: "bad_cursor", path: "/cursor" },
  });
}

/** FNV-1a over UTF-16 units, as 8 hex digits. It tells accidents, not attackers: a cursor grants nothing. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

function base64url(text: string): string {
  const base64 = toBase64(new TextEncoder().encode(text));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Empty when it is no base64url: the checksum of nothing does not match either. */
function textFromBase64url(text: string): string {
  const bytes = fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
  return bytes === undefined ? "" : new TextDecoder().decode(bytes);
}
