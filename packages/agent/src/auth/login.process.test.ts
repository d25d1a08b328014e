// Tests a missing key: refusal, login and answer in one process.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { RequestError, SessionUpdate } from "@parley/acp";
import { anthropicEvents } from "../../test/fake-provider/anthropic-wire.ts";
import { withFake } from "../../test/fake-provider/asking.ts";
import { failed, streamed } from "../../test/fake-provider/fake-provider.ts";
import { said } from "../../test/support/agent-probe.ts";
import { home, launcher, patience, start } from "../../test/support/process-probe.ts";

const key = "sk-ant-test-5e5a1e5e5a1e";
const hello = streamed(anthropicEvents({ blocks: [{ type: "text", pieces: ["Hello."] }] }));
const credentials = "data/credentials.json";

/** Of an error that says that a login is needed. */
function methodsOf(error: unknown): unknown {
  const { code, data } = error as RequestError;
  assert.equal(code, -32000);
  return (data as { authMethods?: unknown }).authMethods;
}

for (const version of [1, 2] as const) {
  test(
    `A112 A14 a model without a key asks for a login, which takes effect without a restart (v${version})`,
    patience,
    async (t) => {
      await withFake([hello], async (fake) => {
        const place = home(t);
        place.configure({
          agent: {
            model: "anthropic/claude-opus-5-5",
            providers: { anthropic: { baseUrl: `${fake.url}/v1` } },
          },
        });
        const { agent, output } = await start(t, place, version, { auth: { terminal: true } });
        assert.deepEqual(
          agent.authMethods.map(({ methodId, type }) => [methodId, type]),
          [
            ["anthropic-key", "agent"],
            ["anthropic-login", "terminal"],
          ],
        );
        const refusal: unknown = await agent.newSession({ cwd: place.cwd }).catch((error: unknown) => error);
        assert.match(JSON.stringify(methodsOf(refusal)), /parley agent login anthropic/);
        await assert.rejects(agent.login("anthropic-key"), {
          code: -32000,
          message:
            /There is no key for Anthropic yet\. Set ANTHROPIC_API_KEY or run: parley agent login anthropic/,
        });

        const login = place.run(["agent", "login"], `${key}\n`);
        assert.equal(login.status, 0, login.stderr);
        assert.match(
          login.stdout,
          /^Stored the key for Anthropic in .*credentials\.json, readable only by you\.$/m,
        );
        assert.equal(statSync(join(place.path, credentials)).mode & 0o777, 0o600);
        assert.match(place.read(credentials), new RegExp(key));

        await agent.login("anthropic-key");
        const updates: SessionUpdate[] = [];
        const session = await agent.newSession({
          cwd: place.cwd,
          onUpdate: (update) => void updates.push(update),
        });
        assert.equal((await session.prompt("hello").result).stopReason, "end_turn");
        assert.equal(said(updates), "Hello.");
        assert.equal(fake.requests[0]?.headers["x-api-key"], key);

        await agent.logout();
        assert.equal(existsSync(join(place.path, credentials)), false);
        assert.ok(methodsOf(await agent.newSession({ cwd: place.cwd }).catch((error: unknown) => error)));
        await agent.close();
        for (const text of [output(), login.stdout, login.stderr]) assert.doesNotMatch(text, /sk-ant-test/);
      });
    },
  );
}

test("a key from the environment logs in, also after a logout", patience, async (t) => {
  const place = home(t);
  const { agent, output } = await start(t, place, 1, { env: { ANTHROPIC_API_KEY: key } });
  await agent.newSession({ cwd: place.cwd });
  await agent.logout();
  await assert.rejects(agent.newSession({ cwd: place.cwd }), { code: -32000 });
  await agent.login("anthropic-key");
  await agent.newSession({ cwd: place.cwd });
  assert.doesNotMatch(output(), /sk-ant-test/);
});

test("no login is asked for when no key is needed", patience, async (t) => {
  const { agent } = await start(t, home(t), 1);
  assert.deepEqual(agent.authMethods, []);
});

test("a key that is stored while the agent runs offline is used by the next session", patience, async (t) => {
  const place = home(t);
  const { agent } = await start(t, place, 1);
  const models = async () => {
    const { configOptions: options } = await agent.newSession({ cwd: place.cwd });
    const option = options.find(({ configId }) => configId === "model");
    return option?.type === "select" ? option.currentValue : undefined;
  };
  assert.equal(await models(), "offline");
  assert.equal(place.run(["agent", "login", "--provider", "openai"], key).status, 0);
  assert.equal(await models(), "openai/gpt-6.1-sol");
  assert.match(place.run(["agent", "logout", "openai"]).stdout, /^Deleted the key for OpenAI\.$/m);
  assert.equal(await models(), "offline");
});

