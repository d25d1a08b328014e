// Sends mutated messages to agents, clients and relays. Whatever comes, every request is answered once, the connection
// can be used afterwards, nothing is left behind, and memory stays flat.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { inSoak } from "../../../acp/test/support/soak.ts";
import { minimise } from "./minimise.ts";
import { type Recording, record } from "./recordings.ts";
import { type Case, caseOf, runCase } from "./run-case.ts";
import { type Subject, subjects } from "./subjects.ts";

setFlagsFromString("--expose_gc");
const collectGarbage = runInNewContext("gc") as () => void; // as: the flag makes it

/** The first seed: fixed in `npm test`, another one each time in `npm run test:soak`. PARLEY_FUZZ_SEED repeats one case. */
const only = process.env.PARLEY_FUZZ_SEED;
const firstSeed = only === undefined ? inSoak(20_261_160, Date.now() % 1_000_000_000) : Number(only);
const cases = only === undefined ? inSoak(50, 4_000) : 1;
const patienceMs = inSoak(5_000, 10_000);
const maxGrowthBytes = 24 * 1024 * 1024;

const recordings = new Map<number, Recording>();
const unhandled: unknown[] = [];

before(async () => {
  for (const version of [1, 2] as const) recordings.set(version, await record(version));
  process.on("unhandledRejection", (reason) => unhandled.push(reason));
});

for (const subject of subjects) {
  test(`${subject.name}: every request is answered once, and the connection goes on (G4, G8)`, {
    timeout: 1_200_000,
  }, async (t) => {
    let sent = 0;
    const recording = recordings.get(subject.version);
    assert.ok(recording);
    let heldBefore = 0;
    for (let i = 0; i < cases; i++) {
      if (i === Math.min(500, cases >> 2)) heldBefore = held();
      const given = caseOf(firstSeed + i, subject, recording);
      sent += given.frames.length;
      const problem = await runCase(given, recording, patienceMs);
      if (problem !== undefined || unhandled.length > 0)
        await fail(given, recording, problem ?? `unhandled: ${unhandled[0]}`);
    }
    t.diagnostic(`fuzz: ${sent} messages to ${subject.name} in ${cases} connections`);
    const grown = held() - heldBefore;
    assert.ok(cases < 10 || grown <= maxGrowthBytes, `${grown} bytes more are held`);
  });
}

function held(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

async function fail(given: Case, recording: Recording, problem: string): Promise<never> {
  const failsSoon = async (frames: readonly string[]): Promise<boolean> => {
    unhandled.length = 0;
    return (await runCase({ ...given, frames }, recording, 300)) !== undefined || unhandled.length > 0;
  };
  const frames = await minimise(given.frames, failsSoon);
  unhandled.length = 0;
  assert.fail(report(given.subject, { ...given, frames }, problem));
}

function report(
  { name }: Subject,
  { seed, frames, bytes, isRushed, answersAtOnce }: Case,
  problem: string,
): string {
  const shown = frames.map((frame) =>
    frame.length > 300 ? `${frame.slice(0, 300)}… (${frame.length} characters)` : frame,
  );
  return [
    `${name}: ${problem}`,
    `seed ${seed} (PARLEY_FUZZ_SEED=${seed} repeats it); ${JSON.stringify({ bytes, isRushed, answersAtOnce })}`,
    "frames, as few as still fail:",
    ...shown,
  ].join("\n");
}
