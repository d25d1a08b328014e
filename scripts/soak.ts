// `npm run test:soak`: every test that `npm test` runs as a sample, in full: kill storms, long property runs, the fuzzer, all benchmarks.
// `npm run test:soak -- differential` runs the files whose path contains "differential".

import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, testFiles } from "./check-steps.ts";
import { countTests } from "./run-step.ts";

const filters = process.argv.slice(2);
const files = globSync(testFiles, { cwd: root, exclude: (path) => path.includes("node_modules") })
  .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
  .filter((file) =>
    /(?:soak|schema-contract|register-tests)\.ts"/.test(readFileSync(join(root, file), "utf8")),
  )
  .sort();
process.stdout.write(`soak: ${files.length} files, one after the other\n`);

let passed = 0;
let failures = 0;
for (const file of files) {
  const started = performance.now();
  const { code, output } = await runFile(file);
  const count = countTests(output);
  const isWell = code === 0 && count !== undefined && count.fail === 0;
  passed += count?.pass ?? 0;
  failures += isWell ? 0 : Math.max(1, count?.fail ?? 0);
  const seconds = `${((performance.now() - started) / 1000).toFixed(1)} s`;
  process.stdout.write(
    `${isWell ? "pass" : "FAIL"} ${seconds.padStart(9)}  ${count?.pass ?? 0} tests  ${file}\n`,
  );
  if (!isWell) process.stdout.write(`${output}\n`);
  // how much was sent
  else for (const [line] of output.matchAll(/fuzz: .*/g)) process.stdout.write(`  ${line}\n`);
}
process.stdout.write(`\n${passed} passed, ${failures} failed\n`);
process.exitCode = failures === 0 && files.length > 0 ? 0 : 1;

function runFile(file: string): Promise<{ code: unknown; output: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: unknown; output: string }>();
  execFile(
    process.execPath,
    ["--conditions=parley-source", "--test", "--test-reporter=spec", file],
    {
      cwd: root,
      env: { ...process.env, PARLEY_SOAK: "1", NODE_COMPILE_CACHE: join(root, "node_modules/.cache/node") },
      maxBuffer: 2 ** 28,
    },
    (error, stdout, stderr) => resolve({ code: error === null ? 0 : error.code, output: stdout + stderr }),
  );
  return promise;
}
