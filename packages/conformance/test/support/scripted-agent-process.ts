// A program: an agent that plays a scenario, given as JSON or as the name of a file. With `--mark FILE` it only writes
// the file, as a terminal login does.

import { readFileSync, writeFileSync } from "node:fs";
import { serveScenario } from "@parley/conformance/testing";
import { withDialects } from "./with-dialects.ts";

const [given, flag, mark = ""] = process.argv.slice(2);
if (given === undefined) {
  process.stderr.write("usage: scripted-agent-process SCENARIO.json, or the scenario itself as JSON\n");
  process.exit(2);
}
if (flag === "--mark") writeFileSync(mark, "");
else {
  const text = given.trimStart().startsWith("{") ? given : readFileSync(given, "utf8");
  await serveScenario(withDialects(JSON.parse(text)));
}
