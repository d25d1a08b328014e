// Follows each message of a recorded chain from hop to hop.

import { isObject } from "@parley/acp/jsonrpc";
import type { TraceMessage } from "@parley/conformance";
import { type Difference, differencesOf } from "./json-difference.ts";

/** A message at one hop. */
export interface HopRecord {
  readonly record: number;
  readonly ms: number;
  readonly from: "client" | "agent";
  /** The neighbours, such as "budget > claude". */
  readonly hop: string;
  readonly place: number;
  readonly message: Readonly<Record<string, unknown>>;
}

/** One message on its way through the chain, or a request with its answer apart. */
export interface Journey {
  readonly seen: HopRecord[];
  /** For an answer: the request that it answers. */
  readonly request?: Journey;
}

/** What a component did with a message. */
export interface Step {
  readonly component: string;
  readonly did: "changed" | "sent" | "answered" | "kept";
  /** What differs behind it. */
  readonly differences: readonly Difference[];
}

interface Labelled {
  readonly hop?: unknown;
  readonly place?: unknown;
}

/** Which hop of a chain it is, from the client. 0 in the record of anything else. */
export function placeOf(message: TraceMessage): number {
  const { place } = message as Labelled; // as: any object; checked next
  return typeof place === "number" ? place : 0;
}

/** Undefined for a record of another trace. */
export function hopRecord(record: number, message: TraceMessage): HopRecord | undefined {
  const { hop, place } = message as Labelled; // as: any object; checked next
  if (typeof hop !== "string" || typeof place !== "number" || message.text === undefined) return undefined;
  const value: unknown = JSON.parse(message.text);
  return isObject(value)
    ? { record, ms: message.t, from: message.from, hop, place, message: value }
    : undefined;
}

/** A journey that may continue at the next hop. */
interface OpenJourney {
  readonly journey: Journey;
  /** The params at the previous hop, as JSON. */
  readonly text: string | undefined;
  readonly record: number;
  isTaken: boolean;
}

/** Journeys in the order in which they came. Those that another queue has given out are skipped, each once. */
class Queue {
  readonly #items: OpenJourney[] = [];
  #next = 0;

  add(item: OpenJourney): void {
    this.#items.push(item);
  }

  get first(): OpenJourney | undefined {
    while (this.#items[this.#next]?.isTaken) this.#next += 1;
    return this.#items[this.#next];
  }
}

/** The journeys of one kind that may continue at one hop. A component may drop them all, so `take` never searches all of them. */
class Open {
  readonly #all = new Queue();
  readonly #byText = new Map<string | undefined, Queue>();
  #latest: OpenJourney | undefined;

  add(item: OpenJourney): void {
    this.#all.add(item);
    this.#latest = item;
    const same = this.#byText.get(item.text) ?? new Queue();
    this.#byText.set(item.text, same);
    same.add(item);
  }

  /** Takes the first journey with the same params, else the one that was seen just before, else the first of all. */
  take(text: string | undefined, record: number): Journey | undefined {
    const latest = this.#latest;
    const isJustBefore = latest?.isTaken === false && latest.record === record - 1;
    const found = this.#byText.get(text)?.first ?? (isJustBefore ? latest : this.#all.first);
    if (found !== undefined) found.isTaken = true;
    return found?.journey;
  }
}

export class Journeys {
  readonly all: Journey[] = [];
  /** The journeys that may continue at another hop, by that hop. */
  readonly #open = new Map<string, Open>();
  /** Requests that are not answered at a hop, by the hop and the id. */
  readonly #asked = new Map<string, Journey>();
  readonly #answers = new Map<Journey, Journey>();

  add(seen: HopRecord): void {
    const { from, place, message } = seen;
    if (message["method"] === undefined) return this.#answer(seen);
    const text = JSON.stringify(message["params"]);
    const journey = this.#open.get(keyOf(seen, place))?.take(text, seen.record) ?? this.#begin({ seen: [] });
    journey.seen.push(seen);
    const key = keyOf(seen, from === "client" ? place + 1 : place - 1);
    const open = this.#open.get(key) ?? new Open();
    this.#open.set(key, open);
    open.add({ journey, text, record: seen.record, isTaken: false });
    if (message["id"] !== undefined) this.#asked.set(`${from} ${place} ${String(message["id"])}`, journey);
  }

  #answer(seen: HopRecord): void {
    const { from, place, message } = seen;
    const asker = from === "client" ? "agent" : "client";
    const key = `${asker} ${place} ${String(message["id"])}`;
    const request = this.#asked.get(key);
    if (request === undefined) return;
    this.#asked.delete(key);
    const known = this.#answers.get(request) ?? this.#begin({ seen: [], request });
    this.#answers.set(request, known);
    known.seen.push(seen);
  }

  #begin(journey: Journey): Journey {
    this.all.push(journey);
    return journey;
  }
}

/** Messages of one kind, which stay in order, at a hop. */
function keyOf({ from, message }: HopRecord, place: number): string {
  const { method, id, params } = message;
  const { sessionId, update } = (isObject(params) ? params : {}) as Record<string, unknown>;
  const kind = isObject(update) ? update["sessionUpdate"] : undefined;
  return JSON.stringify([from, place, method, id !== undefined, sessionId, kind]);
}

/** What the components did, in the order in which it passed them. `last` is the number of the last hop. */
export function stepsOf({ seen, request }: Journey, last: number): Step[] {
  const steps: Step[] = [];
  const [first] = seen;
  const end = seen.at(-1);
  if (first === undefined || end === undefined) return steps;
  const isForward = first.from === "client";
  const [start, goal] = isForward ? [0, last] : [last, 0];
  // an answer begins where the request ended
  const asked = request?.seen.at(-1)?.place ?? start;
  if (request === undefined ? first.place !== start : asked !== start)
    steps.push({
      component: before(first),
      did: request === undefined ? "sent" : "answered",
      differences: [],
    });
  for (const [at, next] of seen.entries()) {
    const previous = seen[at - 1];
    if (previous === undefined) continue;
    const differences = differencesOf(content(previous.message), content(next.message));
    if (differences.length > 0) steps.push({ component: before(next), did: "changed", differences });
  }
  const goalPlace = request === undefined ? goal : (request.seen[0]?.place ?? goal);
  if (end.place !== goalPlace) steps.push({ component: behind(end), did: "kept", differences: [] });
  return steps;
}

/** What a message says, without the id, which is another one at each hop. */
function content({ params, result, error }: HopRecord["message"]): unknown {
  return error !== undefined ? { error } : result !== undefined ? { result } : params;
}

/** The component that a message has just come from. */
function before({ hop, from }: HopRecord): string {
  const [near = "", far = ""] = hop.split(" > ");
  return from === "client" ? near : far;
}

/** The component that it goes to. */
function behind({ hop, from }: HopRecord): string {
  const [near = "", far = ""] = hop.split(" > ");
  return from === "client" ? far : near;
}
