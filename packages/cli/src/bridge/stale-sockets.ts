// Removes the folders of killed bridges. A refused connection shows that a bridge is dead; process ids differ between containers.

import { lstat, readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const folderPrefix = "parley-bridge-";
export const socketName = "editor.sock";

/** Never rejects. */
export async function removeStaleFolders(): Promise<void> {
  const folder = tmpdir();
  const names = await readdir(folder).catch(() => []);
  const ours = names.filter((name) => name.startsWith(folderPrefix)).map((name) => join(folder, name));
  await Promise.allSettled(ours.map(removeIfDead));
}

async function removeIfDead(path: string): Promise<void> {
  const stat = await lstat(path);
  // folders of other users and links are left alone
  if (stat.uid !== process.getuid?.() || !stat.isDirectory()) return;
  if (await isDead(join(path, socketName))) await rm(path, { recursive: true, force: true });
}

/** A folder without a socket may belong to a bridge that is starting. */
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
