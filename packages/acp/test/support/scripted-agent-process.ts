// A program: a scripted agent. Its argument is a scenario, as JSON or as the name of a file.

import { readFileSync } from "node:fs";
import { serveScenario } from "../../src/node/serve-scenario.ts";

const [given] = process.argv.slice(2);
if (given === undefined) {
  process.stderr.write("usage: scripted-agent-process SCENARIO.json, or the scenario itself as JSON\n");
  process.exit(2);
}
const text = given.trimStart().startsWith("{") ? given : readFileSync(given, "utf8");
await serveScenario(JSON.parse(text));
