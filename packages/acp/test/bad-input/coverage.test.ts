import assert from "node:assert/strict";
import { test } from "node:test";
import { transportNames } from "./bad-input.ts";
import { catalogue } from "./catalogue.ts";
import { closings } from "./closing.ts";
import { scenarios } from "./scenarios.ts";

test("every bad input from N001 to N091 has a case", () => {
  const covered = new Set([...catalogue, ...scenarios].flatMap(({ ids }) => ids));
  const missing = Array.from({ length: 91 }, (_, i) => `N${String(i + 1).padStart(3, "0")}`).filter(
    (id) => !covered.has(id),
  );
  assert.deepEqual(missing, []);
});

test("the cases that end a connection are the listed ones and no others", () => {
  const tested = [
    ...catalogue.map(({ ids, roles = ["agent", "client"], only, closes }) => ({
      ids,
      roles,
      on: only?.on ?? transportNames,
      closes,
    })),
    ...scenarios,
  ].flatMap(({ ids, roles, on, closes }) =>
    closes === undefined ? [] : spread({ ids, roles, on, kind: closes }),
  );
  const listed = closings.flatMap((closing) => spread(closing));
  assert.deepEqual([...new Set(tested)].toSorted(), listed.toSorted());
});

function spread({ ids, roles, on, kind }: (typeof closings)[number]): string[] {
  return ids.flatMap((id) =>
    roles.flatMap((role) => on.map((transport) => `${id} ${role} ${transport}: ${kind}`)),
  );
}
