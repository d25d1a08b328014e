// The types of a benchmark and its result.

import type { RunOptions } from "./rounds.ts";
import { type Figure, figure } from "./statistics.ts";

export const entrants = ["floor", "sdk", "ours"] as const;
export type Entrant = (typeof entrants)[number];

export interface Benchmark {
  readonly name: string;
  /** One line for `--list`: what is measured. */
  readonly about: string;
  /** What the ratios must reach; absent means that there is no target. */
  readonly target: { readonly vsFloor?: number; readonly vsSdk?: number };
  run(options: RunOptions): Promise<Result>;
}

/** Ratios are written so that bigger is better for us, whatever the unit. */
export interface Result {
  readonly ours: Figure;
  readonly sdk: Figure;
  readonly floor: Figure;
  readonly unit: string;
  readonly vsSdk: Figure;
  readonly vsFloor: Figure;
  readonly direction: Direction;
  /** Lines below the table: CPU, memory, further sizes. */
  readonly notes: readonly string[];
  /** Further checks against a target, beside the two ratios. */
  readonly checks?: readonly Check[];
}

export interface Check {
  readonly what: string;
  readonly value: number;
  readonly target: number;
  readonly met: boolean;
}

export type Direction = "more is better" | "less is better";

/**
 * Summarises one value per entrant and round. A ratio is the ratio of the medians, so that it can be
 * checked with a pocket calculator; its spread is that of the ratios within each round.
 */
export function compare(
  values: Readonly<Record<Entrant, readonly number[]>>,
  unit: string,
  direction: Direction,
): Omit<Result, "notes" | "checks"> {
  const [ours, sdk, floor] = [figure(values.ours), figure(values.sdk), figure(values.floor)];
  const ratio = (against: "sdk" | "floor"): Figure => {
    const over = (mine: number, theirs: number) =>
      direction === "more is better" ? mine / theirs : theirs / mine;
    const paired = figure(values.ours.map((mine, round) => over(mine, values[against][round] ?? Number.NaN)));
    const theirs = against === "sdk" ? sdk : floor;
    return { ...paired, median: over(ours.median, theirs.median) };
  };
  return { ours, sdk, floor, unit, vsSdk: ratio("sdk"), vsFloor: ratio("floor"), direction };
}

export const atLeast = (what: string, value: number, target: number): Check => ({
  what,
  value,
  target,
  met: value >= target,
});

export const atMost = (what: string, value: number, target: number): Check => ({
  what,
  value,
  target,
  met: value <= target,
});
