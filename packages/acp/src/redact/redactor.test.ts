import assert from "node:assert/strict";
import { test } from "node:test";
import { type RedactorOptions, redactor as withOptions } from "@parley/acp/redact";

// Written in pieces: they are no secrets, but look like some, which is what scanners of repositories look for.
const openAi = ["sk", "proj", "Abc123Def456Ghi789Jkl012"].join("-");
const github = ["ghp", "AbcdefGhijkl0123456789mnopqrstuvwx"].join("_");
const webToken = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "c2lnbmF0dXJlLXNpZ25hdHVyZQ"].join(".");
const pem = ["-----BEGIN", "PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END", "PRIVATE KEY-----"].join(" ");

const redactor = (options: RedactorOptions = {}) =>
  withOptions({ homeFolder: "/srv/people/ann", ...options });

const message = (value: object) => JSON.stringify({ jsonrpc: "2.0", ...value });

function redacted(value: object, using = redactor()): unknown {
  return JSON.parse(using.line("client", message(value)));
}

test("values of secret keys are replaced, token counts are not", () => {
  const params = {
    env: [{ name: "LANG", value: "C.UTF-8" }],
    headers: { Authorization: "anything at all", Accept: "text/plain" },
    apiKey: "short",
    accessToken: "my secret words",
    password: ["one", { deep: "two" }],
    totalTokens: 12,
    usage: { inputTokens: 3 },
    tokenizer: "gpt",
  };
  assert.deepEqual(redacted({ method: "m", params }), {
    jsonrpc: "2.0",
    method: "m",
    params: {
      env: [{ name: "LANG", value: "[redacted]" }],
      headers: { Authorization: "[secret 1]", Accept: "[redacted]" },
      apiKey: "[redacted]",
      accessToken: "[secret 2]",
      password: ["[redacted]", { deep: "[redacted]" }],
      totalTokens: 12,
      usage: { inputTokens: 3 },
      tokenizer: "gpt",
    },
  });
});

test("text that looks like a secret is replaced everywhere", () => {
  const clean = redactor();
  for (const secret of [openAi, github, webToken, pem]) {
    const text = clean.text(`before ${secret} after`);
    assert.ok(!text.includes(secret), text);
    assert.match(text, /^before \[secret \d\] after$/);
  }
  assert.equal(clean.text("Authorization: Bearer abcdefgh.ijk"), "Authorization: Bearer [secret 5]");
  assert.equal(clean.text("DB_PASSWORD=hunter2hunter2"), "DB_PASSWORD=[secret 6]");
  assert.equal(
    clean.text("https://ann:pw@host/x?key=v&n=1"),
    "https://[redacted]@host/x?key=[redacted]&n=[redacted]",
  );
});

test("prose, paths, hashes, UUIDs and ids are not replaced", () => {
  const clean = redactor();
  for (const text of [
    "The quick brown fox jumps over the lazy dog, again and again and again.",
    "/home/me/project/packages/acp/src/jsonrpc/connection-options.test.ts",
    "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
    "123e4567-e89b-12d3-a456-426614174000",
    "stopReason: max_tokens",
  ]) {
    assert.equal(clean.text(text), text);
  }
  const call = { id: github, method: "session/prompt", params: { sessionId: github, toolCallId: github } };
  assert.deepEqual(redacted(call), { jsonrpc: "2.0", ...call });
});

test("a secret has the same mark everywhere, also in a text that does not look like one (TH25)", () => {
  const clean = redactor();
  clean.line("client", message({ id: 1, method: "m", params: { token: "correct horse battery" } }));
  assert.equal(clean.text("it said: correct horse battery!"), "it said: [secret 1]!");
  assert.equal(
    clean.text("correct%20horse%20battery, Y29ycmVjdCBob3JzZSBiYXR0ZXJ5"),
    "[secret 1], [secret 1]",
  );
  assert.equal(clean.distinct, 1);
});

