// Times validation against JSON.parse of the same messages.

import { kinds } from "./messages.ts";
import { quantile } from "./statistics.ts";

/** Nanoseconds per message: kind -> name of a check (or "parse") -> time. */
export type ValidationSample = Record<string, Record<string, number>>;

/**
 * Finds the check of a method, once per kind: looking it up is the dispatcher's work. A check throws
 * when the params are wrong, since every message here is right.
 */
export type Check = (method: string) => (params: unknown) => void;

type MakeMessage = (i: number) => { readonly method: string; readonly params: object };

const batch = 256;

/** The whole of a program: `passMs` of work per kind, once to warm up, once measured. */
export function runChecks(checks: Readonly<Record<string, Check>>): void {
  const { passMs }: { passMs: number } = JSON.parse(process.argv[2] ?? "");
  const sample: ValidationSample = {};
  for (const pass of ["warm-up", "measured"]) {
    for (const [kind, make] of Object.entries(kinds)) {
      const times = time(make, checks, passMs);
      if (pass === "measured") sample[kind] = times;
    }
  }
  process.stdout.write(`${JSON.stringify(sample)}\n`);
}

/**
 * The median over batches. A batch that was interrupted by another tenant of the machine does not
 * count that way, nor one with a collection in it, which only flatters the checks: they allocate nothing.
 */
function time(make: MakeMessage, checks: Readonly<Record<string, Check>>, passMs: number) {
  const texts = Array.from({ length: batch }, (_, i) =>
    JSON.stringify({ jsonrpc: "2.0", id: i, ...make(i) }),
  );
  const found = Object.entries(checks).map(([name, find]) => ({ name, check: find(make(0).method) }));
  const spent = new Map<string, number[]>();
  const clock = (name: string, work: () => void) => {
    const started = performance.now();
    work();
    const ns = ((performance.now() - started) * 1e6) / batch;
    const batches = spent.get(name);
    if (batches === undefined) spent.set(name, [ns]);
    else batches.push(ns);
  };
  for (const started = performance.now(); performance.now() - started < passMs; ) {
    let parsed: { params: unknown }[] = [];
    clock("parse", () => {
      parsed = texts.map((text) => JSON.parse(text));
    });
    // Whoever comes second finds the objects in the processor's cache, so they take turns.
    for (const { name, check } of found.reverse()) {
      clock(name, () => {
        for (const { params } of parsed) check(params);
      });
    }
  }
  return Object.fromEntries([...spent].map(([name, batches]) => [name, quantile(batches, 0.5)]));
}
