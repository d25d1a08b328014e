// Compares the working tree with an older commit: the commit gets a worktree of its own, and both run their own
// benchmarks in turns.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Direction } from "./benchmark.ts";
import type { ComparedResult } from "./report.ts";
import { outputOf, type Progress } from "./rounds.ts";
import { figure } from "./statistics.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** What `--json` prints for one benchmark; an older commit does not say the direction. */
interface Printed {
  readonly ours: number;
  readonly floor: number;
  readonly vsFloor: number;
  readonly unit: string;
  readonly better?: Direction;
}

interface Trees {
  readonly before: string;
  readonly now: string;
}

/** Runs `use` with a worktree of the commit, and removes it. Throws when there is no such commit. */
export async function withTree(commit: string, use: (trees: Trees) => Promise<void>): Promise<void> {
  const found = git("rev-parse", "--verify", "--quiet", "--end-of-options", `${commit}^{commit}`);
  if (found === undefined) throw new Error(`--against: there is no commit ${JSON.stringify(commit)} here`);
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-"));
  const before = join(folder, "tree");
  const remove = () => {
    git("worktree", "remove", "--force", before);
    rmSync(folder, { recursive: true, force: true });
  };
  // also when the user stops it: a worktree that is left is in the way of the next one
  const stop = () => process.exit(130);
  process.once("exit", remove).once("SIGINT", stop).once("SIGTERM", stop);
  try {
    if (git("worktree", "add", "--detach", before, found.trim()) === undefined)
      throw new Error(`--against: git could not check out ${commit}`);
    process.stderr.write(`installing the packages of ${commit}\n`);
    await outputOf([process.execPath, "scripts/ensure.mjs"], { cwd: before });
    await use({ before, now: root });
  } finally {
    process.off("exit", remove).off("SIGINT", stop).off("SIGTERM", stop);
    remove();
  }
}

/** One benchmark in both trees, in turns; the one that begins changes with each round. */
export async function compareTrees(
  trees: Trees,
  name: string,
  options: { readonly rounds: number; readonly quick: boolean; readonly progress: Progress },
): Promise<ComparedResult> {
  const printed: Record<keyof Trees, Printed[]> = { before: [], now: [] };
  for (let round = 0; round < options.rounds; round++) {
    const order = round % 2 === 0 ? (["before", "now"] as const) : (["now", "before"] as const);
    for (const [i, side] of order.entries()) {
      options.progress(round * 2 + i, options.rounds * 2, side);
      const quick = options.quick ? ["--quick"] : [];
      const node = [process.execPath, "--conditions=parley-source"];
      const args = ["bench/run.ts", "--json", "--only", name, "--rounds", "1", ...quick];
      const results = JSON.parse(await outputOf([...node, ...args], { cwd: trees[side] }));
      // as: printed by a benchmark of ours
      printed[side].push(results[name] as Printed);
    }
  }
  const [{ unit, better = "more is better" } = { unit: "" }] = printed.now;
  const over = (now: number, before: number) => (better === "more is better" ? now / before : before / now);
  const ours = (side: keyof Trees) => figure(printed[side].map((each) => each.ours));
  const [before, now] = [ours("before"), ours("now")];
  const ratios = printed.now.map((each, round) => over(each.ours, printed.before[round]?.ours ?? Number.NaN));
  return {
    name,
    unit,
    before,
    now,
    ratio: { ...figure(ratios), median: over(now.median, before.median) },
    vsFloor: {
      before: figure(printed.before.map(({ vsFloor }) => vsFloor)),
      now: figure(printed.now.map(({ vsFloor }) => vsFloor)),
    },
  };
}

function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout : undefined;
}
