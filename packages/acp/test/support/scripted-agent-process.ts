// A program: an agent that plays a scenario, given as JSON or as the name of a file. With `--mark FILE` it only writes
// the file, as a terminal login does.

import { readFileSync, writeFileSync } from "node:fs";
import { editionNamed } from "@parley/dialects";
import { serveScenario } from "../../src/node/serve-scenario.ts";

const [given, flag, mark = ""] = process.argv.slice(2);
if (given === undefined) {
  process.stderr.write("usage: scripted-agent-process SCENARIO.json, or the scenario itself as JSON\n");
  process.exit(2);
}
if (flag === "--mark") writeFileSync(mark, "");
else {
  const scenario = JSON.parse(given.trimStart().startsWith("{") ? given : readFileSync(given, "utf8"));
  // JSON has no more of a dialect than its name
  const editions = scenario.editions?.map((each: { name?: "scoped" } & "v1") =>
    editionNamed(each.name ?? each),
  );
  await serveScenario(editions === undefined ? scenario : { ...scenario, editions });
}
