// Runs one bad input against a subject. A request of each side is open before it, and an echo request follows it:
// everything before the echo is the whole outcome, so that silence is proved without waiting.

import { type BadInput, canary, notification, type Outcome, type Reply, request } from "./bad-input.ts";
import type { Report, Role } from "./subject.ts";
import type { Wire } from "./wire.ts";

/** What a case is compared by: as it should be, and as it was. */
export interface Observation {
  readonly replies: readonly Reply[];
  readonly later: readonly Reply[];
  readonly calls: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
  readonly polluted: string;
  /** Logs and errors that repeat the payload. */
  readonly leaks: readonly string[];
  /** Whether the requests that were open before the case got their own answers. */
  readonly openBefore: readonly unknown[];
}

const openBefore = [
  { id: "held", result: "released" },
  { id: "asked", result: { result: "answered" } },
];

export function expectedOf(badInput: BadInput, role: Role): Observation {
  const outcome: Outcome = (role === "client" ? badInput.asClient : undefined) ?? badInput;
  return {
    replies: outcome.replies ?? [],
    later: byId(outcome.later ?? []),
    calls: outcome.calls ?? {},
    counts: { ...outcome.counts },
    polluted: "undefined",
    leaks: [],
    openBefore: badInput.first ? [] : openBefore,
  };
}

export async function observe(wire: Wire, badInput: BadInput): Promise<Observation> {
  if (badInput.first) return { ...(await observeFirst(wire, badInput)), openBefore: [] };
  wire.send(request('"held"', "_test/hold"));
  const [question = ""] = await ask(wire, ["asked"]);
  await takeReport(wire);
  const open = await askAll(wire, badInput);
  const seen = await exchange(wire, badInput, open);
  const report = await takeReport(wire);
  const calls = { ...report.calls };
  if (open.length > 0) delete calls["_test/ask"];
  wire.send(notification("_test/release", { keys: ["held"] }));
  const held = readReply(await wire.next());
  wire.send(`{"jsonrpc":"2.0","id":${question},"result":"answered"}`);
  const asked = readReply(await wire.next());
  return { ...seen, ...judged(report, seen.leaks), calls, openBefore: [held, asked] };
}

async function observeFirst(wire: Wire, badInput: BadInput): Promise<Observation> {
  const seen = await exchange(wire, badInput, []);
  const report = await takeReport(wire);
  return { ...seen, ...judged(report, seen.leaks), calls: report.calls, openBefore: [] };
}

/** Puts `_test/ask` to the subject and gives the ids, as text, of the questions that it asks in turn. */
async function ask(wire: Wire, ids: readonly string[], params?: object): Promise<string[]> {
  const questions: string[] = [];
  for (const id of ids) {
    wire.send(request(JSON.stringify(id), "_test/ask", params));
    const question = readReply(await wire.next()) as { id?: unknown; method?: unknown };
    if (question.method !== "_test/question") throw new Error(`no question: ${JSON.stringify(question)}`);
    questions.push(JSON.stringify(question.id));
  }
  return questions;
}

async function askAll(wire: Wire, badInput: BadInput): Promise<string[]> {
  const { asks = 0, askTimeoutMs: timeoutMs } = badInput;
  const ids = Array.from({ length: asks }, (_, i) => `ask${i}`);
  return ask(wire, ids, timeoutMs === undefined ? undefined : { timeoutMs });
}

interface Seen {
  readonly replies: readonly Reply[];
  readonly later: readonly Reply[];
  readonly leaks: readonly string[];
}

