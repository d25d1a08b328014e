// `parley trace show FILE --hops`: which component of a recorded chain changed what.

import { optional } from "@parley/acp/jsonrpc";
import { isTraceMessage } from "@parley/conformance";
import { CommandError } from "../command/command.ts";
import { painter } from "../terminal/paint.ts";
import { escapedJson, escapedLine } from "../terminal/sanitise.ts";
import { type HopRecord, hopRecord, type Journey, Journeys, type Step, stepsOf } from "./hop-journeys.ts";
import { traceItems } from "./read-trace.ts";
import { WireReader, wireLine } from "./wire-line.ts";

const shownChars = 160;

export async function showHops(path: string, json: boolean): Promise<void> {
  const journeys = new Journeys();
  const hops: string[] = [];
  for await (const item of traceItems(path)) {
    if (item.kind !== "record" || !isTraceMessage(item.record)) continue;
    const seen = hopRecord(item.number, item.record);
    if (seen === undefined) continue;
    hops[seen.place] = seen.hop;
    journeys.add(seen);
  }
  if (hops.length === 0)
    throw new CommandError(
      "not_found",
      `${escapedLine(path)} is not the record of a chain`,
      "record one with parley proxy --record FILE PROXY -- AGENT",
    );
  const last = hops.length - 1;
  const shown = journeys.all.map((journey) => ({ journey, steps: stepsOf(journey, last) }));
  if (json) printJson(hops, shown);
  else printText(hops, shown);
}

type Shown = readonly { readonly journey: Journey; readonly steps: readonly Step[] }[];

function printJson(hops: readonly string[], shown: Shown): void {
  const print = (fields: object) => void process.stdout.write(`${escapedJson({ v: 1, ...fields })}\n`);
  print({ type: "hops", hops });
  const reader = new WireReader();
  for (const { journey, steps } of shown) {
    const [first] = journey.seen;
    if (first === undefined) continue;
    const { facts } = readAt(reader, journey);
    const { id: _, ...rest } = facts;
    print({
      type: "message",
      from: first.from,
      ms: first.ms,
      ...rest,
      records: journey.seen.map(({ record }) => record),
      steps: steps.map(({ differences, ...step }) => ({
        ...step,
        ...optional({ differences: differences.length > 0 ? differences : undefined }),
      })),
    });
  }
  print({ type: "end", messages: shown.length });
}

function printText(hops: readonly string[], shown: Shown): void {
  const columns = Math.max(60, (process.stdout.columns ?? 160) - 7);
  const paint = painter(process.stdout.isTTY === true);
  const reader = new WireReader();
  const chain = hops.map((hop, at) => (at === 0 ? hop : (hop.split(" > ")[1] ?? "")));
  process.stdout.write(`# ${escapedLine(chain.join(" > "))}\n`);
  for (const { journey, steps } of shown) {
    const [first] = journey.seen;
    if (first === undefined) continue;
    const read = readAt(reader, journey);
    const { latencyMs } = read.facts;
    const note = latencyMs === undefined ? "" : ` after ${latencyMs.toFixed(1)} ms`;
    const line = wireLine(wireText(first), read, { columns, paint, note });
    process.stdout.write(`${String(first.record).padStart(5)}  ${line}\n`);
    for (const step of steps)
      for (const each of stepLines(step)) process.stdout.write(`${" ".repeat(9)}${each}\n`);
  }
  const changed = shown.filter(({ steps }) => steps.length > 0).length;
  process.stdout.write(`# ${shown.length} messages; ${changed} did not pass as they came\n`);
}

/** An answer has the id of its request where that began: it is another one at each hop. */
function readAt(reader: WireReader, { seen, request }: Journey) {
  const [first] = seen;
  const [asked] = request?.seen ?? [];
  if (first === undefined) return reader.read({ from: "client", t: 0 });
  if (asked === undefined) return reader.read(wireText(first));
  reader.read(wireText(asked));
  return reader.read(wireText({ ...first, message: { ...first.message, id: asked.message["id"] } }));
}

function wireText({ from, ms, message }: HopRecord) {
  return { from, t: ms, text: JSON.stringify(message) };
}

const deeds = {
  sent: "sent it",
  answered: "answered it",
  kept: "did not pass it on",
} as const;

function stepLines({ component, did, differences }: Step): string[] {
  const name = escapedLine(component);
  if (did !== "changed") return [`${name} ${deeds[did]}`];
  return differences.map(({ path, ...values }) => {
    const [before, after] = [brief(values.before), brief(values.after)];
    const where = `${name} ${escapedLine(path) || "/"}`;
    if (!("before" in values)) return `${where}: + ${after}`;
    return "after" in values ? `${where}: ${before} -> ${after}` : `${where}: - ${before}`;
  });
}

function brief(value: unknown): string {
  const text = escapedLine(JSON.stringify(value) ?? "");
  return text.length > shownChars ? `${text.slice(0, shownChars - 1)}…` : text;
}
