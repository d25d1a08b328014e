import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { anthropicError, anthropicEvents } from "../../test/fake-provider/anthropic-wire.ts";
import { ask, askInVain, modelAt, withFake } from "../../test/fake-provider/asking.ts";
import { failed, streamed } from "../../test/fake-provider/fake-provider.ts";
import { chooseModel, configuredModels } from "../providers/choose-model.ts";
import { type Model, ModelError, type ModelEvent, type ModelMessage } from "./model.ts";
import { recordingModel, replayModel } from "./recording.ts";

const facts = {
  id: "test/one",
  name: "One",
  contextWindow: 1000,
  takesImages: true,
  takesAudio: false,
};

function scripted(...answers: readonly (readonly (ModelEvent | ModelError)[])[]): Model {
  let count = 0;
  return {
    facts,
    async *stream() {
      for (const event of answers[count++] ?? []) {
        if (event instanceof ModelError) throw event;
        yield event;
      }
    },
  };
}

function saying(text: string): ModelEvent[] {
  return [
    { type: "thinking", text: "Hm", signature: "S" },
    { type: "text", text },
    { type: "tool_call", id: "c", name: "read", input: { path: `/tmp/run-1/${text}` } },
    { type: "end", cause: "tool_calls", usage: { input: 1, output: 2 } },
  ];
}

const said = (text: string): ModelMessage[] => [{ role: "user", content: [{ type: "text", text }] }];

async function recordingOf(model: Model, ...prompts: readonly string[]): Promise<string> {
  let file = "";
  const recording = recordingModel(model, (line) => {
    file += line;
  });
  for (const prompt of prompts) await ask(recording, { messages: said(prompt) }).catch(() => undefined);
  return file;
}

test("a session is replayed as it was, failures included", async () => {
  const failure = new ModelError("rate_limit", "Too fast.", { retryAfterMs: 20_000 });
  const text = { type: "text", text: "Hel" } as const;
  const file = await recordingOf(scripted(saying("a"), [text, failure]), "in /tmp/run-1", "more");
  const replay = replayModel(file);
  assert.deepEqual(replay.facts, facts);
  const events = await ask(replay, { messages: said("in /tmp/run-1") });
  assert.deepEqual(events[2], { type: "tool_call", id: "c", name: "read", input: { path: "/tmp/run-1/a" } });
  assert.deepEqual(events.at(-1), saying("a").at(-1));
  const second = await askInVain(replay, { messages: said("more") });
  assert.deepEqual(second.events, [text]);
  assert.equal(second.error.kind, "rate_limit");
  assert.equal(second.error.retryAfterMs, 20_000);
});

test("the file is lines of JSON with a version, and has neither keys nor signals", async () => {
  const file = await recordingOf(scripted(saying("a")), "x");
  const lines = file
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(lines[0], { parley: "model-recording", version: 1, facts });
  assert.deepEqual(Object.keys(lines[1].request), ["system", "messages", "tools", "effort"]);
  assert.deepEqual(
    lines.slice(1).map(({ type, n }) => `${type} ${n}`),
    ["request 1", "event 1", "event 1", "event 1", "event 1"],
  );
});

test("the first difference is named, with both sides", async () => {
  const file = await recordingOf(scripted(saying("a"), saying("b")), "x", "y");
  const differing = await askInVain(replayModel(file), { messages: said("z") });
  assert.equal(differing.error.kind, "bad_request");
  assert.match(
    differing.error.message,
    /at request 1, messages\[0\]\.content\[0\]\.text is "z" and the recording has "x"\. Record it again/,
  );
  const longer = await askInVain(replayModel(file), { messages: [...said("x"), ...said("y")] });
  assert.match(longer.error.message, /messages\[1\] is \{"role":"user".* and the recording has absent/);
  const long = "a".repeat(500);
  const inside = await recordingOf(scripted(saying("a")), `${long}b${long}`);
  const shown = (await askInVain(replayModel(inside), { messages: said(`${long}c${long}`) })).error.message;
  assert.match(shown, /is …a{30}ca+… and the recording has …a{30}ba+…/);
});

test("a request beyond the recording and an incomplete recording are reported", async () => {
  const file = await recordingOf(scripted(saying("a")), "x");
  const replay = replayModel(file);
  await ask(replay, { messages: said("x") });
  assert.match((await askInVain(replay)).error.message, /at request 2, the recording has only 1 requests/);
  const broken = file.trimEnd().split("\n").slice(0, -1).join("\n");
  const { error, events } = await askInVain(replayModel(broken), { messages: said("x") });
  assert.equal(error.kind, "cut_off");
  assert.equal(events.length, 3);
});

test("a file that is not a recording or has another version is refused at once", () => {
  assert.throws(() => replayModel(""), { kind: "bad_request", message: /line 1 is not JSON/ });
  assert.throws(() => replayModel('{"parley":"trace","version":1}'), { message: /first line should be/ });
  assert.throws(() => replayModel('{"parley":"model-recording","version":2}'), {
    message: /has version 2, expected 1/,
  });
});

test("a replay can be aborted", async () => {
  const replay = replayModel(await recordingOf(scripted(saying("a")), "x"));
  const { error } = await askInVain(replay, { messages: said("x"), signal: AbortSignal.abort() });
  assert.equal(error.kind, "aborted");
});

test("a recording of a provider replays without it", async () => {
  const good = streamed(anthropicEvents({ blocks: [{ type: "text", pieces: ["Hel", "lo"] }] }));
  const refused = failed(401, anthropicError("authentication_error", "invalid x-api-key"));
  let file = "";
  await withFake([good, refused], async (fake) => {
    const model = recordingModel(modelAt(fake.url, "anthropic/claude-sonnet-5-5"), (line) => {
      file += line;
    });
    const events = await ask(model);
    const { error } = await askInVain(model);
    const replay = replayModel(file);
    assert.deepEqual(await ask(replay), events);
    assert.equal((await askInVain(replay)).error.message, error.message);
  });
  assert.ok(!file.includes("sk-test"));
});

test("PARLEY_RECORD makes a file that nobody else can read, and replay/FILE is its model", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-recording-"));
  const file = join(folder, "session.ndjson");
  const answers = ["one", "two"].map((text) =>
    streamed(anthropicEvents({ blocks: [{ type: "text", pieces: [text] }] })),
  );
  try {
    await withFake(answers, async (fake) => {
      const env = { ANTHROPIC_API_KEY: "secret-key", ANTHROPIC_BASE_URL: fake.url, PARLEY_RECORD: file };
      for (const _ of answers) {
        // All models that could be chosen are there, and only the one that is asked has a file.
        const { models } = configuredModels({}, env);
        await ask(models[0]!);
      }
      assert.deepEqual(readdirSync(folder).sort(), ["session.ndjson", "session.ndjson.2"]);
    });
    // The second session does not touch the recording of the first.
    for (const [path, text] of [
      [file, "one"],
      [`${file}.2`, "two"],
    ] as const) {
      assert.equal(statSync(path).mode & 0o777, 0o600);
      assert.ok(!readFileSync(path, "utf8").includes("secret-key"));
      const events = await ask(chooseModel({ model: `replay/${path}` }, {})!);
      assert.deepEqual(events[0], { type: "text", text });
    }
    assert.throws(() => chooseModel({}, { PARLEY_MODEL: `replay/${folder}/none` }), {
      message: /The recording .*none cannot be read \(ENOENT\)/,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
