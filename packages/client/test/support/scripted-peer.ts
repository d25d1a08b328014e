// A program: an agent that plays FOLDER/1.json when it is first started, 2.json the second time, and so on, and writes its
// environment and arguments to FOLDER.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sqliteStore } from "@parley/acp/node";
import { serveScenario } from "@parley/conformance/testing";
import { withDialects } from "../../../conformance/test/support/with-dialects.ts";

const [folder = "", ...args] = process.argv.slice(2);
const starts = readdirSync(folder).filter((name) => name.startsWith("start-")).length + 1;
writeFileSync(
  join(folder, `start-${starts}.json`),
  JSON.stringify({ pid: process.pid, env: process.env, args, cwd: process.cwd() }),
);
const own = join(folder, `${starts}.json`);
const last = readdirSync(folder).filter((name) => /^\d+\.json$/.test(name)).length;
const scenario = JSON.parse(readFileSync(existsSync(own) ? own : join(folder, `${last}.json`), "utf8"));
if (typeof scenario.stderr === "string") process.stderr.write(scenario.stderr);
if (scenario.exit !== undefined) process.exit(scenario.exit);
// an agent that does not speak at all
if (scenario.silent === true) setInterval(() => undefined, 2 ** 30);
else {
  const store = scenario.keeps === true ? sqliteStore({ path: join(folder, "sessions.db") }) : undefined;
  await serveScenario(withDialects({ parley: "agent-scenario", version: 1, ...scenario.play }), { store });
}
