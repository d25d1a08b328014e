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
    "packages/acp/src/redact/encoded-secrets.test.ts",
    "packages/client/src/rules/{evasion,shell-tricks}.test.ts",
    "packages/cli/src/questions/permission-question.test.ts",
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
/** The findings of the first field tests: each is a test, by its id. */
const findings = [1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14].map((number) => `V${number}`);
const untested = findings.filter((id) => !new RegExp(`^\\s*✔ .*\\b${id}\\b`, "m").test(output));
const width = Math.max(0, ...counted.map(({ what }) => what.length));
for (const { what, attempts, violations } of counted)
  process.stdout.write(
    `${what.padEnd(width)}  ${String(attempts).padStart(8)} attempts  ${violations} violations\n`,
  );
const total = counted.reduce((sum, { attempts }) => sum + attempts, 0);
const violations = counted.reduce((sum, each) => sum + each.violations, 0);
// a suite that counted nothing has shown nothing
const isWell = code === 0 && violations === 0 && counted.length >= 20 && untested.length === 0;
if (!isWell) process.stdout.write(`\n${output}\n`);
for (const [, trusted] of output.matchAll(/ℹ (trusted by .+)/g)) process.stdout.write(`${trusted}\n`);
if (untested.length > 0) process.stdout.write(`\nwithout a test: ${untested.join(", ")}\n`);
process.stdout.write(
  `\n${total} attempts, ${violations} violations${code === 0 ? "" : ", and tests failed"}\n`,
);
process.exitCode = isWell ? 0 : 1;