test("arguments after an option that takes a secret are replaced", () => {
  assert.deepEqual(
    redactor().command([
      "npx",
      "agent",
      "--token",
      "abcdefghij",
      "-e",
      "LANG=C",
      "--api-key=xyz",
      "--model",
      "m",
    ]),
    [
      "npx",
      "agent",
      "--token",
      "[secret 1]",
      "-e",
      "LANG=[redacted]",
      "--api-key=[redacted]",
      "--model",
      "m",
    ],
  );
});

test("homes and the names of their users are replaced, as whole words", () => {
  const clean = redactor();
  assert.equal(clean.text("/srv/people/ann/a.ts"), "/home/user/a.ts");
  assert.equal(clean.text("/srv/people/anna"), "/srv/people/anna");
  assert.equal(
    clean.text(`/${"home"}/charlotte/x by charlotte, not charlottenburg`),
    "/home/user/x by user, not charlottenburg",
  );
});

test("logins and what people typed into forms are replaced as a whole", () => {
  const clean = redactor();
  assert.deepEqual(
    redacted({ id: 1, method: "authenticate", params: { methodId: "key", _meta: { pin: "1234" } } }, clean),
    {
      jsonrpc: "2.0",
      id: 1,
      method: "authenticate",
      params: { methodId: "key", _meta: { pin: "[redacted]" } },
    },
  );
  clean.line("agent", message({ id: 7, method: "elicitation/create", params: { message: "PIN?" } }));
  assert.deepEqual(redacted({ id: 7, result: { action: "accept", content: { pin: "0000" } } }, clean), {
    jsonrpc: "2.0",
    id: 7,
    result: { action: "accept", content: { pin: "[redacted]" } },
  });
});

for (const [where, params] of Object.entries({
  "as a dialect writes them": { methodId: "k", credentials: { user: "charlotte7", pin: 12345678 } },
  "in the shape of version 1": {
    methodId: "k",
    _meta: { "_parley.dev/credentials": { user: "charlotte7" } },
  },
})) {
  test(`the credentials of a login are secret, here and in all that follows: ${where}`, () => {
    const clean = redactor();
    const login = clean.line("client", message({ id: 1, method: "authenticate", params }));
    assert.doesNotMatch(login, /charlotte7|12345678/);
    assert.equal(clean.text("hello charlotte7"), "hello [secret 1]");
  });
}

test("C39 numbers typed into forms are replaced, counts are not", () => {
  const clean = redactor();
  clean.line("agent", message({ id: 7, method: "elicitation/create", params: { message: "PIN?" } }));
  assert.deepEqual(
    redacted({ id: 7, result: { action: "accept", content: { pin: 1234, agree: true } } }, clean),
    {
      jsonrpc: "2.0",
      id: 7,
      result: { action: "accept", content: { pin: 0, agree: false } },
    },
  );
  const params = { password: 1234, tokens: { input: 5 } };
  assert.deepEqual(redacted({ method: "m", params }, clean), {
    jsonrpc: "2.0",
    method: "m",
    params: { password: 0, tokens: { input: 5 } },
  });
});

test("a secret in several chunks is replaced in all of them", () => {
  const clean = redactor({ secrets: ["correct horse battery"] });
  const chunk = (text: string) => ({
    kind: "update",
    update: { sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text } },
  });
  const pieces = [
    "it is c",
    "orrect ",
    "horse",
    " batt",
    "ery, as you know, and ",
    openAi.slice(0, 9),
    openAi.slice(9),
  ];
  const pass = () => {
    clean.again();
    return pieces.map((piece) => JSON.stringify(clean.value(chunk(piece))));
  };
  pass();
  pass();
  assert.deepEqual(
    pass(),
    ["it is [secret 1]", "", "", "", ", as you know, and ", "[secret 2]", ""].map((text) =>
      JSON.stringify(chunk(text)),
    ),
  );
});

