// The steps of the check: what each one runs, and on what. Adding a step is adding a row.

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Where scripts/bundle-for-tests.ts puts the command; test support finds it by BUNDLED_PARLEY. */
export const bundleForTests = join(root, "dist/for-tests/packages/cli");

/** What a step is about to do: arguments for Node, one list per process, so many of them at once, or else all. */
export type Plan =
  | { readonly commands: readonly (readonly string[])[]; readonly atOnce?: number }
  | { readonly skip: string }
  | { readonly problem: string };

/** One named part of the check. */
export interface Step {
  readonly name: string;
  /** The command that repairs what the step complains about, where there is one. */
  readonly fix?: string;
  /** Whether the step runs Node's test runner, and so must end with its summary. */
  readonly tests?: boolean;
  /** Whether its tests start `parley`, so that scripts/bundle-for-tests.ts must run before. */
  readonly usesBundle?: boolean;
  readonly plan: () => Plan;
}

/** Globs of all test files. */
export const testFiles = [
  "packages/*/{src,test}/**/*.test.ts",
  "test/**/*.test.ts",
  "examples/**/*.test.ts",
  "bench/**/*.test.ts",
  "scripts/**/*.test.ts",
];
const processTest = ".process.test.ts";
const proofTest = ".proof.test.ts";
const packagesTest = join("test", "packages.process.test.ts");
const nodeTest = [
  "--conditions=parley-source",
  "--import=./packages/acp/test/check-encoded.ts",
  "--test",
  "--test-reporter=./scripts/failures-reporter.ts",
];

/** Path filters and runner options from the command line; they narrow the test steps. */
const narrowed = { filters: [] as string[], options: [] as string[] };

/** Longest first, so that two at a time end together. */
export const steps: readonly Step[] = [
  {
    name: "process",
    tests: true,
    usesBundle: true,
    plan: () => {
      const files = findTests((file) => file.endsWith(processTest) && file !== packagesTest);
      if (files.length === 0) return { skip: "no process tests" };
      const alone = files.filter(needsOwnProcess);
      const shared = files.filter((file) => !alone.includes(file));
      return {
        // one more than there are cores, since they often wait for a process
        atOnce: 3,
        commands: [
          ...split(alone, 2).map((part) => testCommand(part, ["--test-concurrency=1"])),
          ...sharing(shared).map((part) => testCommand(part, ["--test-isolation=none"])),
        ],
      };
    },
  },
  {
    // What takes a core for long: many samples, many megabytes. A process each, so that none inherits a heap.
    name: "proof",
    tests: true,
    usesBundle: true,
    plan: () => {
      const files = findTests((file) => file.endsWith(proofTest));
      return files.length === 0 ? { skip: "no proofs" } : testPlan(files, ["--test-concurrency=2"]);
    },
  },
  {
    name: "packages",
    tests: true,
    plan: () =>
      existsSync(join(root, packagesTest))
        ? testPlan([packagesTest], [])
        : { problem: `${packagesTest} is missing` },
  },
  {
    // Pure tests share two processes: ten times faster than a process each.
    name: "unit",
    tests: true,
    plan: () => {
      const files = findTests((file) => !file.endsWith(processTest) && !file.endsWith(proofTest));
      if (files.length === 0) return { problem: "no unit tests found" };
      return { commands: split(files, 2).map((half) => testCommand(half, ["--test-isolation=none"])) };
    },
  },
  { name: "types", plan: () => ({ commands: [bin("typescript/bin/tsc", "-p", "tsconfig.json")] }) },
  {
    // The root entry runs in browsers: everything but src/node must do without Node's types.
    name: "browser",
    plan: () => ({ commands: [bin("typescript/bin/tsc", "-p", "tsconfig.browser.json")] }),
  },
  {
    name: "lint",
    fix: "npm run format",
    plan: () => ({
      commands: [bin("@biomejs/biome/bin/biome", "ci", "--colors=off", "--error-on-warnings", ".")],
    }),
  },
  { name: "unused", plan: () => ({ commands: [bin("knip/bin/knip.js", "--no-progress")] }) },
  {
    name: "generated",
    fix: "npm run generate",
    plan: () => ({ commands: [["--conditions=parley-source", "scripts/generate/main.ts", "--check"]] }),
  },
];

/** Reads the command line: step names, then path filters and runner options for the test steps. */
export function parseSteps(argv: readonly string[]): { steps: readonly Step[] } | { problem: string } {
  const chosen = new Set<Step>();
  for (const argument of argv) {
    const step = steps.find((candidate) => candidate.name === argument);
    if (step !== undefined) chosen.add(step);
    else if (argument.startsWith("--test-")) narrowed.options.push(argument);
    else if (argument.startsWith("-")) return { problem: `unknown option ${argument}` };
    else narrowed.filters.push(argument);
  }
  const narrows = narrowed.filters.length + narrowed.options.length > 0;
  if (narrows && ![...chosen].some((step) => step.tests)) {
    const got = [...narrowed.filters, ...narrowed.options].join(" ");
    return { problem: `${got} is no step, and no test step was named that it could narrow` };
  }
  return { steps: chosen.size === 0 ? steps : steps.filter((step) => chosen.has(step)) };
}

function findTests(accept: (file: string) => boolean): string[] {
  return globSync(testFiles, { cwd: root, exclude: (path) => path.includes("node_modules") })
    .filter(accept)
    .filter(
      (file) => narrowed.filters.length === 0 || narrowed.filters.some((filter) => file.includes(filter)),
    )
    .sort();
}

/** Such a line in a test file keeps it out of the processes that files share, and says why. */
const ownProcess = /^\/\/ Needs a process of its own: /m;

function needsOwnProcess(file: string): boolean {
  return ownProcess.test(readFileSync(join(root, file), "utf8"));
}

/** Loading the sources takes half a second, so the files of a package share processes: so many each, that none is the last for long. */
const sharedBy = 8;

function sharing(files: readonly string[]): string[][] {
  const packages = Map.groupBy(files, (file) => /^packages\/[^/]+/.exec(file)?.[0] ?? "");
  return [...packages.values()].flatMap((each) => split(each, Math.ceil(each.length / sharedBy)));
}

/** So many parts; neighbours cost alike, so the parts do too. */
function split(files: readonly string[], count: number): string[][] {
  return Array.from({ length: count }, (_, part) =>
    files.filter((_, index) => index % count === part),
  ).filter((part) => part.length > 0);
}

function testPlan(files: readonly string[], options: readonly string[]): Plan {
  return { commands: [testCommand(files, options)] };
}

function testCommand(files: readonly string[], options: readonly string[]): string[] {
  return [...nodeTest, ...options, ...narrowed.options, ...files];
}

/** The tools are scripts for Node; started this way they run on the Node that runs the check. */
function bin(path: string, ...args: string[]): string[] {
  return [join(root, "node_modules", path), ...args];
}