test("--check asks the provider first and does not store a key that it rejects", patience, async (t) => {
  // the command is run without blocking this process, which is the provider
  await withFake(
    [failed(401, { error: key }), (exchange) => exchange.json(200, { data: [] })],
    async (fake) => {
      const place = home(t);
      place.configure({ agent: { providers: { work: { baseUrl: `${fake.url}/v1` } } } });
      const login = () =>
        typed(["agent", "login", "--provider", "work", "--check"], place.env, { input: `${key}\n` });
      const refused = await login();
      assert.equal(refused.status, 2);
      assert.match(refused.output, /work did not accept the key \(401\); nothing was stored/);
      assert.equal(existsSync(join(place.path, credentials)), false);
      const accepted = await login();
      assert.equal(accepted.status, 0, accepted.output);
      assert.equal(fake.requests[1]?.path, "/v1/models");
      assert.equal(fake.requests[1]?.headers.authorization, `Bearer ${key}`);
      assert.doesNotMatch(refused.output + accepted.output, /sk-ant-test/);
      assert.match(place.read(credentials), new RegExp(key));
    },
  );
});

const hasTerminal = existsSync("/usr/bin/script");

test("A14 C12 the terminal login is the agent's command with its arguments appended; what is typed is not shown", {
  ...patience,
  skip: hasTerminal ? false : "script(1) makes the terminal",
}, async (t) => {
  const place = home(t);
  place.configure({ agent: { model: "anthropic" } });
  const { agent } = await start(t, place, 1, { auth: { terminal: true } });
  const method = agent.authMethods.find(({ type }) => type === "terminal");
  assert.ok(method?.type === "terminal");
  const args = ["agent", "--mode", "code", ...((method.args ?? []) as string[])];
  const { status, output } = await typed(args, place.env, {
    question: /not shown\): /,
    answer: `x\u007f${key}\r`,
  });
  assert.equal(status, 0, output);
  assert.doesNotMatch(output, /sk-ant-test/);
  assert.match(output, /Stored the key for Anthropic in/);
  await agent.newSession({ cwd: place.cwd });
  const gaveUp = await typed(args, place.env, { question: /not shown\): /, answer: `${key}\u0003` });
  assert.notEqual(gaveUp.status, 0);
  assert.match(gaveUp.output, /no key was given; nothing was stored/);
});

for (const [args, input, wanted] of [
  [
    ["login"],
    key,
    /No model is configured, so the provider of the key is unknown\. Name one of: anthropic, /,
  ],
  [["login", "nobody"], key, /The provider "nobody" is not known/],
  [["login", "openai"], "", /no key was given; nothing was stored/],
  [["login", "openai"], "two words\n", /a key has no spaces/],
  [["logout", "nobody"], "", /The provider "nobody" is not known/],
] as const) {
  test(
    `agent ${args.join(" ")} with ${JSON.stringify(input.slice(0, 6))} is refused in words`,
    patience,
    (t) => {
      const place = home(t);
      const { status, stdout, stderr } = place.run(["agent", ...args], input);
      assert.equal(status, 2);
      assert.equal(stdout, "");
      assert.match(stderr, wanted);
      assert.doesNotMatch(stderr, /sk-ant-test|two words/);
      assert.equal(existsSync(join(place.path, credentials)), false);
    },
  );
}

test("a malformed key file counts as empty, and the next login overwrites it", patience, (t) => {
  const place = home(t);
  mkdirSync(join(place.path, "data"));
  writeFileSync(join(place.path, credentials), `{"keys": "${key}`);
  const login = place.run(["agent", "login", "openai"], "k1");
  assert.equal(login.status, 0, login.stderr);
  assert.doesNotMatch(login.stdout + login.stderr, /sk-ant-test/);
  assert.equal(place.run(["agent", "login", "google"], "k2").status, 0);
  assert.deepEqual(JSON.parse(place.read(credentials)).keys, { openai: "k1", google: "k2" });
  assert.equal(place.run(["agent", "logout", "openai"]).status, 0);
  assert.deepEqual(JSON.parse(place.read(credentials)).keys, { google: "k2" });
});

interface Typing {
  readonly input?: string;
  /** With a question the command gets a terminal, and the answer is typed when it is asked. */
  readonly question?: RegExp;
  readonly answer?: string;
}

async function typed(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { input, question, answer }: Typing,
): Promise<{ readonly status: number | null; readonly output: string }> {
  const line = [launcher, ...args].map((word) => `'${word}'`).join(" ");
  const command = question === undefined ? [launcher, ...args] : ["script", "-qec", line, "/dev/null"];
  const child = spawn(command[0] ?? "", command.slice(1), { env: { ...process.env, ...env } });
  let output = "";
  let isAsked = false;
  const take = (chunk: Buffer): void => {
    output += chunk.toString();
    if (isAsked || question === undefined || !question.test(output)) return;
    isAsked = true;
    child.stdin.write(answer ?? "");
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  if (input !== undefined) child.stdin.end(input);
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { status, output };
}
