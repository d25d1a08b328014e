// Ids are echoed digit for digit (N045). JSON.parse rounds integers beyond 2^53, so those few are
// read again from the source text and kept as bigint.

import { memberText } from "./json-member.ts";

/** An id as JSON-RPC allows it; a bigint stands for an integer that a number cannot hold. */
export type RequestId = string | number | bigint | null;

/** Whether JSON.parse kept the value exactly as it was written. */
export function isExact(id: number): boolean {
  return Number.isSafeInteger(id) || !Number.isInteger(id);
}

/** Why this cannot be the id of a request, or nothing. */
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

/** The root `id` of a message whose parsed id is the number `parsed`, which may be rounded. */
export function exactId(text: string, parsed: number): number | bigint {
  return exactInteger(memberText(text, "id"), parsed);
}

/** The same for `params.requestId`. */
export function exactRequestId(text: string, parsed: number): number | bigint {
  const params = memberText(text, "params");
  return exactInteger(params === undefined ? undefined : memberText(params, "requestId"), parsed);
}

function exactInteger(source: string | undefined, parsed: number): number | bigint {
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : parsed;
}

/** What goes into an outgoing message for this id. */
export function idToJson(id: RequestId): unknown {
  if (typeof id === "bigint") return json.rawJSON === undefined ? Number(id) : json.rawJSON(String(id));
  if (typeof id === "number" && Object.is(id, -0)) return json.rawJSON === undefined ? 0 : json.rawJSON("-0");
  return id;
}

export interface EnvelopeHead {
  id?: RequestId;
  method?: string;
  /** The frame is a response: `result` or `error` stands at its root. */
  answers: boolean;
}

/**
 * Finds the root `id` and `method` in the beginning of a frame that cannot be parsed (too large,
 * too deep). Only complete values at depth one count, so nothing inside params can pose as an id.
 */
export function readEnvelopeHead(head: string): EnvelopeHead {
  const found: EnvelopeHead = { answers: false };
  // A string that the head cuts off is taken up to the end: to look for an end from each quote inside it
  // would cost the square of its length, seconds for 64 KiB.
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
        if (complete) takeRootValue(found, key, token);
      } else if (token.startsWith('"')) {
        key = parseScalar(token) as string | undefined;
        if (key === "result" || key === "error") found.answers = true;
      }
    }
    previous = token;
  }
  return found;
}

/**
 * The root `id` of an object that ends with it. Sound where the object is JSON: its last bracket closes
 * the root, and a quote after a comma, a brace or a space is no escaped one.
 */
export function readTrailingId(tail: string): RequestId | undefined {
  const token = /[,{\s]"id"\s{0,8}:\s{0,8}("(?:[^"\\]|\\.)*"|-?[\d.eE+-]+)\s{0,8}\}\s{0,8}$/.exec(tail)?.[1];
  const found: EnvelopeHead = { answers: true };
  if (token !== undefined) takeRootValue(found, "id", token);
  return found.id;
}

function takeRootValue(found: EnvelopeHead, key: string | undefined, token: string): void {
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
    // not JSON at all: nothing can be learnt from it
    return undefined;
  }
}
