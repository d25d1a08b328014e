// The agent behind tests: node --conditions=parley-source scripted-agent.ts SCENARIO.json [--mark FILE]
// With --mark it does what a login in a terminal does: it leaves something behind and ends.

import { readFileSync, writeFileSync } from "node:fs";
import { serveScenario } from "@parley/acp/node";

const [scenario = "", flag, mark = ""] = process.argv.slice(2);
if (flag === "--mark") writeFileSync(mark, "");
else await serveScenario(JSON.parse(readFileSync(scenario, "utf8")));
