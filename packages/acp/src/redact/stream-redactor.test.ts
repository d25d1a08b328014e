import assert from "node:assert/strict";
import { test } from "node:test";
import { redactor, secretsIn, streamRedactor } from "@parley/acp/redact";

const secret = "birch-lake-7";

interface Chunk {
  readonly kind: string;
  readonly update: {
    readonly sessionUpdate: string;
    readonly messageId?: string;
    readonly terminalId?: string;
    readonly content?: { readonly type: string; readonly text: string };
    readonly data?: string;
    readonly title?: string;
  };
}

const said = (text: string, messageId = "m"): Chunk => ({
  kind: "update",
  update: { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } },
});
const textOf = ({ update }: Chunk) =>
  update.content?.text ?? (update.data ? atob(update.data) : update.title);

function told(chunks: readonly Chunk[]): (string | undefined)[] {
  const redactor = streamRedactor<Chunk>([secret]);
  return [...chunks.flatMap((chunk) => redactor.next(chunk)), ...redactor.end()].map(textOf);
}

test("a secret in pieces is never shown, however it is cut", () => {
  const whole = `it is ${secret}, as you know`;
  for (let size = 1; size <= whole.length; size++) {
    const pieces = whole.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
    assert.equal(told(pieces.map((piece) => said(piece))).join(""), "it is [secret 1], as you know");
  }
});

test("text that only begins like a secret is released with the text after it, in its own message", () => {
  const title: Chunk = { kind: "update", update: { sessionUpdate: "tool_call_update", title: "next" } };
  assert.deepEqual(told([said("a birch-"), said("tree"), said("by the bir"), title, said("ch")]), [
    "a ",
    "birch-tree",
    "by the ",
    "bir",
    "next",
    "ch",
  ]);
  assert.deepEqual(told([said("birch-", "one"), said("lake-7", "two")]), ["birch-", "lake-7"]);
});

test("terminal output is searched across chunks, every other text as a whole", () => {
  const printed = (text: string): Chunk => ({
    kind: "update",
    update: { sessionUpdate: "terminal_output_chunk", terminalId: "t", data: btoa(text) },
  });
  assert.deepEqual(told([printed("key=birch-l"), printed("ake-7\n")]), ["key=", "[secret 1]\n"]);
  const redactor = streamRedactor([secret]);
  const output = { data: btoa(`is ${secret}`) };
  assert.deepEqual(
    redactor.value({ sessionUpdate: "terminal_update", output, rawInput: { [secret]: [`x ${secret}`] } }),
    {
      sessionUpdate: "terminal_update",
      output: { data: btoa("is [secret 1]") },
      rawInput: { "[secret 1]": ["x [secret 1]"] },
    },
  );
});

test("without secrets everything is passed on as it is", () => {
  const chunk = said("anything");
  assert.deepEqual(streamRedactor<Chunk>([]).next(chunk), [chunk]);
});

test("secrets in a value are found by their position", () => {
  const config = {
    env: { LOGIN: "open-sesame-1", LEVEL: "verbosely" },
    headers: { Authorization: "Bearer wren-nest-2" },
    apiKey: "correcthorsebattery",
    args: ["--token", "hazel-copse-3", "--fast"],
    urls: ["https://ann:drowssapdrowssap@host/x", "wss://host/?token=letmeinplease"],
    short: { env: { PIN: "1234" } },
  };
  assert.deepEqual(secretsIn(config).sort(), [
    "1234",
    "Bearer wren-nest-2",
    "correcthorsebattery",
    "drowssapdrowssap",
    "hazel-copse-3",
    "letmeinplease",
    "open-sesame-1",
  ]);
});

test("short credentials of variables and headers are hidden as words, in values and in streams", () => {
  const config = {
    env: { DB_PASSWORD: "rain", CODE: "ab-12" },
    headers: [{ name: "X-Api-Key", value: "k7" }],
  };
  assert.deepEqual(secretsIn(config).sort(), ["ab-12", "rain"]);
  const redactor = streamRedactor<Chunk>(secretsIn(config));
  assert.equal(redactor.text("rain, train and (ab-12)"), "[secret 2], train and ([secret 1])");
  const pieces = [..."it is ra", "in."].flatMap((piece) => redactor.next(said(piece)));
  const whole = [...pieces, ...redactor.end()].map(textOf).join("");
  assert.equal(whole, "it is [secret 2].");
});

