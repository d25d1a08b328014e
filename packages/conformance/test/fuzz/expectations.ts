// Says which answers a list of frames must get, and compares them with what came.

/** How often each id was asked, by the JSON of the id. */
export interface Expected {
  /** Requests whose id must be answered. */
  readonly asked: Map<string, number>;
  /** Ids that may be answered, or be refused with an error without an id. */
  readonly may: Set<string>;
}

interface Envelope {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

export function newExpected(): Expected {
  return { asked: new Map(), may: new Set() };
}

/** `maxChars`: a longer frame is refused without being read whole. */
export function expectAnswers(expected: Expected, frame: string, maxChars: number): void {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    // no JSON has no id; but if it is also too deep, its beginning is searched for one
    for (const [, id = ""] of frame.matchAll(/"id":("(?:[^"\\]|\\.)*"|-?[\d.eE+]+)/g))
      expected.may.add(idKey(id));
    return;
  }
  const isOver = frame.length > maxChars || depthOf(frame) > 512;
  // an array that cannot be read is refused as a whole, with one error
  const isSure = Array.isArray(value) ? !isOver : isReadable(frame, value, maxChars);
  for (const entry of Array.isArray(value) ? value : [value])
    expectAnswer(expected, entry, { isSure, isOver });
}

function expectAnswer(
  { asked, may }: Expected,
  value: unknown,
  { isSure, isOver }: { readonly isSure: boolean; readonly isOver: boolean },
): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  const { jsonrpc, id, method, result, error }: Envelope = value;
  // what is beyond a limit is not read closely enough to tell what it is
  if (id === undefined || (typeof method !== "string" && !isOver)) return;
  const key = JSON.stringify(id);
  const isRequest =
    jsonrpc === "2.0" && typeof method === "string" && result === undefined && error === undefined;
  const isId = (typeof id === "string" && id.length <= 1_024) || Number.isInteger(id);
  if (isRequest && isId && isSure) asked.set(key, (asked.get(key) ?? 0) + 1);
  else may.add(key);
}

/** Whether the id of a frame beyond the limits is among what is kept of it. */
function isReadable(frame: string, value: unknown, maxChars: number): boolean {
  if (frame.length <= maxChars) return true;
  const id = JSON.stringify((value as Envelope | null)?.id);
  return frame.slice(0, 60_000).includes(`"id":${id}`) || frame.endsWith(`"id":${id}}`);
}

function idKey(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === "[" || token === "{") deepest = Math.max(deepest, ++depth);
    else if (token === "]" || token === "}") depth--;
  }
  return deepest;
}

/** Collects answers. */
export class Answers {
  readonly #got = new Map<string, number>();

  add(id: unknown): void {
    const key = JSON.stringify(id);
    this.#got.set(key, (this.#got.get(key) ?? 0) + 1);
  }

  isComplete({ asked }: Expected): boolean {
    for (const key of asked.keys()) if (!this.#got.has(key)) return false;
    return true;
  }

  /** What is wrong, or undefined. */
  problem({ asked, may }: Expected): string | undefined {
    for (const key of asked.keys()) if (!this.#got.has(key)) return `no answer with the id ${short(key)}`;
    for (const [key, count] of this.#got) {
      if (key === "null" || may.has(key)) continue;
      const most = asked.get(key) ?? 0;
      if (count > most) return `${count} answers with the id ${short(key)} to ${most} requests`;
    }
    return undefined;
  }
}

const short = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text);
