// `parley agent models` through the launcher.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { launcher } from "../../../acp/test/support/programs.ts";
import { withFake } from "../../../agent/test/fake-provider/asking.ts";
import type { Answer } from "../../../agent/test/fake-provider/fake-provider.ts";

const patience = { timeout: 120_000 };

const nowhere = { baseUrl: "http://127.0.0.1:1/v1" };

/** A home with this section `agent`, in which only Ollama has an address. */
function home(t: TestContext, agent: { readonly providers?: object; readonly [name: string]: unknown }) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-models-test-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "config"));
  const providers = {
    ollama: nowhere,
    lmstudio: nowhere,
    llamacpp: nowhere,
    vllm: nowhere,
    ...agent.providers,
  };
  writeFileSync(join(folder, "config/config.json"), JSON.stringify({ agent: { ...agent, providers } }));
  const env = { PATH: process.env["PATH"], HOME: folder, PARLEY_HOME: folder, DEEPSEEK_API_KEY: "sk-deep" };
  const run = (...args: readonly string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(launcher, ["agent", "models", ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
      );
    });
  return { run, stored: join(folder, "data/models.json") };
}

const server: Answer = (exchange) => {
  const { path } = exchange.request;
  if (path === "/api/tags") exchange.json(200, { models: [{ name: "qwen3:8b" }] });
  else if (path === "/api/show")
    exchange.json(200, { capabilities: ["completion"], parameters: "num_ctx 16384" });
  else exchange.json(404, {});
};

test(
  "the models that can be used are listed, with where their keys are from and which servers answer",
  patience,
  async (t) => {
    await withFake([server], async (fake) => {
      const { run } = home(t, { providers: { ollama: { baseUrl: `${fake.url}/v1` } } });
      const { stdout, code } = await run();
      assert.equal(code, 0);
      assert.match(
        stdout,
        /^deepseek\/deepseek-v4-pro +1\.0M +333k +\$0\.435\/\$0\.87 +high,max +text +DEEPSEEK_API_KEY$/m,
      );
      assert.match(stdout, /^ollama\/qwen3:8b +16k +- +- +- +text +-$/m);
      assert.match(stdout, new RegExp(`^ollama answers at ${fake.url}\\.$`, "m"));
      assert.doesNotMatch(stdout, /anthropic|vllm|sk-deep/);

      const { data } = JSON.parse((await run("--json")).stdout);
      const local = data.models.find(({ id }: { id: string }) => id === "ollama/qwen3:8b");
      assert.deepEqual([local.provider, local.contextWindow, local.takesImages], ["ollama", 16_384, false]);
      assert.deepEqual(data.servers, [{ provider: "ollama", url: fake.url, models: 1 }]);
      assert.ok(
        data.withoutKey.some(({ variable }: { variable: string }) => variable === "ANTHROPIC_API_KEY"),
      );
    });
  },
);

test(
  "--refresh stores facts that the list then shows; bad ones are refused and the old ones stay",
  patience,
  async (t) => {
    const model = {
      name: "Deep",
      limit: { context: 777_000, output: 50_000 },
      modalities: { input: ["text"] },
    };
    const good: Answer = (exchange) =>
      exchange.json(200, { deepseek: { models: { "deepseek-new": model } } });
    const bad: Answer = (exchange) => exchange.json(200, { deepseek: { models: { x: { limit: 1 } } } });
    await withFake([good, bad], async (fake) => {
      const { run, stored } = home(t, { registry: `${fake.url}/api.json` });
      const { stdout } = await run("--refresh");
      assert.match(stdout, /^Facts about 1 models were stored in .*models\.json\.$/m);
      assert.match(stdout, /^deepseek\/deepseek-new +777k +50k +- +- +text +DEEPSEEK_API_KEY$/m);
      const before = readFileSync(stored, "utf8");
      const refused = await run("--refresh");
      assert.equal(refused.code, 1);
      assert.match(
        refused.stderr,
        /were not refreshed: deepseek\.models\.x\.limit must be an object, got number/,
      );
      assert.equal(readFileSync(stored, "utf8"), before);
      assert.match((await run()).stdout, /deepseek-new/, "the refreshed facts are used from now on");
    });
  },
);

test("without a key and a server, the list says what to do", patience, async (t) => {
  const { run, stored } = home(t, { providers: { deepseek: { apiKeyEnv: "NOT_SET" } } });
  const { stdout } = await run();
  assert.match(stdout, /^No model can be used yet.*\nSet one of ANTHROPIC_API_KEY, /);
  assert.equal(existsSync(stored), false);
});
