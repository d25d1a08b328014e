// Tests that no key is shown or stored, even when a provider repeats it.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { anthropicError, anthropicEvents } from "../../test/fake-provider/anthropic-wire.ts";
import { withFake } from "../../test/fake-provider/asking.ts";
import { failed, streamed } from "../../test/fake-provider/fake-provider.ts";
import { home, launcher, patience, start } from "../../test/support/process-probe.ts";

const key = "sk-ant-test-5e5a1e5e5a1e";

/** Every file below a folder that has the key in it. */
function filesWithKey(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => readFileSync(file).includes(key))
    .map((file) => file.slice(folder.length + 1));
}

for (const version of [1, 2] as const) {
  test(
    `A95 a key is in no message, request, error, log, trace, recording or session (v${version})`,
    patience,
    async (t) => {
      const refused = failed(401, anthropicError("authentication_error", `invalid x-api-key: ${key}`));
      const hello = streamed(anthropicEvents({ blocks: [{ type: "text", pieces: ["Hello."] }] }));
      await withFake([refused, hello], async (fake) => {
        const place = home(t);
        const provider = { baseUrl: `${fake.url}/v1` };
        place.configure({ agent: { model: "anthropic", providers: { anthropic: provider } } });
        assert.equal(place.run(["agent", "login"], key).status, 0);
        const trace = join(place.path, "trace.jsonl");
        const { agent, child, output } = await start(t, place, version, {
          before: ["tap", "--out", trace, "--", launcher],
          env: { PARLEY_RECORD: join(place.path, "recording.jsonl") },
        });
        const session = await agent.newSession({ cwd: place.cwd });
        const failure = await session.prompt("hello").result.catch((error: unknown) => error);
        assert.match(
          failure instanceof Error ? failure.message : JSON.stringify(failure),
          /Anthropic did not accept the API key/,
        );
        assert.equal((await session.prompt("hello").result).stopReason, "end_turn");
        assert.equal(fake.requests.at(-1)?.headers["x-api-key"], key);
        assert.equal(JSON.stringify(fake.requests.map(({ body }) => body)).includes(key), false);
        await agent.close();
        await child.exited;
        assert.equal(output().includes(key), false);
        assert.match(readFileSync(trace, "utf8"), /Hello\./);
        assert.deepEqual(filesWithKey(place.path), ["data/credentials.json"]);
      });
    },
  );
}

test(
  "a key of a provider is in no command of the agent, whatever the config calls its variable",
  patience,
  async (t) => {
    const place = home(t);
    const provider = { kind: "compatible", baseUrl: "http://127.0.0.1:9/v1", apiKeyEnv: "MY_GATEWAY" };
    place.configure({ agent: { model: "offline", providers: { mine: provider } } });
    const { agent, output } = await start(t, place, 2, { env: { MY_GATEWAY: key, MY_OTHER: "kept" } });
    const session = await agent.newSession({ cwd: place.cwd });
    await session.prompt("run env").result;
    await agent.close();
    assert.match(output(), /MY_OTHER=kept/);
    assert.equal(output().includes(key), false);
  },
);
