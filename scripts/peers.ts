// `npm run test:peers`: production agents that nobody here wrote, on a model of our own, offline but for their
// installation. They are large, and so they are no dependencies: each is installed once into a cache outside the
// repository (PARLEY_PEERS, else parley-peers in the user's cache directory).

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { liveClaude, type Place, runClaude } from "./peers/claude.ts";
import { claudeUsesTool, codexUsesTool } from "./peers/client-tools.ts";
import { liveCodex } from "./peers/codex.ts";
import { type MessagesModel, messagesModel } from "./peers/messages-model.ts";

const claudeVersion = "0.99.0";
const codexVersion = "2.6.0";
const cache =
  process.env.PARLEY_PEERS ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "parley-peers");

const cases: Readonly<Record<string, (place: Place, model: MessagesModel) => Promise<void>>> = {
  "claude-agent-acp, version 1: prompts, permissions, cancel, death": (place, model) =>
    liveClaude(place, model, 1),
  "claude-agent-acp, version 2: prompts, permissions, cancel, death": (place, model) =>
    liveClaude(place, model, 2),
  "claude-agent-acp under parley run: exit codes, sessions, refusals": runClaude,
  "claude-agent-acp, through the bridge: a tool of the client": claudeUsesTool,
  "codex-acp, through the bridge: a tool of the client": codexUsesTool,
  "codex-acp, version 1: prompts": (place) => liveCodex(place, 1),
  "codex-acp, version 2: prompts, a message while it works": (place) => liveCodex(place, 2),
};

const bin = [
  installed("@agentclientprotocol/claude-agent-acp", claudeVersion),
  installed("@agentclientprotocol/codex-acp", codexVersion),
].join(":");
/** Those whose name contains the word that was given. */
const [word = ""] = process.argv.slice(2);
const chosen = Object.entries(cases).filter(([name]) => name.includes(word));
const launcher = fileURLToPath(new URL("../packages/cli/bin/parley", import.meta.url));
let failures = 0;
for (const [name, run] of chosen) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "parley-peers-")));
  const model = await messagesModel();
  const started = performance.now();
  try {
    await run({ folder, bin, launcher }, model);
    process.stdout.write(`ok      ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)\n`);
  } catch (error) {
    failures += 1;
    process.stdout.write(
      `FAILED  ${name}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
  } finally {
    model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
process.stdout.write(`peers: ${chosen.length} cases, ${failures} failures\n`);
process.exitCode = failures === 0 ? 0 : 1;

/** The folder of its programs. */
function installed(name: string, version: string): string {
  const folder = join(cache, `${name.split("/").at(-1)}-${version}`);
  const programs = join(folder, "node_modules/.bin");
  if (existsSync(join(folder, "node_modules", name, "package.json"))) return programs;
  process.stdout.write(`installing ${name}@${version} into ${folder}\n`);
  mkdirSync(folder, { recursive: true });
  const args = ["install", "--no-audit", "--no-fund", "--prefix", folder, `${name}@${version}`];
  execFileSync("npm", args, { stdio: "inherit", cwd: folder });
  return programs;
}
