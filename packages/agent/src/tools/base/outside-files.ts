// Reads what is outside the roots, after the user has allowed exactly that path; a link that appears on the way is refused.

import { lstatSync } from "node:fs";
import { dirname, parse, sep } from "node:path";
import { type LocalFiles, localFiles } from "@parley/acp/node";
import { type AgentFiles, SessionFiles } from "./agent-files.ts";
import { ToolError } from "./tool.ts";

/** They show devices, and the memory and environment of processes, with all keys. */
const system = ["/proc", "/sys", "/dev"];

/** Resolves all links of a path anywhere on this machine. It need not exist, and nothing of it is read. */
export async function locateOutside(path: string): Promise<string> {
  const all = localFiles({ roots: [parse(path).root] });
  try {
    const real = await all.realPath(path);
    if (system.some((folder) => `${real}${sep}`.startsWith(`${folder}${sep}`)))
      throw new ToolError(`${real} belongs to the system and cannot be read with this tool; use a command`);
    return real;
  } finally {
    await all.close();
  }
}

/** `real` has no links. A folder that was allowed as a tree is read with all that is below it, anything else alone. */
export async function withOutsideFiles<Result>(
  real: string,
  kind: "file" | "tree",
  work: (files: AgentFiles) => Promise<Result>,
): Promise<Result> {
  const isTree = kind === "tree" && lstatSync(real, { throwIfNoEntry: false })?.isDirectory() === true;
  const folder = isTree ? real : dirname(real);
  const local = localFiles({ roots: [folder] });
  try {
    // the folder is open now: whatever becomes of its name, this is the one that was asked about, or it is refused
    if ((await local.realPath(folder)) !== folder)
      throw new ToolError(
        `${real} leads elsewhere now than when the user was asked about it; nothing was read`,
      );
    return await work(new OutsideFiles(local, isTree));
  } finally {
    await local.close();
  }
}

/** Files that can only be read, without following links. */
class OutsideFiles extends SessionFiles {
  readonly #isTree: boolean;

  constructor(local: LocalFiles, isTree: boolean) {
    super(local, undefined, () => undefined, refuse, false);
    this.#isTree = isTree;
  }

  override list(path: string): ReturnType<AgentFiles["list"]> {
    return this.#isTree ? super.list(path) : refuse(path);
  }

  override remove(path: string): Promise<never> {
    return refuse(path);
  }

  override move(from: string): Promise<never> {
    return refuse(from);
  }
}

async function refuse(path: string): Promise<never> {
  throw new ToolError(`${path} is outside the workspace and can only be read`);
}
