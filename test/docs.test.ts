// The documentation says what is there: links that lead somewhere, code that is the code of the examples.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { agent } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { read, repositoryFiles, root } from "./source-files.ts";

const pages = repositoryFiles().filter((file) =>
  /^(?:README|ARCHITECTURE|AGENTS|packages\/[^/]+\/README|docs\/(?:api\/)?[^/]+)\.md$/.test(file),
);

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

test("docs/serve.md shows code of examples/browser.html", () => {
  const [, shown = ""] = /^```js\n([\s\S]*?)^```$/m.exec(read("docs/serve.md")) ?? [];
  assert.ok(shown.split("\n").length > 5);
  // the script of a page is indented
  const code = read("examples/browser.html").replaceAll(/^ {2}/gm, "");
  assert.ok(code.includes(shown), "the block is not in the example");
});

test("every example is named by a page", () => {
  const texts = pages.map(read).join("\n");
  const examples = repositoryFiles().filter((file) => /^examples\/[^/]+\.(?:ts|html)$/.test(file));
  assert.deepEqual(
    examples.filter((file) => !texts.includes(file)),
    [],
  );
});

test("docs/editions.md quotes the sentence for a dialect that is not enabled", async () => {
  const [near, far] = memoryPair();
  agent({ name: "plain", version: "1", prompt: () => undefined }).connect(far);
  const answered = Promise.withResolvers<unknown>();
  const nothing = () => undefined;
  near.start({ message: answered.resolve, idle: nothing, reject: nothing, drain: nothing, end: nothing });
  near.send({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: 1, capabilities: {} },
  });
  const { error } = (await answered.promise) as { error: { message: string } };
  assert.ok(read("docs/editions.md").includes(error.message), error.message);
  await near.close();
});
