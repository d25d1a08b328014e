// Rules that all session stores share: refusals, patches, pagination.

import { fromBase64, toBase64 } from "../base/base64.ts";
import { normalPath } from "../base/normal-path.ts";
import { isObject } from "../base/objects.ts";
import { argumentText, RequestError } from "../jsonrpc/errors.ts";
import { emptyHead, type HeadState } from "../model/head.ts";
import type { Command, ReadRange, SessionPatch, SessionQuery, SessionRecord } from "../model/store.ts";
import { type LogPlace, readLogCursor } from "./store-tail.ts";

/** Shortens and quotes an id for messages: ids may be long and contain any characters. */
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

/** The session of the agent already belongs to another session of the store. */
export function agentSessionExists(sessionId: string): RequestError {
  const message = `the agent's session already belongs to session ${quotedId(sessionId)}: use that one, or delete it first`;
  return new RequestError("conflict", message, { data: { reason: "agent_session_exists", sessionId } });
}

/** The session was claimed again, or its claim was released. */
export function fenced(sessionId: string): RequestError {
  const message = `the claim of session ${quotedId(sessionId)} has ended: nothing was stored; claim it again`;
  return new RequestError("conflict", message, { data: { reason: "fenced" } });
}

/** Somebody holds the session. `pid` is given if it is another process. */
export function heldElsewhere(
  sessionId: string,
  { pid, since }: { readonly pid?: number; readonly since: number },
): RequestError {
  const who = pid === undefined ? "in this process" : `by process ${pid}`;
  const message = `session ${quotedId(sessionId)} is in use ${who} since ${new Date(since).toISOString()}: close it there first`;
  const holder = { since, ...(pid === undefined ? {} : { pid }) };
  return new RequestError("conflict", message, { data: { reason: "session_held", holder } });
}

/** The log does not end with the entry after which to append. */
export function outOfSequence(sessionId: string, lastSeq: number, after: number): RequestError {
  const message = `session ${quotedId(sessionId)} ends with entry ${lastSeq}, not with ${after}: nothing was stored`;
  return new RequestError("conflict", message, { data: { reason: "out_of_sequence", lastSeq } });
}

/**
 * The session was claimed again or deleted, or has other entries than its writer has given it. Trying again cannot help.
 */
export function isConflict(error: unknown): error is RequestError {
  if (!(error instanceof RequestError)) return false;
  if (error.kind === "session_not_found") return true;
  if (error.kind !== "conflict" || !isObject(error.data)) return false;
  return error.data["reason"] === "fenced" || error.data["reason"] === "out_of_sequence";
}

/** Another holder has claimed the session, or its claim was released. */
export function isFenced(error: unknown): boolean {
  return isConflict(error) && isObject(error.data) && error.data["reason"] === "fenced";
}

/** Throws unless the entries follow the entry `after`, and each other. */
export function checkBatch(
  sessionId: string,
  after: number,
  entries: readonly { readonly seq: number; readonly through?: number | undefined }[],
): void {
  let expected = after + 1;
  for (const { seq, through = seq } of entries) {
    if (seq !== expected || !Number.isSafeInteger(through) || through < seq) {
      const got = through === seq ? `${seq}` : `${seq} to ${through}`;
      const message = `the next entry of session ${quotedId(sessionId)} is ${expected}, got ${got}: nothing was stored`;
      throw new RequestError("conflict", message, { data: { reason: "out_of_sequence", lastSeq: after } });
    }
    expected = through + 1;
  }
}

const longestKey = 200;

export function checkCommand({ key, body }: Command): void {
  if (typeof key !== "string" || key === "" || key.length > longestKey)
    throw new TypeError(
      `submit: key must be a string of 1 to ${longestKey} characters, got ${argumentText(key)}; make one for each command`,
    );
  if (body === undefined) throw new TypeError("submit: body must be a JSON value, got undefined");
}

/** Another command was sent with the same key. */
export function keyReused(key: string): RequestError {
  const message = `the key ${quotedId(key)} belongs to another command: nothing was stored; use a new key for each command`;
  return new RequestError("conflict", message, { data: { reason: "key_reused" } });
}

/** Whether two values are the same JSON. The order of keys does not matter. */
export function isSameJson(one: unknown, other: unknown): boolean {
  return sortedJson(one) === sortedJson(other);
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}

/** The place that a cursor of `tail` names. Throws RequestError "invalid_params" for a text that is not a cursor. */
export function readableCursor(cursor: string): LogPlace {
  const place = readLogCursor(cursor);
  if (place === undefined) throw badCursor("was not given out by a session store");
  return place;
}

const defaultEntries = 128;
const mostEntries = 1_024;

/** A range whose defaults are filled in. */
export interface WantedRange {
  readonly from: number;
  readonly to: number;
  readonly size: number;
  readonly isBackwards: boolean;
}

export function rangeOf(range: ReadRange, lastSeq: number): WantedRange {
  const { from = 1, to = lastSeq, pageSize: size = defaultEntries, isBackwards = false } = range;
  return {
    from: Math.max(1, from),
    to: Math.min(to, lastSeq),
    size: Math.min(Math.max(1, Math.trunc(size)), mostEntries),
    isBackwards,
  };
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

/**
 * The state of a fork that ends with this entry: what runs or is asked in the source has no end in the fork. `source` is the state of the
 * source if the fork has all of its entries.
 */
export function forkedState(source: HeadState | undefined, lastSeq: number): HeadState | undefined {
  if (lastSeq === 0) return undefined;
  const { isBusy: _, ...state } = source ?? emptyHead;
  const closed = { ...state, prompts: [], questions: [] };
  return state.seq < lastSeq ? { ...closed, forkedAt: lastSeq } : closed;
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

const cursorVersion = 3;

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
  const names = ["cwd", "filter for archived sessions", "principal", "agent", "text"];
  for (const [at, filter] of filtersOf(query).entries())
    if (filter !== filters[at]) throw badCursor(`belongs to a list with another ${names[at]}`);
  return { updatedAt, sessionId };
}

function filtersOf({ cwd, archived, principal, agent, text }: SessionQuery): readonly unknown[] {
  // undefined means everybody, null those without one
  const whose = principal === undefined ? "" : JSON.stringify(principal);
  return [
    cwd === undefined ? null : normalPath(cwd),
    archived ?? "exclude",
    whose,
    agent ?? null,
    text ?? null,
  ];
}

function badCursor(problem: string): RequestError {
  return new RequestError("invalid_params", `the cursor ${problem}: list again without one`, {
    data: { reason: "bad_cursor", path: "/cursor" },
  });
}

/** FNV-1a over UTF-16 units, as 8 hex digits. It detects accidents, not attacks: a cursor grants nothing. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

function base64url(text: string): string {
  const base64 = toBase64(new TextEncoder().encode(text));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Returns "" for a text that is not base64url. Its checksum does not match, so the cursor is refused. */
function textFromBase64url(text: string): string {
  const bytes = fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
  return bytes === undefined ? "" : new TextDecoder().decode(bytes);
}
