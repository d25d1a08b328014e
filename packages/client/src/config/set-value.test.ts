import assert from "node:assert/strict";
import { test } from "node:test";
import { setConfigValue } from "@parley/client/config";

const file = `// mine
{
  "agent": {
    // which one
    "model": "offline", /* for now */
    "mode": "ask"
  },
  "agents": {},
}
`;

test("a value is replaced where it stands, and nothing else changes", () => {
  assert.equal(setConfigValue(file, ["agent", "model"], "work/big"), file.replace('"offline"', '"work/big"'));
});

test("a value that is not there is put behind the last one of its section", () => {
  assert.equal(
    setConfigValue(file, ["agent", "effort"], "high"),
    file.replace('"mode": "ask"\n', '"mode": "ask",\n    "effort": "high"\n'),
  );
  assert.equal(
    setConfigValue(file, ["client", "agent"], "claude"),
    file.replace('"agents": {},\n', '"agents": {},\n  "client": {\n    "agent": "claude"\n  }\n'),
  );
});

test("an empty section takes its first value", () => {
  const text = setConfigValue(file, ["agents", "mine", "command"], "/opt/agent");
  assert.equal(
    text,
    file.replace('"agents": {}', '"agents": {\n    "mine": {\n      "command": "/opt/agent"\n    }\n  }'),
  );
  assert.equal(setConfigValue('{"a":{"b":1}}', ["a", "c"], 2), '{"a":{"b":1, "c": 2}}');
  assert.equal(setConfigValue("{ // nothing yet\n}", ["a"], 1), '{ // nothing yet\n  "a": 1\n}');
});

test("a file that is not there, or empty, is begun", () => {
  assert.equal(
    setConfigValue("", ["agent", "mode"], "code"),
    '{\n  "agent": {\n    "mode": "code"\n  }\n}\n',
  );
});

test("what stands where a section is wanted is replaced", () => {
  assert.equal(
    setConfigValue('{"agent": 1}', ["agent", "mode"], "code"),
    '{"agent": {\n    "mode": "code"\n  }}',
  );
});

test("a value is taken away with its comma, and one that is not there changes nothing", () => {
  const without = file.replace('"offline", /*', '"offline" /*').replace('    "mode": "ask"\n', "");
  assert.equal(setConfigValue(file, ["agent", "mode"], undefined), without);
  assert.equal(setConfigValue(file, ["agent", "effort"], undefined), file);
  assert.equal(setConfigValue(file, ["client"], undefined), file);
  const line = '{"a": 1, "b": 2, "c": 3}';
  assert.equal(setConfigValue(line, ["a"], undefined), '{ "b": 2, "c": 3}');
  assert.equal(setConfigValue(line, ["b"], undefined), '{"a": 1, "c": 3}');
  assert.equal(setConfigValue(line, ["c"], undefined), '{"a": 1, "b": 2}');
  const commented = '{\n  "a": 1, // one, or two,\n  "b": 2\n}\n';
  assert.equal(setConfigValue(commented, ["b"], undefined), '{\n  "a": 1 // one, or two,\n}\n');
});
