// The handshake from the cache: the same answer as without it, given once, and never an old one.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

const launcher = join(import.meta.dirname, "../../bin/parley");
const patience = { timeout: 120_000 };

type Message = Record<string, unknown> & { readonly id?: number };

const initialize = (id: number, version = 1) => ({
  id,
  method: "initialize",
  params:
    version === 1
      ? { protocolVersion: 1, clientCapabilities: {} }
      : { protocolVersion: 2, info: { name: "test", version: "1" }, capabilities: {} },
});

function resultOf([first]: readonly Message[]): { authMethods?: unknown[]; protocolVersion?: number } {
  return (first?.["result"] ?? {}) as { authMethods?: unknown[]; protocolVersion?: number };
}

function home(t: TestContext) {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "parley-greeting-test-")));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  const cache = join(path, "cache/handshake.json");
  /** Sends all at once, ends the input when every request has its answer, and gives what came. */
  async function talk(messages: readonly Message[], env: Record<string, string> = {}): Promise<Message[]> {
    const own = { ...process.env, PARLEY_HOME: path, PARLEY_MODEL: "offline", ...env };
    const child = spawn(launcher, ["agent"], { env: own, cwd: path, stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.write(
      messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""),
    );
    const open = new Set(messages.map(({ id }) => id));
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      for (const line of text.split("\n").slice(0, -1)) open.delete((JSON.parse(line) as Message).id);
      if (open.size === 0) child.stdin.end();
    });
    const code = await new Promise((resolve) => child.once("close", resolve));
    assert.equal(code, 0);
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Message);
  }
  return { path, cache, talk };
}

for (const version of [1, 2]) {
  test(`a second start gives the same answer, once, and goes on (v${version})`, patience, async (t) => {
    const { talk, path, cache } = home(t);
    const asked = [
      initialize(7, version),
      { id: 8, method: "session/new", params: { cwd: path, mcpServers: [] } },
      { id: 9, method: "initialize" },
    ];
    const first = await talk(asked);
    assert.ok(existsSync(cache));
    const second = await talk(asked);
    const answers = (all: readonly Message[]) => all.filter(({ id }) => id === 7);
    assert.deepEqual(answers(second), answers(first));
    assert.equal(answers(second).length, 1);
    const ids = second.flatMap(({ id }) => id ?? []);
    assert.deepEqual([...ids].sort(), [7, 8, 9]);
    assert.equal(ids[0], 7);
    assert.ok(
      "error" in (second.find(({ id }) => id === 9) ?? {}),
      "a second handshake is refused by the agent itself",
    );
  });
}

test("other settings, another environment and other code have another answer", patience, async (t) => {
  const { talk, path, cache } = home(t);
  const methods = (messages: readonly Message[]) => resultOf(messages).authMethods?.length;
  assert.equal(methods(await talk([initialize(1)])), 0);
  const keyless = { PARLEY_MODEL: "anthropic/claude-opus-5-5", ANTHROPIC_API_KEY: "" };
  assert.equal(methods(await talk([initialize(1)], keyless)), 1);
  assert.equal(methods(await talk([initialize(1)])), 0);
  mkdirSync(join(path, "config"));
  const config = { agent: { model: "anthropic/claude-opus-5-5" } };
  writeFileSync(join(path, "config/config.json"), JSON.stringify(config));
  assert.equal(methods(await talk([initialize(1)], { PARLEY_MODEL: "", ANTHROPIC_API_KEY: "" })), 1);

  // a kept answer that is not right any more, since a file has changed
  await talk([initialize(1)]);
  const kept = JSON.parse(readFileSync(cache, "utf8")) as {
    files: [string, number, number][];
    answers: object;
  };
  const copy = join(path, "code.ts");
  writeFileSync(copy, "old");
  utimesSync(copy, 1, 1);
  const stale = {
    ...kept,
    files: [[copy, 1, 3]],
    answers: Object.fromEntries(Object.keys(kept.answers).map((key) => [key, '{"stale":true}'])),
  };
  writeFileSync(cache, JSON.stringify({ ...stale, files: [[copy, 1_000, 3]] }));
  const [from] = await talk([initialize(2)]);
  assert.deepEqual(
    from?.["result"],
    { stale: true },
    "the cache is believed while its files are as they were",
  );
  writeFileSync(cache, JSON.stringify(stale));
  const anew = await talk([initialize(3)]);
  assert.equal(resultOf(anew).protocolVersion, 1);
});

test("a cache that is rubbish costs nothing but time", patience, async (t) => {
  const { talk, cache, path } = home(t);
  mkdirSync(join(path, "cache"));
  for (const rubbish of [
    "",
    "{",
    "[]",
    '{"version":1}',
    '{"version":1,"files":[],"facts":"x","answers":{}}',
  ]) {
    writeFileSync(cache, rubbish);
    const answer = await talk([initialize(1)]);
    assert.equal(resultOf(answer).protocolVersion, 1);
  }
});
