// Reads and writes request ids exactly: integers beyond 2^53, which JSON.parse rounds, become bigints.

import { memberText } from "./json-text.ts";

/** What a message may have. */
export interface Envelope {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** A JSON-RPC id; a bigint is an integer that a number cannot hold. */
export type RequestId = string | number | bigint | null;

/** Whether JSON.parse read the value exactly. */
export function isExact(id: number): boolean {
  return Number.isSafeInteger(id) || !Number.isInteger(id);
}

/** Why this cannot be the id of a request, or undefined. */
export function idProblem(id: unknown, policy: "any" | "strict", maxLength: number): string | undefined {
  if (typeof id === "string") {
    if (id.length <= maxLength) return undefined;
    return `id must have at most ${maxLength} characters, got ${id.length}`;
  }
  if (typeof id === "bigint" || Number.isInteger(id)) return undefined;
  if (policy === "any" && (id === null || Number.isFinite(id))) return undefined;
  return "id must be a string or an integer";
}

// In V8 since Chrome 114 (Node 22); TypeScript's library does not declare it yet.
const json = JSON as unknown as { rawJSON?(text: string): unknown };

/** The root `id` of a message; `parsed` is the possibly rounded number from JSON.parse. */
export function exactId(text: string, parsed: number): number | bigint {
  return exactInteger(memberText(text, "id"), parsed);
}

/** The root `id` of a message as it was written; `parsed` is what JSON.parse made of it. */
export function exactIdIn(text: string, parsed: unknown): RequestId {
  const id = typeof parsed === "number" && !isExact(parsed) ? exactId(text, parsed) : parsed;
  return id as RequestId; // who reads it has checked it, or passes it on unread
}

/** The same for `params.requestId`. */
export function exactRequestId(text: string, parsed: number): number | bigint {
  const params = memberText(text, "params");
  return exactInteger(params === undefined ? undefined : memberText(params, "requestId"), parsed);
}

function exactInteger(source: string | undefined, parsed: number): number | bigint {
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : parsed;
}

/** The value to write into an outgoing message for this id. */
export function idToJson(id: RequestId): unknown {
  if (typeof id === "bigint") return json.rawJSON === undefined ? Number(id) : json.rawJSON(String(id));
  if (typeof id === "number" && Object.is(id, -0)) return json.rawJSON === undefined ? 0 : json.rawJSON("-0");
  return id;
}

export interface EnvelopeHead {
  id?: RequestId;
  method?: string;
  /** Whether it has a `method` or `params` at its root, which may be too long to be read. */
  asks: boolean;
  /** Whether the frame is a response: it has `result` or `error` at its root. */
  answers: boolean;
}

/**
 * Finds the root `id` and `method` in the beginning of a frame that is too large or too deep to be parsed. Only
 * complete values at depth one count, so that nothing inside params is taken for an id.
 */
export function readEnvelopeHead(head: string): EnvelopeHead {
  const found: EnvelopeHead = { asks: false, answers: false };
  // A string without an end is taken up to the end of the head; else the scan would be quadratic.
  const scanner = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|[{}[\]:,]|[^\s"{}[\]:,]+/g;
  let depth = 0;
  let key: string | undefined;
  let previous = "";
  for (let match = scanner.exec(head); match !== null; match = scanner.exec(head)) {
    const token = match[0];
    // a scalar at the very end of the head may have been cut
    const complete = scanner.lastIndex < head.length;
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (depth === 1 && token !== ":" && token !== ",") {
      if (previous === ":") {
        takeRootValue(found, key, token, complete);
      } else if (token.startsWith('"')) {
        key = parseScalar(token) as string | undefined;
        takeRootKey(found, key);
      }
    }
    previous = token;
  }
  return found;
}

/** One member of an envelope at the end of an object without its last brace. */
const lastMember = /[,{\s]"(id|method|jsonrpc)"\s{0,8}:\s{0,8}("(?:[^"\\]|\\.)*"|-?[\d.eE+-]+)\s{0,8}$/;

/**
 * Finds the root `id` and `method` at the end of a frame. The last brace of an object closes its root, so the plain
 * values before it are at the root too. A quote before one of these names is not an escaped one.
 */
export function readEnvelopeTail(tail: string): EnvelopeHead {
  const found: EnvelopeHead = { asks: false, answers: false };
  let rest = /^([\s\S]*)\}\s{0,8}$/.exec(tail)?.[1] ?? "";
  for (let match = lastMember.exec(rest); match !== null; match = lastMember.exec(rest)) {
    const [all, key, token = ""] = match;
    // the last of several members with one name counts
    if (key !== "id" || found.id === undefined) takeRootValue(found, key, token, true);
    rest = rest.slice(0, rest.length - all.length).replace(/[,\s]{0,9}$/, "");
  }
  return found;
}

function takeRootKey(found: EnvelopeHead, key: string | undefined): void {
  if (key === "result" || key === "error") found.answers = true;
  if (key === "params") found.asks = true;
}

function takeRootValue(
  found: EnvelopeHead,
  key: string | undefined,
  token: string,
  isComplete: boolean,
): void {
  if (key === "method" && token.startsWith('"')) found.asks = true;
  if (!isComplete) return;
  const value = parseScalar(token);
  if (key === "method" && typeof value === "string") found.method = value;
  if (key !== "id") return;
  if (typeof value === "string") found.id = value;
  else if (typeof value === "number" && Number.isFinite(value)) {
    found.id = isExact(value) || !/^-?\d+$/.test(token) ? value : BigInt(token);
  }
}

function parseScalar(token: string): unknown {
  try {
    return JSON.parse(token);
  } catch {
    // not JSON
    return undefined;
  }
}

/** The same text for the same id. Numbers are rounded alike when they come in and when they go out, where large ones are raw JSON. */
export function idKey(id: unknown): string {
  const text = JSON.stringify(id) ?? "";
  return text.startsWith('"') ? text : String(Number(text));
}