test("contents are hidden when asked for, with their lengths and lines", () => {
  const params = { sessionId: "s", prompt: [{ type: "text", text: "tell me\na secret" }] };
  const hidden = redacted({ method: "session/prompt", params }, redactor({ contents: true }));
  assert.deepEqual(hidden, {
    jsonrpc: "2.0",
    method: "session/prompt",
    params: { sessionId: "s", prompt: [{ type: "text", text: "xxxx xx\nx xxxxxx" }] },
  });
});

test("a message without secrets stays as it was written", () => {
  const text = '{ "jsonrpc":"2.0" , "method":"x"}';
  assert.equal(redactor().line("agent", text), text);
  assert.equal(redactor().line("agent", "not JSON"), "not JSON");
});

test("texts that are hard for patterns are redacted quickly", () => {
  const started = performance.now();
  for (const piece of [
    "a-",
    "a.",
    "sk_",
    "=",
    "TOKEN",
    "Ab1/",
    "?a=",
    "-----BEGIN ",
    " -H a:",
    " --token",
    " -e A=",
    "cookie: a=",
  ]) {
    redactor().text(piece.repeat(100_000 / piece.length));
  }
  // what grows with the square of the length takes longer by far
  assert.ok(performance.now() - started < 10_000);
});

// Of each place alone: where the same secret stands in many, one that is overlooked is found by the others.
const word = "birch-lake-7";
const base64 = btoa(`it is ${word}`);
const update = (fields: object): object => ({
  method: "session/update",
  params: { sessionId: "s", update: fields },
});
const places: Readonly<Record<string, object>> = {
  "a variable of an MCP server": { method: "m", params: { env: [{ name: "SETTING", value: word }] } },
  "a variable in an object": { method: "m", params: { env: { SETTING: word } } },
  "a header of an MCP server": { method: "m", params: { headers: [{ name: "X-Tenant", value: word }] } },
  "a header in an object": { method: "m", params: { headers: { "X-Tenant": word } } },
  "a cookie, deep inside": { method: "m", params: { deep: [{ "Set-Cookie": word }] } },
  "a login of version 1": { id: 1, method: "authenticate", params: { methodId: "k", _meta: { a: word } } },
  "a login of version 2": { id: 1, method: "auth/login", params: { methodId: "k", answer: word } },
  "an argument after its option": { method: "m", params: { command: "x", args: ["--token", word] } },
  "a variable among arguments": { method: "m", params: { command: "x", args: ["-e", `SETTING=${word}`] } },
  "a header among arguments": { method: "m", params: { command: "x", args: ["--header", `X-Y: ${word}`] } },
  "the user of an address": { method: "m", params: { url: `https://ann:${word}@host/path` } },
  "the query of an address": { method: "m", params: { url: `https://host/path?one=${word}&two=2` } },
};

for (const [place, said] of Object.entries(places)) {
  test(`a secret is known by its place alone: ${place}`, () => {
    assert.ok(!JSON.stringify(redacted(said)).includes(word));
  });
}

test("a secret is recognised by its position alone: a form that a person filled in", () => {
  const clean = redactor();
  clean.line("agent", message({ id: 7, method: "elicitation/create", params: { message: "Which?" } }));
  const answer = message({ id: 7, result: { action: "accept", content: { which: word } } });
  assert.ok(!clean.line("client", answer).includes(word));
});

for (const [what, fields] of Object.entries({
  "a piece of it": { sessionUpdate: "terminal_output_chunk", terminalId: "t", data: base64 },
  "all of it": { sessionUpdate: "terminal_update", terminalId: "t", output: { data: base64 } },
})) {
  test(`known secrets are removed from terminal output: ${what}`, () => {
    const { params } = redacted(update(fields), redactor({ secrets: [word] })) as {
      params: { update: { data?: string; output?: { data: string } } };
    };
    const { data, output } = params.update;
    assert.equal(atob(data ?? output?.data ?? ""), "it is [secret 1]");
  });
}
