// Every name that Parley adds to the protocol is written once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isTest, read, repositoryFiles } from "./source-files.ts";

const module = "packages/acp/src/base/parley-extensions.ts";

test("no source but the module of Parley's additions spells one of their names", () => {
  const sources = repositoryFiles().filter(
    (file) => /^packages\/[a-z]+\/src\/.*\.ts$/.test(file) && !isTest(file) && file !== module,
  );
  assert.ok(sources.length > 500);
  const spelled = sources.flatMap((file) =>
    // comments may name them
    [...read(file).matchAll(/^(?!\s*(?:\/\/|\/?\*)).*["'`]_?parley\.dev\/\w+/gm)].map(
      ([line]) => `${file}: ${line.trim()}`,
    ),
  );
  assert.deepEqual(spelled, []);
});
