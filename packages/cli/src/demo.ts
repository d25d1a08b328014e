// Placeholder until the demo is written.

/** Says that there is nothing here yet. */
export function run(): number {
  process.stderr.write("parley: demo is not written yet\n");
  return 1;
}
