// Folders of bridges that were killed before they could remove them. Whether a bridge still lives is asked of its
// socket, not of its process id, which another machine or container with the same folder would understand differently.

import { lstat, readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const folderPrefix = "parley-bridge-";
export const socketName = "editor.sock";

/** Removes what nobody answers for. Never rejects: it is housekeeping, and the next bridge tries again. */
export async function removeStaleFolders(): Promise<void> {
  const folder = tmpdir();
  const names = await readdir(folder).catch(() => []);
  const ours = names.filter((name) => name.startsWith(folderPrefix)).map((name) => join(folder, name));
  await Promise.allSettled(ours.map(removeIfDead));
}

async function removeIfDead(path: string): Promise<void> {
  const stat = await lstat(path);
  // another user's is not ours to judge, and a link leads elsewhere
  if (stat.uid !== process.getuid?.() || !stat.isDirectory()) return;
  if (await isDead(join(path, socketName))) await rm(path, { recursive: true, force: true });
}

/** Only a refusal says so: a folder without a socket may be one whose bridge is about to listen. */
function isDead(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED"));
  });
}
