// A folder to review, with the little that tests do in it. No setting of the machine reaches it.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { type Changes, type Hunk, openReview, type Review, type ReviewOptions } from "@parley/review";

export interface Workspace {
  readonly root: string;
  /** Everything of the test: the root, our folder, the user's home. */
  readonly base: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  write(path: string, content: string | Buffer, mode?: number): void;
  read(path: string): string;
  has(path: string): boolean;
  path(path: string): string;
  git(...args: string[]): string;
  open(options?: Partial<ReviewOptions>): Promise<Review>;
}

export function workspace(t: TestContext, options: { readonly git?: boolean } = {}): Workspace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-review-")));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const [root, home] = [join(base, "project"), join(base, "ours")];
  for (const folder of [root, join(base, "user")]) mkdirSync(folder);
  const env = {
    PATH: options.git === false ? "" : process.env["PATH"],
    HOME: join(base, "user"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  const path = (name: string) => join(root, name);
  const identity = ["-c", "user.name=u", "-c", "user.email=u@example.com", "-c", "commit.gpgsign=false"];
  const made: Workspace = {
    root,
    base,
    home,
    env,
    path,
    write(name, content, mode) {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), content);
      if (mode !== undefined) chmodSync(path(name), mode);
    },
    read: (name) => readFileSync(path(name), "latin1"),
    has: (name) => existsSync(path(name)),
    git: (...args) =>
      execFileSync("git", [...identity, ...args], {
        cwd: root,
        env,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      }),
    open: (more = {}) => openReview({ roots: [root], stateFolder: home, env, ...more }),
  };
  if (options.git !== false) made.git("init", "-q", "-b", "main");
  return made;
}

/** Numbered lines: `line 1` to `line n`. */
export function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");
}

/** The changes as text: one line for each file and each changed line. */
export function shown(changes: Changes): string[] {
  return changes.files.flatMap(({ path, kind, hunks }) => [
    `${kind} ${path.split("/").slice(-1)}`,
    ...hunks.flatMap((hunk) => [
      `@ ${hunk.kind} ${hunk.state}${hunk.about === undefined ? "" : ` (${hunk.about})`}`,
      ...hunk.lines
        .filter((line) => line.kind !== "context")
        .map((line) => `${line.kind === "added" ? "+" : "-"}${line.text}`),
    ]),
  ]);
}

export function allHunks(changes: Changes): Hunk[] {
  return changes.files.flatMap(({ hunks }) => hunks);
}

/** Runs a turn in which the agent does this. */
export async function turn(review: Review, work: () => unknown, label?: string) {
  await review.beginTurn(label);
  await work();
  return review.endTurn();
}
