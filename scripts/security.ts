// `npm run test:security`: everything that must never happen, tried for longer than `npm test` does, counted and
// printed. `npm run test:security -- 5` races for 5 s instead of 60.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { root } from "./check-steps.ts";

const seconds = Number(process.argv[2] ?? 60);
if (!(seconds > 0)) {
  process.stderr.write(`security: the races take a number of seconds, got ${process.argv[2]}\n`);
  process.exit(2);
}

const files = globSync(
  [
    "packages/*/test/security/*.test.ts",
    "packages/acp/src/node/files/{swap-race,hostile-files}.process.test.ts",
  ],
  { cwd: root },
).sort();

process.stdout.write(`security: ${files.length} files, ${seconds} s of races\n`);
const child = spawn(
  process.execPath,
  // one after the other: a race that has to wait for its turn is no race
  ["--conditions=parley-source", "--test", "--test-reporter=spec", "--test-concurrency=1", ...files],
  {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, PARLEY_RACE_SECONDS: `${seconds}`, PARLEY_SWAP_SECONDS: `${seconds / 12}` },
  },
);
let output = "";
child.stdout.setEncoding("utf8").on("data", (text: string) => {
  output += text;
});
const [code] = await once(child, "close");

const counted = [...output.matchAll(/security: (.+): (\d+) attempts, (\d+) violations/g)].map(
  ([, what = "", attempts, violations]) => ({
    what,
    attempts: Number(attempts),
    violations: Number(violations),
  }),
);
const width = Math.max(0, ...counted.map(({ what }) => what.length));
for (const { what, attempts, violations } of counted)
  process.stdout.write(
    `${what.padEnd(width)}  ${String(attempts).padStart(8)} attempts  ${violations} violations\n`,
  );
const total = counted.reduce((sum, { attempts }) => sum + attempts, 0);
const violations = counted.reduce((sum, each) => sum + each.violations, 0);
// a suite that counted nothing has shown nothing
const isWell = code === 0 && violations === 0 && counted.length >= 10;
if (!isWell) process.stdout.write(`\n${output}\n`);
process.stdout.write(
  `\n${total} attempts, ${violations} violations${code === 0 ? "" : ", and tests failed"}\n`,
);
process.exitCode = isWell ? 0 : 1;
