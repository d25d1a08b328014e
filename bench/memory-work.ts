// Runs in-process benchmarks in batches: warm up first, then measure.

/** How long to run; passed to the program as JSON. */
export interface MemoryTask {
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface MemorySample {
  readonly microsPerMessage: number;
  readonly cpuMicrosPerMessage: number;
}

const batchSize = 200;

/** The whole of a program: `batch` sends messages `from` to `from + count` and returns when all were handled. */
export async function runBatches(batch: (from: number, count: number) => unknown): Promise<void> {
  const { warmUpMs, measureMs }: MemoryTask = JSON.parse(process.argv[2] ?? "");
  let from = 0;
  const runFor = async (ms: number) => {
    const first = from;
    const started = performance.now();
    const cpu = process.cpuUsage();
    let elapsed = 0;
    while (elapsed < ms) {
      await batch(from, batchSize);
      from += batchSize;
      elapsed = performance.now() - started;
    }
    const { user, system } = process.cpuUsage(cpu);
    const messages = from - first;
    return { microsPerMessage: (elapsed * 1000) / messages, cpuMicrosPerMessage: (user + system) / messages };
  };
  await runFor(warmUpMs);
  const sample: MemorySample = await runFor(measureMs);
  process.stdout.write(`${JSON.stringify(sample)}\n`);
}
