// Opens many sessions on one connection, measures their memory, then sends updates.

import { setImmediate as nextTurn } from "node:timers/promises";

export interface SessionsTask {
  readonly sessions: number;
  readonly updatesEach: number;
}

export interface SessionsSample {
  readonly updatesPerMs: number;
  readonly bytesPerSession: number;
}

export interface SessionsEntrant {
  open(): Promise<{ readonly sessionId: string }>;
  heapPerSession(before: number, sessions: number): number;
  send(sessionId: string, i: number): unknown;
  handled(): number;
}

/** The whole of a program. Node must run with --expose-gc. */
export async function runSessions(entrant: SessionsEntrant): Promise<void> {
  const { sessions, updatesEach }: SessionsTask = JSON.parse(process.argv[2] ?? "");
  for (let i = 0; i < 100; i += 1) await entrant.open();
  const before = heapUsed();
  const open: { readonly sessionId: string }[] = [];
  for (let i = 0; i < sessions; i += 1) open.push(await entrant.open());
  const bytesPerSession = entrant.heapPerSession(before, sessions);
  // one pass to warm up, one to measure
  let sample: SessionsSample = { updatesPerMs: 0, bytesPerSession };
  for (let pass = 0; pass < 2; pass += 1) {
    const expected = entrant.handled() + sessions * updatesEach;
    const started = performance.now();
    for (let i = 0; i < updatesEach; i += 1) {
      for (const { sessionId } of open) await entrant.send(sessionId, i);
    }
    while (entrant.handled() < expected) await nextTurn();
    sample = { bytesPerSession, updatesPerMs: (sessions * updatesEach) / (performance.now() - started) };
  }
  process.stdout.write(`${JSON.stringify(sample)}\n`);
}

export function heapPerSession(before: number, sessions: number): number {
  return (heapUsed() - before) / sessions;
}

function heapUsed(): number {
  // there with --expose-gc, which the suite passes
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed;
}
