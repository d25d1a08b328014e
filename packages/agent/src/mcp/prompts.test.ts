import assert from "node:assert/strict";
import { test } from "node:test";
import { secretsIn } from "@parley/acp/redact";
import { HiddenSecrets } from "../text/hidden-secrets.ts";
import { promptArguments, promptCommand } from "./prompts.ts";
import { serverTools } from "./server-tools.ts";

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
  const secrets = new HiddenSecrets([
    ...secretsIn({ env: { ...env, DB: "postgres://me:s3cret@db/x" } }),
    ...Object.values({ Authorization: "Basic bWU6cGFzc3dvcmQx", "X-Key": "k-123456" }),
    ...secretsIn({ url: "https://example.org/mcp?token=abcdef" }),
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

test("a server's credentials of four characters and more are removed from its output", () => {
  const env = {
    DB_PASS: "rain",
    PIN: "4711",
    VALUE: "ab-12",
    OTHER: "hunter22",
    AWS_REGION: "eu-west-1",
    PLAIN: "visible",
  };
  const secrets = new HiddenSecrets([...secretsIn({ env }), ...Object.values({ "X-Team": "blue" })]);
  assert.equal(
    secrets.clean("rain 4711 ab-12 hunter22 blue eu-west-1 visible"),
    "*** *** *** *** *** eu-west-1 visible",
  );
});

test("names and descriptions of a server's prompts and tools have no control characters", async () => {
  const evil = "\u001b[2Ja\u001b]0;t\u0007\u202eb\u{e0041}";
  const command = promptCommand("s", {
    name: evil,
    description: `${evil}\nmore`,
    arguments: [{ name: evil }],
  });
  const [tool] = serverTools(
    "s",
    [{ name: evil, description: evil, inputSchema: { type: "object" } }],
    () => {
      throw new Error("not connected");
    },
  );
  const all = JSON.stringify([command, tool?.name, tool?.description]);
  assert.doesNotMatch(all, /\\u00|\p{Cc}/u);
  assert.match(command.description, /\nmore$/);
  assert.doesNotMatch(`${command.name}${tool?.name}`, /[\p{Cc}\p{Cf}]/u);
});

test("arguments of a tool have a limit, and so have the tools of a server", async () => {
  const listed = Array.from({ length: 50_000 }, (_, at) => ({
    name: `t${at}`,
    inputSchema: { type: "object" as const },
  }));
  const tools = serverTools("s", listed, () => {
    throw new Error("not connected");
  });
  assert.equal(tools.length, 500);
  const context = undefined as never; // it refuses before it looks
  await assert.rejects(
    async () => tools[0]?.prepare({ a: "x".repeat(9_000_000) }, context),
    /The arguments of s\/t0 have \d+ characters; at most \d+ are sent/,
  );
});
