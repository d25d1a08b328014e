// Chooses how much of a long test runs: a sample in `npm test`, all of it in `npm run test:soak`.

const isSoak = process.env.PARLEY_SOAK === "1";

/** Settings of a fast-check property: a sample with a fixed seed, or many runs with a new seed each time. */
export function propertyRuns(sample: number, full: number): { numRuns: number; seed?: number } {
  return isSoak ? { numRuns: full } : { numRuns: sample, seed: 20_261_116 };
}

/** The second value in `npm run test:soak`, the first one otherwise. */
export function inSoak<Value>(sample: Value, full: Value): Value {
  return isSoak ? full : sample;
}
