// The documentation says what is there: every public symbol, no other; links that lead somewhere; code that is
// the code of the examples.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { read, repositoryFiles, root } from "./source-files.ts";

const pages = repositoryFiles().filter((file) =>
  /^(?:README|ARCHITECTURE|AGENTS|docs\/[^/]+)\.md$/.test(file),
);

/** The sections of the API page, and the entry points that each of them is about. */
const sections: Readonly<Record<string, readonly string[]>> = {
  "@parley/acp": ["acp/src/index.ts"],
  "@parley/acp/node": ["acp/src/node.ts"],
  "@parley/acp/view": ["acp/src/view.ts"],
  "@parley/acp/redact": ["acp/src/redact.ts"],
  "@parley/acp/testing": ["acp/src/testing.ts"],
  "@parley/acp/v1 and @parley/acp/v2": ["acp/src/v1.ts", "acp/src/v2.ts"],
  "@parley/conformance": ["conformance/src/index.ts"],
  "@parley/agent": ["agent/src/index.ts"],
  "@parley/client": ["client/src/index.ts"],
  "@parley/client/config": ["client/src/config.ts"],
  "@parley/client/history": ["client/src/history.ts"],
};

/** The names that an entry point exports, types too; not those of generated files. */
function exportsOf(entry: string): Set<string> {
  const text = read(`packages/${entry}`).replaceAll(/\/\/.*$|\/\*[\s\S]*?\*\//gm, "");
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = ""]) =>
    list.split(","),
  );
  const listed = lists.map((item) =>
    item
      .trim()
      .replace(/^type /, "")
      .replace(/^.* as /, ""),
  );
  const declared = [...text.matchAll(/^export (?:async )?(?:function|const|class|type|interface) (\w+)/gm)];
  const whole = [...text.matchAll(/^export type \* from "(.*)(?<!\.gen)\.ts";$/gm)].flatMap(
    ([, file = ""]) => [...exportsOf(join(dirname(entry), `${file}.ts`))],
  );
  return new Set(
    [...listed, ...declared.map(([, name = ""]) => name), ...whole].filter((name) => name !== ""),
  );
}

/** Each item of a section's lists begins with the symbol that it is about. */
function documentedIn(section: string): string[] {
  const start = api.indexOf(`\n## ${section}\n`);
  assert.ok(start >= 0, `docs/api.md has no section ${section}`);
  const end = api.indexOf("\n## ", start + 1);
  const text = api.slice(start, end < 0 ? undefined : end);
  return [...text.matchAll(/^- `(\w+)/gm)].map(([, name = ""]) => name);
}

/** The blocks of a page that hold TypeScript. */
function codeBlocks(page: string): string[] {
  return [...read(page).matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code.trim());
}

/** An example without the comment at its top and the one that says what it prints. */
function codeOf(example: string): string {
  const [code = ""] = read(example).split("\n// prints:\n");
  return code.replace(/^(?:\/\/.*\n)+/, "").trim();
}

/** How GitHub names the place of a heading. */
function anchorsOf(page: string): Set<string> {
  const headings = [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, "")
        .replaceAll(" ", "-"),
    ),
  );
}

const api = read("docs/api.md");

for (const [section, entries] of Object.entries(sections)) {
  test(`docs/api.md has every symbol of ${section}, once, and no other`, () => {
    const documented = documentedIn(section);
    for (const entry of entries) {
      const exported = exportsOf(entry);
      assert.ok(exported.size > 1, `only ${exported.size} exports were found in ${entry}`);
      assert.deepEqual(
        [...exported].filter((name) => !documented.includes(name)),
        [],
        "not documented",
      );
      assert.deepEqual(
        documented.filter((name) => !exported.has(name)),
        [],
        `not exported from ${entry}`,
      );
    }
    assert.deepEqual(
      documented.filter((name, at) => documented.indexOf(name) !== at),
      [],
      "documented twice",
    );
  });
}

test("what is exported at run time was found by reading the sources", async () => {
  for (const entry of Object.values(sections).flat()) {
    const path = `@parley/${entry
      .slice(0, -3)
      .replace("/src/", "/")
      .replace(/\/index$/, "")}`;
    const loaded: Record<string, unknown> = await import(path);
    const found = exportsOf(entry);
    assert.deepEqual(
      Object.keys(loaded).filter((name) => !found.has(name)),
      [],
      path,
    );
  }
});

test("relative links lead to files that exist, and to headings of theirs", () => {
  assert.ok(pages.length > 5, `only ${pages.join(", ")} were found`);
  const broken = pages.flatMap((page) => {
    const prose = read(page).replaceAll(/^```[\s\S]*?^```$/gm, "");
    const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
    return targets
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => {
        const [path = "", anchor] = target.split("#");
        const file = path === "" ? page : join(dirname(page), path);
        if (!existsSync(join(root, file))) return true;
        return anchor !== undefined && !anchorsOf(file).has(anchor);
      })
      .map((target) => `${page}: ${target}`);
  });
  assert.deepEqual(broken, []);
});

for (const example of ["examples/agent.ts", "examples/client.ts"]) {
  test(`README.md has the code of ${example}, in 15 lines or fewer`, () => {
    const code = codeOf(example);
    assert.ok(codeBlocks("README.md").includes(code), `no block of README.md equals the code of ${example}`);
    const lines = code.split("\n").filter((line) => line.trim() !== "");
    assert.ok(lines.length <= 15, `${lines.length} lines`);
  });
}

test("a page that says that it shows the whole of an example does", () => {
  const claims = pages.flatMap((page) =>
    [...read(page).matchAll(/[Tt]he whole of \[(examples\/[\w.-]+)\]/g)].map(([, example = ""]) => ({
      page,
      example,
    })),
  );
  assert.ok(claims.length > 1);
  const wrong = claims.filter(({ page, example }) => !codeBlocks(page).includes(codeOf(example)));
  assert.deepEqual(wrong, []);
});

test("every example is named by a page", () => {
  const texts = pages.map(read).join("\n");
  const examples = repositoryFiles().filter((file) => /^examples\/[^/]+\.ts$/.test(file));
  assert.deepEqual(
    examples.filter((file) => !texts.includes(file)),
    [],
  );
});