async function exchange(wire: Wire, badInput: BadInput, open: readonly string[]): Promise<Seen> {
  const replies: Reply[] = [];
  const later: Reply[] = [];
  const leaks: string[] = [];
  const awaited = new Set(
    [...(badInput.later ?? []), ...(badInput.asClient?.later ?? [])].map((reply) => idOf(reply)),
  );
  const missing = new Set(awaited);
  const take = (text: string): boolean => {
    const reply = withoutOwnIds(readReply(text));
    const id = idOf(reply);
    if (id === "probe") return true;
    leaks.push(...errorsOf(text).filter((error) => error.includes(canary)));
    if (awaited.has(id)) later.push(reply);
    else replies.push(reply);
    missing.delete(id);
    return false;
  };
  // a deadline that has to pass first is waited for by its answer
  if (badInput.askTimeoutMs !== undefined) while (missing.size > 0) take(await wire.next());
  const frames = badInput.send(open);
  const started = performance.now();
  for (const frame of frames) wire.send(frame);
  while (missing.size > 0) take(await wire.next());
  wire.send(request('"probe"', "_test/echo", {}));
  while (!take(await wire.next()));
  const elapsedMs = performance.now() - started;
  const { withinMs = Number.POSITIVE_INFINITY } = badInput;
  if (elapsedMs > withinMs) throw new Error(`took ${elapsedMs} ms, ${withinMs} are allowed`);
  return { replies, later: byId(later), leaks };
}

export async function takeReport(wire: Wire): Promise<Report> {
  wire.send(request('"report"', "_test/report"));
  for (;;) {
    const { id, result } = readReply(await wire.next()) as { id: unknown; result: Report };
    if (id === "report") return result;
  }
}

function judged(report: Report, leaks: readonly string[]) {
  const counts = Object.entries(report.counters).filter(([, count]) => count !== 0);
  return {
    counts: Object.fromEntries(counts),
    polluted: report.polluted,
    leaks: [...leaks, ...report.logs.filter((line) => isLeak(line))],
  };
}

const noiseLog = "warn skipped a line that is not a message ";

/** Noise is shown on purpose: 200 characters of it, with nothing in them that moves a cursor or turns text around. */
function isLeak(line: string): boolean {
  if (!line.startsWith(noiseLog)) return line.includes(canary);
  const shown = (JSON.parse(line.slice(noiseLog.length)) as { line: string }).line;
  return (
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(shown) || shown.replaceAll(/\\u[0-9a-f]{4}|\\./g, "x").length > 202
  );
}

/** The reply as the catalogue writes it. An id that a number cannot hold becomes `#` and its digits. */
export function readReply(text: string): Reply {
  const parse = JSON.parse as (text: string, reviver: typeof exactIds) => unknown;
  const value = parse(text, exactIds);
  return Array.isArray(value) ? value.map((entry) => plain(entry)) : plain(value);
}

function exactIds(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (key !== "id" || typeof value !== "number" || context?.source === String(value)) return value;
  return `#${context?.source}`;
}

function plain(value: unknown): Reply {
  const { jsonrpc, ...reply } = value as { jsonrpc?: unknown; error?: { message?: unknown } };
  if (jsonrpc !== "2.0") throw new Error("the subject sent something without jsonrpc");
  if (reply.error === undefined) return reply;
  const { message, ...error } = reply.error;
  if (typeof message !== "string" || message === "" || message.length > 1_024)
    throw new Error("the subject sent an error without a sentence");
  if (JSON.stringify(error).length > 1_024) throw new Error("the subject sent more than 1 KiB of error data");
  return { ...reply, error };
}

/** The ids of the subject's own requests depend on what came before the case. */
function withoutOwnIds(reply: Reply): Reply {
  const { id: _id, method, params } = reply as { id?: unknown; method?: string; params?: object };
  if (method === undefined) return reply;
  return {
    method,
    params: Object.fromEntries(Object.entries(params ?? {}).filter(([key]) => key !== "requestId")),
  };
}

/** The errors of a frame, with all their words. */
function errorsOf(text: string): string[] {
  const messages = [JSON.parse(text)].flat() as { error?: unknown }[];
  return messages.flatMap(({ error }) => (error === undefined ? [] : [JSON.stringify(error)]));
}

/** An array goes by the ids of its entries. */
function idOf(reply: Reply): unknown {
  return Array.isArray(reply)
    ? JSON.stringify(reply.map((entry) => idOf(entry)))
    : (reply as { id?: unknown }).id;
}

function byId(replies: readonly Reply[]): Reply[] {
  return replies.toSorted((a, b) => String(idOf(a)).localeCompare(String(idOf(b))));
}
