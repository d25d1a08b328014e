import assert from "node:assert/strict";
import { test } from "node:test";
import { type Probe, probe, refusal } from "../../../test/support/tool-probe.ts";
import { editTool } from "./edit.ts";

let count = 0;

/** Edits a file of its own. */
async function edited(
  { put, get, call }: Probe,
  file: string,
  oldText: string,
  newText: string,
): Promise<{ readonly text: string; readonly told: string }> {
  count += 1;
  const path = `file-${count}`;
  put(path, file);
  const { told } = await call(editTool, { path, edits: [{ oldText, newText }] });
  return { text: get(path), told };
}

test("spaces for the tabs of a file are found, and the new lines get tabs, also deeper ones", async (t) => {
  const file = "class A {\n\trun() {\n\t\tgo();\n\t}\n}\n";
  const { text, told } = await edited(
    await probe(t),
    file,
    "  run() {\n    go();\n  }\n",
    "  run() {\n    if (x) {\n      go();\n    }\n\n    stop();\n  }\n",
  );
  assert.equal(text, "class A {\n\trun() {\n\t\tif (x) {\n\t\t\tgo();\n\t\t}\n\n\t\tstop();\n\t}\n}\n");
  assert.match(
    told,
    /\(1 matched except for the indentation, and got that of the file\)\n1:class A \{\n2:\trun\(\) \{/,
  );
});

test("tabs for the spaces of a file, and two spaces for its four", async (t) => {
  const tools = await probe(t);
  const file = "def f():\n    if x:\n        go()\n";
  const wanted = "def f():\n    if x:\n        while y:\n            go()\n";
  const tabs = await edited(tools, file, "\tif x:\n\t\tgo()", "\tif x:\n\t\twhile y:\n\t\t\tgo()");
  assert.equal(tabs.text, wanted);
  const two = await edited(tools, file, "  if x:\n    go()", "  if x:\n    while y:\n      go()");
  assert.equal(two.text, wanted);
  const one = await edited(tools, file, "\t\tgo()\n", "\t\twhile y:\n\t\t\tgo()\n");
  assert.equal(one.text, wanted);
  const flat = await edited(tools, file, "          go()\n", "          while y:\n            go()\n");
  assert.equal(flat.text, wanted);
});

test("a block that is shifted to the left or right is put where the file has it", async (t) => {
  const tools = await probe(t);
  const file = "a {\n    b {\n      c\n    }\n}\n";
  const left = await edited(tools, file, "b {\n  c\n}\n", "b {\n  c\n  d {\n     e\n  }\n}\n");
  assert.equal(left.text, "a {\n    b {\n      c\n      d {\n         e\n      }\n    }\n}\n");
  const right = await edited(tools, file, "        b {\n          c\n", "    x\n        b {\n          d\n");
  assert.equal(right.text, "a {\nx\n    b {\n      d\n    }\n}\n");
});

test("line ends and a byte order mark stay what they are where a block is indented anew", async (t) => {
  const { text } = await edited(
    await probe(t),
    "\ufeffif x:\r\n\tgo()\r\n\tstop()\r\nend\n",
    "    go()\n    stop()\n",
    "    go()\n\n    wait()\n",
  );
  assert.equal(text, "\ufeffif x:\r\n\tgo()\r\n\r\n\twait()\r\nend\n");
});

test("an exact match is preferred to one with another indentation", async (t) => {
  const { text } = await edited(await probe(t), "\tgo();\n  go();\n", "  go();\n", "  stop();\n");
  assert.equal(text, "\tgo();\n  stop();\n");
});

test("several places with another indentation are an error with their lines", async (t) => {
  const { put, call, get } = await probe(t);
  put("a", "\tgo();\nx\n\t\tgo();\n");
  for (const replaceAll of [false, true]) {
    const edits = [{ oldText: "    go();\n", newText: "    stop();\n", replaceAll }];
    assert.equal(
      await refusal(call(editTool, { path: "a", edits })),
      "oldText is not in a with this indentation, but 2 times with another, in lines 1, 3; copy the text exactly from the file",
    );
  }
  assert.equal(get("a"), "\tgo();\nx\n\t\tgo();\n");
});

test("lines whose nesting is lost are not guessed at", async (t) => {
  const { put, call } = await probe(t);
  put("a.py", "if x:\n    go()\nstop()\n");
  const edits = [{ oldText: " if x:\n go()\n stop()", newText: " if y:\n go()\n stop()" }];
  assert.match(
    await refusal(call(editTool, { path: "a.py", edits })),
    /^oldText is not in a\.py\. The closest match/,
  );
});

test("the result is shown with its lines, the middle of a long text left out", async (t) => {
  const { put, call } = await probe(t);
  put("a", Array.from({ length: 30 }, (_, i) => `${i + 1}\n`).join(""));
  const long = Array.from({ length: 20 }, (_, i) => `new ${i + 1}\n`).join("");
  const edits = [
    { oldText: "5\n6\n", newText: "" },
    { oldText: "11\n", newText: long },
  ].map(({ oldText, ...edit }) => ({ ...edit, oldText: `\n${oldText}`, newText: `\n${edit.newText}` }));
  const { told } = await call(editTool, { path: "a", edits });
  const [, ...lines] = told.split("\n");
  const ends = [
    ...["2:2", "3:3", "4:4", "5:7", "6:8", "7:9", "8:10", "9:new 1", "10:new 2", "11:new 3"],
    ...["--", "25:new 17", "26:new 18", "27:new 19", "28:new 20", "29:12", "30:13"],
  ];
  assert.deepEqual(lines, ends);
});
