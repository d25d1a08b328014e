// Which process uses a folder of ours: one at a time.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { claimFile, type FileClaim, isFileClaimed } from "@parley/acp/node";

/** Undefined if a process uses the folder, also this one, or if the folder is gone. */
export function claimFolder(folder: string): FileClaim | undefined {
  try {
    return claimFile(ownerOf(folder));
  } catch (error) {
    if (!existsSync(folder)) return undefined;
    throw error;
  }
}

export function isFolderClaimed(folder: string): boolean {
  return isFileClaimed(ownerOf(folder));
}

function ownerOf(folder: string): string {
  return join(folder, "owner");
}
