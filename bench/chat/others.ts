// Terminal clients that others have written. They are no dependencies: they are fetched with PARLEY_OTHERS=1.

import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { floodAgent } from "./place.ts";

export const acpx = "acpx@0.19.1";
export const gooseTui = "@aaif/goose@0.20.1";

/** How a client is started, and what must be typed into it. */
export interface OtherClient {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export function hasOthers(): boolean {
  return process.env["PARLEY_OTHERS"] !== undefined;
}

/** Without scripts, and without goose's own agent, which takes 270 MB. */
function install(name: string, folder: string): void {
  const args = ["install", "--ignore-scripts", "--omit=optional", "--no-save", "--prefix", folder, name];
  const { status, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`cannot install ${name}: ${stderr}`);
}

/** Prints one turn and ends. */
export function acpxClient(folder: string): OtherClient {
  install(acpx, folder);
  const agent = `${process.execPath} ${floodAgent}`;
  const cli = join(folder, "node_modules/acpx/dist/cli.js");
  return { argv: [cli, "--agent", agent, "--cwd", folder, "--approve-all", "exec", "go"] };
}

/** A conversation on the whole screen. It starts any program as its agent. */
export function gooseClient(folder: string): OtherClient {
  install(gooseTui, folder);
  const agent = join(folder, "flood-agent");
  writeFileSync(agent, `#!/bin/sh\nexec '${process.execPath}' '${floodAgent}'\n`);
  chmodSync(agent, 0o755);
  return { argv: [join(folder, "node_modules/@aaif/goose/dist/tui.js")], env: { GOOSE_BINARY: agent } };
}
