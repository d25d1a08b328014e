// `npm run test:live`: one small task for a real model of each provider that has a key in the environment. It costs a few
// cents and is not part of `npm test`. `npm run test:live -- openai anthropic/claude-haiku-4-5` names providers or models.

import type { Model } from "@parley/agent";
import { configuredModels } from "@parley/agent/models";
import { smoke } from "../packages/agent/test/live/smoke.ts";

const wanted = process.argv.slice(2);
const limitMs = 180_000;
const chosen = wanted.length === 0 ? firstOfEach() : wanted.flatMap(named);

if (chosen.length === 0) {
  process.stdout.write(
    "live: nothing was tried: no provider has a key in the environment. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY.\n",
  );
  process.exit(wanted.length === 0 ? 0 : 2);
}

for (const model of chosen) {
  const { id } = model.facts;
  const started = performance.now();
  try {
    const result = await smoke(model, AbortSignal.timeout(limitMs));
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const { problems, inputTokens, outputTokens, cachedTokens } = result;
    process.stdout.write(
      `${problems.length === 0 ? "pass" : "FAIL"}  ${id}  ${seconds} s, ${inputTokens} tokens in (${cachedTokens} cached), ${outputTokens} out\n`,
    );
    for (const problem of problems) process.stdout.write(`      ${problem}\n`);
    if (problems.length > 0) process.exitCode = 1;
  } catch (error) {
    process.stdout.write(`FAIL  ${id}  ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

function providerOf(id: string): string {
  return id.split("/", 1)[0] ?? id;
}

function firstOfEach(): readonly Model[] {
  const { models } = configuredModels({}, process.env);
  return models.filter(
    ({ facts }, index) =>
      models.findIndex((each) => providerOf(each.facts.id) === providerOf(facts.id)) === index,
  );
}

/** A provider or a model, also one on this machine. */
function named(name: string): readonly Model[] {
  try {
    return configuredModels({ model: name }, process.env).models.slice(0, 1);
  } catch (error) {
    process.stderr.write(`live: ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
    return [];
  }
}
