// Compares the workspace before and after a command: finds new hooks and settings and moves them aside.

import { dirname } from "node:path";
import { isAtOrBelow } from "../mounts/layout.ts";
import { moveAside, restore } from "./move-aside.ts";
import { isThere, smallText, typeOf } from "./path-facts.ts";
import type { Found } from "./watched-folders.ts";

/** What a command left behind that other programs would execute or obey. */
export interface SandboxFindings {
  /** New hooks and settings, which were moved out of the workspace. */
  readonly movedAside: readonly { readonly from: string; readonly to: string }[];
  /** New repositories, and the hooks and settings in folders that were created with them. They stay where they are. */
  readonly created: readonly string[];
  /** New hooks and settings that stay where they are, with the reason. */
  readonly left: readonly { readonly path: string; readonly reason: string }[];
  /** Whether the workspace has more folders than were searched. */
  readonly isIncomplete: boolean;
}

export const nothingFound: SandboxFindings = { movedAside: [], created: [], left: [], isIncomplete: false };

/** What was known before the command started. */
export interface Before {
  readonly found: Found;
  /** Protected paths that did not exist, so that nothing could be mounted there. */
  readonly missing: readonly string[];
  /** Small files that must keep their texts. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Moves what is new to the folder that `asideOf` names for a path. */
export function plantedFiles(
  before: Before,
  after: Found,
  asideOf: (path: string) => string,
): SandboxFindings {
  const { found, missing, texts } = before;
  const repositories = [...after.repositories].filter((path) => !found.repositories.has(path));
  // a folder that existed before belongs to the user, also if it is a repository now
  const newFolders = repositories.map((path) => dirname(path)).filter((path) => !found.folders.has(path));
  const movedAside: { from: string; to: string }[] = [];
  const created = [...repositories];
  const left: { path: string; reason: string }[] = [];
  const move = (path: string) => {
    try {
      movedAside.push({ from: path, to: moveAside(path, asideOf(path)) });
    } catch (error) {
      left.push({ path, reason: error instanceof Error ? error.message : String(error) });
    }
  };
  for (const path of after.obeyed) {
    if (found.obeyed.has(path)) continue;
    if (newFolders.some((folder) => isAtOrBelow(path, folder))) created.push(path);
    else if (!found.isIncomplete || found.folders.has(dirname(path))) move(path);
    else
      left.push({ path, reason: "its folder was not searched before, so it may be older than the command" });
  }
  for (const path of missing) if (isThere(path)) move(path);
  for (const [path, text] of texts) {
    if (typeOf(dirname(path)) !== "folder" || smallText(path) === text) continue;
    if (isThere(path)) move(path);
    restore(path, text);
  }
  return { movedAside, created, left, isIncomplete: found.isIncomplete || after.isIncomplete };
}
