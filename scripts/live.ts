// `npm run test:live`: one small task for a real model of each provider that has a key in the environment. It costs a few
// cents and is not part of `npm test`. `npm run test:live -- openai anthropic/claude-haiku-4-5` names providers or models.

import { configuredModels } from "@parley/agent/internal";
import { smoke } from "../packages/agent/test/live/smoke.ts";

const wanted = process.argv.slice(2);
const limitMs = 180_000;
const { models } = configuredModels({}, process.env);
const isFirstOfProvider = ({ facts: { id } }: (typeof models)[number], index: number) =>
  models.findIndex(({ facts }) => providerOf(facts.id) === providerOf(id)) === index;
const chosen =
  wanted.length === 0
    ? models.filter(isFirstOfProvider)
    : wanted.flatMap((name) => {
        const found = models.find(({ facts: { id } }) => id === name || providerOf(id) === name);
        if (found === undefined) process.stderr.write(`live: no key was found for ${name}\n`);
        return found ?? [];
      });

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