test("a model or a region that was set is hidden where it is set, and is no secret elsewhere", () => {
  const env = {
    ANTHROPIC_MODEL: "claude-sonnet-4-5",
    AWS_REGION: "eu-central-1",
    GOFLAGS: "x-y-z-1-2",
    MY_KEY: "wren-nest-2",
  };
  assert.deepEqual(secretsIn({ env }).sort(), ["wren-nest-2", "x-y-z-1-2"]);
  assert.deepEqual(secretsIn({ env: [{ name: "OPENAI_MODEL", value: "gpt-5.1-codex" }] }), []);
});

test("the credentials of a header are also found without their scheme", () => {
  const basic = btoa("ann:open-sesame-1");
  const redactor = streamRedactor(["Bearer wren-nest-2", `Basic ${basic}`]);
  assert.equal(redactor.text("it is open-sesame-1"), "it is [secret 1]");
  assert.equal(redactor.text("wren-nest-2, or so"), "[secret 2], or so");
});

test("an address whose password is wrongly escaped is searched like any other", () => {
  assert.deepEqual(secretsIn({ urls: ["postgres://ann:50%off-sale@host/db"] }), ["50%off-sale"]);
});

test("a secret is found wherever it is cut, even one of tens of thousands of characters", () => {
  // a table of all its beginnings would need its length squared
  const long = Array.from({ length: 40_000 }, (_, at) => (at * at * 7919).toString(36))
    .join("+")
    .slice(0, 60_000);
  for (const given of ["🙂🙂wren-nest🙂", long]) {
    for (const cut of [1, 2, 5, given.length - 2, given.length - 1]) {
      const redactor = streamRedactor<Chunk>([given]);
      const chunks = [said(`it is ${given.slice(0, cut)}`), said(`${given.slice(cut)}, or so`)];
      const all = [...chunks.flatMap((chunk) => redactor.next(chunk)), ...redactor.end()];
      assert.equal(all.map(textOf).join(""), "it is [secret 1], or so");
    }
  }
});

test("a secret that is no well-formed text is looked for as well", () => {
  assert.equal(streamRedactor(["\ud800wren-nest"]).text("is \ud800wren-nest"), "is [secret 1]");
});

test("one text instead of a list of secrets is refused: none of its characters is a secret", () => {
  const wrong = /expected a list of secrets, got one text$/;
  assert.throws(() => streamRedactor("hunter2-hunter2"), wrong);
  assert.throws(() => redactor({ secrets: "hunter2-hunter2" }), wrong);
});

test("every secret is replaced by the mark that was asked for, in a stream and in one text", () => {
  const secrets = ["wren-nest-2", "4711"];
  const marked = streamRedactor<Chunk>(secrets, { mark: "***" });
  assert.equal(marked.text("wren-nest-2, 4711 and 14711"), "***, *** and 14711");
  const clean = redactor({ secrets, mark: "***", names: false });
  const said = "4711 with Bearer abcdefghijkl at https://me:hunter22@host/?key=abcdef then --token ***";
  assert.equal(clean.text(said), "*** with Bearer *** at https://***@host/?key=*** then --token ***");
});

test("a number is a secret where its name says so, and a count of tokens is none", () => {
  const env = { PIN: "4711", MAX_TOKENS: "4096", PORT: "8080", DB_HOST: "db-1.example", DB_PASS: "rain" };
  assert.deepEqual(secretsIn({ env }).sort(), ["4711", "rain"]);
});

test("a key that a provider repeats with its middle masked is replaced as a whole", () => {
  const clean = redactor({ mark: "***" });
  assert.equal(clean.text("wrong key sk-test-*****cdef, or AIzaSy***xyz"), "wrong key ***, or ***");
});

test("a header of any scheme is also found without it", () => {
  assert.equal(streamRedactor(["ApiKey wren-nest-2"]).text("wren-nest-2"), "[secret 1]");
});
