// `parley agent`: the coding agent on stdin and stdout, as editors start it.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ConfiguredModels } from "@parley/agent";
import type { Invocation } from "./commands.ts";
import { printable } from "./wire-printer.ts";

const modes = ["ask", "code", "architect", "chat"] as const;
type Mode = (typeof modes)[number];

export async function run({ values }: Invocation): Promise<number | undefined> {
  const { setup, model, mode } = values;
  if (typeof setup === "string") return printSetup(setup);
  const chosen = modes.find((each) => each === mode);
  if (chosen === undefined) {
    return refuse(`--mode takes one of ${modes.join(", ")}, got ${printable(String(mode))}`);
  }
  return serve(chosen, typeof model === "string" ? model : undefined);
}

async function printSetup(editor: string): Promise<number> {
  const { editors, setupFor } = await import("./agent-setup.ts");
  const launcher = fileURLToPath(new URL("../bin/parley", import.meta.url));
  const setup = setupFor(editor, launcher);
  if (setup === undefined)
    return refuse(`--setup takes one of ${editors.join(", ")}, got ${printable(editor)}`);
  // stdout is the block alone, so that it can be piped
  process.stderr.write(`Put this into ${setup.where}:\n`);
  process.stdout.write(`${setup.block}\n`);
  return 0;
}

async function serve(mode: Mode, wanted: string | undefined): Promise<number | undefined> {
  const [{ codingAgent, configuredModels, ModelError }, { serveStdio, sqliteStore }, { dataFolder }] =
    await Promise.all([import("@parley/agent"), import("@parley/acp/node"), import("./data-folder.ts")]);
  const store = sqliteStore({ path: join(dataFolder(), "sessions.db") });
  let configured: ConfiguredModels;
  try {
    // what is typed counts for more than the environment
    configured =
      wanted === undefined
        ? configuredModels({}, process.env)
        : configuredModels({ model: wanted }, { ...process.env, PARLEY_MODEL: undefined });
  } catch (error) {
    if (error instanceof ModelError) return refuse(error.message);
    throw error;
  }
  const agent = codingAgent({
    models: configured.models,
    model: configured.chosen,
    version: await ownVersion(),
    mode,
    store,
    log: (level, message, data) => {
      if (level === "error" || level === "warn") console.error(`parley agent: ${message}`, data ?? "");
    },
  });
  if (process.stdin.isTTY) {
    process.stderr.write(
      "parley agent speaks ACP on stdin and stdout and waits for an editor; see parley help agent\n",
    );
  }
  // ends the process when the editor has gone
  await serveStdio(agent);
  return 0;
}

async function ownVersion(): Promise<string> {
  // The manifest is one folder up from src/ and from dist/ alike.
  const manifest: unknown = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  return String((manifest as { version?: unknown }).version); // our own file
}

function refuse(message: string): number {
  process.stderr.write(`parley: ${message}\nparley: see parley help agent\n`);
  return 2;
}
