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

test("every name of Parley's that a page or a program spells is one of the module", () => {
  const names = new Set(read(module).match(/_parley\.dev\/\w+/g));
  assert.ok(names.size > 40);
  const spelled = repositoryFiles()
    .filter(
      (file) =>
        // such pages are made of the module, or tell of the older spelling
        !["docs/extensions.md", "docs/api/acp-extensions.md"].includes(file) &&
        (/\.md$/.test(file) || /^(bench|examples|scripts)\/.*\.(ts|js|html)$/.test(file)),
    )
    .flatMap((file) =>
      [...read(file).matchAll(/(?<![\w/.])_?parley\.dev\/[a-z]\w*/g)]
        .filter(([name]) => !names.has(name))
        .map(([name]) => `${file}: ${name}`),
    );
  assert.deepEqual(spelled, []);
});
