// Builds the packages for benchmarks of what users install.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

let building: Promise<void> | undefined;

/** Once for all benchmarks of a run. */
export function build(): Promise<void> {
  building ??= buildAll();
  return building;
}

async function buildAll(): Promise<void> {
  const script = fileURLToPath(new URL("../scripts/build.ts", import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ["ignore", "ignore", "inherit"] });
  const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  if (code !== 0) throw new Error(`scripts/build.ts ended with ${code}: this benchmark needs what it builds`);
}
