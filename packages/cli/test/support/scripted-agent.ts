// A program: an agent that plays SCENARIO.json. With `--mark FILE` it writes the file and exits, as a terminal login does.

import { readFileSync, writeFileSync } from "node:fs";
import { serveScenario } from "@parley/acp/node";

const [scenario = "", flag, mark = ""] = process.argv.slice(2);
if (flag === "--mark") writeFileSync(mark, "");
else await serveScenario(JSON.parse(readFileSync(scenario, "utf8")));
