// For tests of what work costs as its input grows.

/**
 * How many times as much CPU time the work takes for four times the size: about 4 if it is linear, 16 if it is
 * quadratic. The best of five runs counts, so that what else the machine does is left out.
 */
export function growthOf(size: number, work: (size: number) => unknown): number {
  const best = (count: number) => Math.min(...Array.from({ length: 5 }, () => cost(() => work(count))));
  // warm: the first run compiles
  cost(() => work(size));
  return best(4 * size) / best(size);
}

function cost(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
