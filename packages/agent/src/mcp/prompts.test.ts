import assert from "node:assert/strict";
import { test } from "node:test";
import { promptArguments } from "./prompts.ts";
import { Secrets, secretsOfEnvironment, secretsOfHeaders, secretsOfUrl } from "./server-entry.ts";

const prompt = {
  name: "weather",
  arguments: [{ name: "city", required: true }, { name: "day" }, { name: "words" }],
};

test("prompt arguments are given by position, by name or in quotes; the last one takes the rest", () => {
  assert.deepEqual(promptArguments(prompt, "Paris"), { city: "Paris" });
  assert.deepEqual(promptArguments(prompt, '"New York" today in few words'), {
    city: "New York",
    day: "today",
    words: "in few words",
  });
  assert.deepEqual(promptArguments(prompt, "day=today Paris"), { city: "Paris", day: "today" });
  assert.deepEqual(promptArguments(prompt, "a=b"), { city: "a=b" });
  assert.throws(() => promptArguments(prompt, ""), /weather needs city/);
  assert.deepEqual(promptArguments({ name: "plain" }, "whatever"), {});
});

test("a server's secrets are removed from its output; paths and plain words stay", () => {
  const env = {
    GITHUB_TOKEN: "ghp_abc",
    ROOT: "/home/me/project",
    MODE: "development",
    ID: "a1b2c3d4e5f6a7b8c9",
  };
  const secrets = new Secrets([
    ...secretsOfEnvironment({ ...env, DB: "postgres://me:s3cret@db/x" }),
    ...secretsOfHeaders({ Authorization: "Basic bWU6cGFzc3dvcmQx", "X-Key": "k-123456" }),
    ...secretsOfUrl("https://example.org/mcp?token=abcdef"),
  ]);
  const said = [
    "ghp_abc /home/me/project development a1b2c3d4e5f6a7b8c9",
    { text: "s3cret password1 k-123456 bWU6cGFzc3dvcmQx abcdef", n: 1, nothing: null },
  ];
  assert.deepEqual(secrets.clean(said), [
    "*** /home/me/project development ***",
    { text: "*** *** *** *** ***", n: 1, nothing: null },
  ]);
});
