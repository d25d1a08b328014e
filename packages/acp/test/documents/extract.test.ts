// The committed examples of the documents are complete and counted.

import assert from "node:assert/strict";
import { test } from "node:test";
import { documents, quoted } from "./documents.ts";
import { differences, examplesIn } from "./extract.ts";

const markdown = `# One

\`\`\`json
// first
{
  "a": 1
}

// second
{
  "b": 2
}
\`\`\`

## Two

\`\`\`json
{
  "content": ContentBlock
}
\`\`\`

\`\`\`python
# not a heading
\`\`\`

\`\`\`text
{"jsonrpc":"2.0","method":"m"}
not a message
\`\`\`
`;

test("finds every example of a document, with its section and its line", () => {
  assert.deepEqual(examplesIn(markdown), {
    sections: [
      { title: "One", line: 1 },
      { title: "Two", line: 15 },
    ],
    examples: [
      { section: "One", line: 5, value: { a: 1 } },
      { section: "One", line: 10, value: { b: 2 } },
      { section: "Two", line: 18, text: '{\n  "content": ContentBlock\n}' },
      { section: "Two", line: 28, value: { jsonrpc: "2.0", method: "m" } },
    ],
  });
});

test("says what differs between a document and what is committed of it", () => {
  const example = { section: "One", line: 5, from: "client", kind: "request", method: "m" } as const;
  const document = {
    title: "T",
    edition: "v1",
    counts: { sections: 2, json: 3, almostJson: 0, inProgramText: 0 },
    sections: examplesIn(markdown).sections,
    examples: [
      { ...example, message: { a: 2 } },
      { ...example, line: 10, message: { params: { b: 2, c: 3 } }, at: "/params", added: ["c"] },
    ],
  } as const;
  assert.deepEqual(differences(document, markdown), [
    "line 5: the example differs",
    "line 18: the example is missing",
    "line 28: the example is missing",
    "the document has 3 examples, and 1 that are almost JSON",
  ]);
});

for (const [name, { counts, sections, examples }] of documents) {
  test(`${name}: the sections and examples are as many as were counted in the document`, () => {
    const almost = examples.filter((each) => each.completed !== undefined);
    const json = examples.length - almost.length;
    assert.deepEqual(
      { sections: sections.length, json, completed: almost.length },
      { sections: counts.sections, json: counts.json, completed: counts.almostJson + counts.inProgramText },
    );
    const titles = new Set(sections.map(({ title }) => title));
    for (const example of examples) {
      assert.ok(titles.has(example.section), `line ${example.line}: no section ${example.section}`);
      assert.notEqual(quoted(example), undefined, `line ${example.line}: nothing at ${example.at}`);
    }
  });
}
