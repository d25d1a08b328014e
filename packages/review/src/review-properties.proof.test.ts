// Random edits of an agent and a user by turns: what undo and redo promise holds for all of them.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openReview, type Review } from "@parley/review";
import fc from "fast-check";
import { propertyRuns } from "../test/support/soak.ts";
import { allHunks, turn } from "../test/support/workspace.ts";

const runs = propertyRuns(30, 1000);

/** A folder with one file, and a review without git. */
async function withFile(first: string, work: (file: Handle) => Promise<void>): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), "parley-review-property-"));
  const root = join(base, "project");
  mkdirSync(root);
  const path = join(root, "file.txt");
  const write = (text: string) => writeFileSync(path, text, "latin1");
  write(first);
  try {
    const open = () =>
      openReview({
        roots: [root],
        stateFolder: join(base, "ours"),
        env: { HOME: base },
        session: "property",
      });
    const reopen = async (review: Review) => {
      await review.close();
      return open();
    };
    await work({ review: await open(), reopen, write, read: () => readFileSync(path, "latin1") });
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

interface Handle {
  readonly review: Review;
  /** Closes it and opens the session again, as another process would. */
  readonly reopen: (review: Review) => Promise<Review>;
  readonly write: (text: string) => void;
  readonly read: () => string;
}

// Slots between lines that nobody touches. Even slots are the agent's, odd ones the user's.
const slots = 8;
const slot = fc.array(fc.constantFrom("x", "y", "}"), { maxLength: 3 });
const edits = fc.array(fc.tuple(fc.nat(slots / 2 - 1), slot), { maxLength: 3 });
// Equal lines on both sides of an anchor would make it a matter of taste which line moved.
const render = (contents: readonly (readonly string[])[]) =>
  [
    ...contents.flatMap((lines, index) => [`anchor ${index}`, ...lines.map((line) => `${index} ${line}`)]),
    "end",
    "",
  ].join("\n");

test("undoing all hunks of the agent leaves the file with the user's edits alone", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(slot, { minLength: slots, maxLength: slots }),
      fc.array(fc.tuple(edits, edits), { maxLength: 4 }),
      async (first, turns) => {
        const contents = first.map((lines) => [...lines]);
        const onlyUser = first.map((lines) => [...lines]);
        await withFile(render(contents), async ({ review, write, read }) => {
          for (const [agents, users] of turns) {
            await turn(review, () => {
              for (const [index, lines] of agents) contents[index * 2] = lines;
              write(render(contents));
            });
            for (const [index, lines] of users) {
              contents[index * 2 + 1] = lines;
              onlyUser[index * 2 + 1] = lines;
            }
            write(render(contents));
          }
          const before = read();
          const open = allHunks(await review.changes());
          const undone = await review.undo({ hunks: open.map(({ id }) => id) });
          assert.deepEqual(
            undone.files.filter(({ outcome }) => outcome === "refused"),
            [],
          );
          assert.equal(read(), render(onlyUser));
          await review.redo(undone);
          assert.equal(read(), before);
        });
      },
    ),
    runs,
  );
});

const text = fc
  .array(fc.constantFrom("a\n", "b\n", "}\n", "\n", "c\r\n", "d"), { maxLength: 12 })
  .map((lines) => lines.join(""));

test("undoing turns from the last to the first gives the file before each of them, and redo goes the way back", async () => {
  await fc.assert(
    fc.asyncProperty(text, fc.array(text, { minLength: 1, maxLength: 5 }), async (first, versions) => {
      await withFile(first, async ({ review, write, read }) => {
        for (const version of versions) await turn(review, () => write(version));
        const before = [first, ...versions];
        const undone = [];
        for (let number = versions.length; number > 0; number -= 1) {
          undone.push(await review.undo({ turn: number }));
          assert.equal(read(), before[number - 1]);
        }
        for (const [index, result] of undone.toReversed().entries()) {
          await review.redo(result);
          assert.equal(read(), before[index + 1]);
        }
      });
    }),
    runs,
  );
});

test("undo and redo of any hunks is the identity, whatever the user and the agent wrote", async () => {
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 4 }),
      fc.infiniteStream(fc.boolean()),
      async (first, turns, picks) => {
        await withFile(first, async ({ review, write, read }) => {
          for (const [agents, users] of turns) {
            await turn(review, () => write(agents));
            write(users);
          }
          const before = read();
          const picked = allHunks(await review.changes()).filter(() => picks.next().value);
          const undone = await review.undo({ hunks: picked.map(({ id }) => id) });
          const redone = await review.redo(undone);
          assert.equal(read(), before, JSON.stringify([undone, redone]));
          const after = allHunks(await review.changes()).map(({ id }) => id);
          for (const { id } of picked) assert.ok(after.includes(id), "the hunks are there again");
        });
      },
    ),
    runs,
  );
});

test("a session that is opened again at any moment goes on as if it had not been closed", async () => {
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 4 }),
      fc.infiniteStream(fc.boolean()),
      async (first, turns, picks) => {
        const outcome = async (isReopened: boolean, choices: readonly boolean[]) => {
          const seen: unknown[] = [];
          await withFile(first, async ({ review, reopen, write, read }) => {
            let open = review;
            const pause = async () => {
              if (isReopened) open = await reopen(open);
              const changes = await open.changes();
              seen.push(
                changes.files.map(({ path: _, ...rest }) => withoutIds(rest)),
                open.undone,
                read(),
              );
              return changes;
            };
            for (const [agents, users] of turns) {
              await turn(open, () => write(agents));
              await pause();
              write(users);
            }
            const picked = allHunks(await pause()).filter((_, index) => choices[index]);
            const undone = await open.undo({ hunks: picked.map(({ id }) => id) });
            const rest = allHunks(await pause()).filter(({ state }) => state === "open");
            await open.keep(rest.slice(0, 1).map(({ id }) => id));
            await pause();
            if (open.undone.includes(undone.id)) await open.redo(undone);
            await pause();
          });
          return seen;
        };
        const choices = Array.from({ length: 30 }, () => picks.next().value === true);
        assert.deepEqual(await outcome(true, choices), await outcome(false, choices));
      },
    ),
    runs,
  );
});

/** Ids hold the path, and that is another one in each folder. */
function withoutIds<File extends { readonly hunks: readonly { readonly id: string }[] }>(file: File) {
  return { ...file, hunks: file.hunks.map(({ id: _, ...hunk }) => hunk) };
}
