// Medians and their spread. Means are useless on a shared machine.

/** A figure with its spread: the middle half of the rounds lies between `low` and `high`. */
export interface Figure {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function figure(values: readonly number[]): Figure {
  return { median: quantile(values, 0.5), low: quantile(values, 0.25), high: quantile(values, 0.75) };
}

/** Linear between the two nearest ranks. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  if (below === undefined || above === undefined) throw new Error("no values to summarise");
  return below + (above - below) * (at - Math.floor(at));
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
