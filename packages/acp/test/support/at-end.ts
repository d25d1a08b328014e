// For tests: cleaning up in the right order.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

type Ending = Pick<TestContext, "after">;

const works = new WeakMap<Ending, (() => unknown)[]>();

/**
 * Runs it at the end of the test: what was opened last is closed first. `t.after` does it in the other order, in which a
 * folder is removed while somebody still writes to it.
 */
export function atEnd(t: Ending, work: () => unknown): void {
  const known = works.get(t);
  if (known !== undefined) return void known.push(work);
  const list = [work];
  works.set(t, list);
  t.after(async () => {
    for (const each of list.splice(0).reverse()) await each();
  });
}

/** A new folder, removed at the end of the test. `name` begins with "parley-". */
export function temporaryFolder(t: Ending, name: `parley-${string}`): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), name)));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
