// Tests how the command combines the config file, the environment and flags.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Home, home, patience, type StartOptions, start } from "../../test/support/process-probe.ts";

/** What a new session has chosen. */
async function choices(t: TestContext, place: Home, options: StartOptions = {}) {
  const { agent, output } = await start(t, place, 1, options);
  const session = await agent.newSession({ cwd: place.cwd });
  const chosen = session.configOptions.map((option) => [option.configId, option.currentValue]);
  await agent.close();
  return { ...Object.fromEntries(chosen), output: output() } as Readonly<Record<string, unknown>>;
}

const providers = {
  work: { baseUrl: "http://127.0.0.1:9/v1", models: { big: {}, small: { efforts: ["low", "high"] } } },
};

test("new sessions use the config file, and an unknown name is reported on stderr", patience, async (t) => {
  const place = home(t);
  place.configure(`{
    // everything else is the default
    "agent": {
      "model": "work/small", "providers": ${JSON.stringify(providers)},
      "mode": "code", "effort": "low", "autoApprove": "off", "colour": "red",
    },
  }`);
  const { model, mode, effort, autoApprove, output } = await choices(t, place);
  assert.deepEqual(
    { model, mode, effort, autoApprove },
    {
      model: "work/small",
      mode: "code",
      effort: "low",
      autoApprove: "off",
    },
  );
  assert.match(String(output), /^parley: .*config\.json: agent\.colour is not known; there are model, /m);
});

test("flags beat the environment, and that beats the file", patience, async (t) => {
  const place = home(t);
  place.configure({ agent: { model: "work/small", providers, mode: "chat" } });
  const env = { PARLEY_MODEL: "work/big", PARLEY_MODE: "architect" };
  const set = await choices(t, place, { env });
  assert.deepEqual([set["model"], set["mode"]], ["work/big", "architect"]);
  const typed = await choices(t, place, { env, args: ["--model", "offline", "--mode", "ask"] });
  assert.deepEqual([typed["model"], typed["mode"]], ["offline", "ask"]);
});

test("without PARLEY_HOME the file is in the user's config directory", patience, async (t) => {
  const place = home(t);
  const config = join(place.path, "xdg");
  mkdirSync(join(config, "parley"), { recursive: true });
  writeFileSync(join(config, "parley/config.json"), '{"agent":{"mode":"chat"}}');
  const env = {
    PARLEY_HOME: undefined,
    XDG_CONFIG_HOME: config,
    XDG_DATA_HOME: join(place.path, "share"),
    XDG_CACHE_HOME: join(place.path, "cache"),
  };
  assert.equal((await choices(t, place, { env }))["mode"], "chat");
});

test("maxTurnRequests limits a turn", patience, async (t) => {
  const place = home(t);
  place.configure({ agent: { maxTurnRequests: 1 } });
  const { agent } = await start(t, place, 1);
  const session = await agent.newSession({ cwd: place.cwd });
  writeFileSync(join(place.cwd, "a.txt"), "a\n");
  assert.equal((await session.prompt("read a.txt").result).stopReason, "max_turn_requests");
});

for (const [config, wanted] of [
  [
    '{"agent": {"mode": "yolo"}}',
    /config\.json: agent\.mode must be one of ask, code, architect, chat, got another text/,
  ],
  ['{"agent": {', /config\.json:1:12: not JSON: expected a quoted name or "\}"/],
  ['{"agent": {"model": "nowhere/x"}}', /The model "nowhere\/x" has an unknown provider/],
] as const) {
  test(`a config that cannot be used ends the agent with the reason: ${config}`, patience, (t) => {
    const place = home(t);
    place.configure(config);
    const { status, stdout, stderr } = place.run(["agent"]);
    assert.equal(status, 2);
    assert.equal(stdout, "");
    assert.match(stderr, wanted);
  });
}

test("a mode of the environment that does not exist is refused", patience, (t) => {
  const { status, stderr } = home(t).run(["agent"], "", { PARLEY_MODE: "yolo" });
  assert.equal(status, 2);
  assert.match(stderr, /PARLEY_MODE: expected one of ask, code, architect, chat, got yolo/);
});
