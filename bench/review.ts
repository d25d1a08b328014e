// Benchmark of the review: a snapshot of a large repository against `git status`.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openReview } from "@parley/review";
import { atMost, type Benchmark, compare } from "./benchmark.ts";
import { interleave } from "./rounds.ts";
import { figure } from "./statistics.ts";

export const reviewSnapshot: Benchmark = {
  name: "review.snapshot",
  about: "a snapshot of a repository of 50,000 files with one change; the floor is `git status`",
  target: {},
  async run(options) {
    const base = mkdtempSync(join(tmpdir(), "parley-bench-review-"));
    const root = join(base, "project");
    const env = { ...process.env, HOME: base, GIT_CONFIG_NOSYSTEM: "1" };
    const git = (...args: string[]) => execFileSync("git", args, { cwd: root, env, stdio: "ignore" });
    try {
      makeTree(root, options.quick ? 2 : 500);
      git("init", "-q");
      git("add", "-A");
      const identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"];
      git(...identity, "commit", "-qm", "all", "--no-gpg-sign");
      git("status");
      const opening = performance.now();
      await using review = await openReview({ roots: [root], stateFolder: join(base, "ours"), env });
      await review.beginTurn();
      const firstMs = performance.now() - opening;
      let version = 0;
      const samples = await interleave(["floor", "ours"], options, async (entrant) => {
        version += 1;
        writeFileSync(join(root, "d0/f0"), `${version}\n`);
        const started = performance.now();
        if (entrant === "floor") {
          git("status");
          return performance.now() - started;
        }
        // the end of a turn with a change, and the start of the next one
        await review.endTurn();
        await review.beginTurn();
        return (performance.now() - started) / 2;
      });
      const ratio = figure(samples.ours).median / figure(samples.floor).median;
      return {
        ...compare({ ours: samples.ours, floor: samples.floor, sdk: samples.floor }, "ms", "less is better"),
        notes: [
          `the first snapshot, with the start of the review: ${firstMs.toFixed(0)} ms`,
          "the sdk has no review: its column repeats the floor",
        ],
        checks: options.quick ? [] : [atMost("times git status", ratio, 1.5)],
      };
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  },
};

function makeTree(root: string, folders: number): void {
  for (let folder = 0; folder < folders; folder += 1) {
    mkdirSync(join(root, `d${folder}`), { recursive: true });
    for (let file = 0; file < 100; file += 1) {
      writeFileSync(join(root, `d${folder}/f${file}`), `${folder % 50} ${file}\n`);
    }
  }
}
