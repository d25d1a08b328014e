// Our folder: one folder per workspace, one per session in it. Old sessions are removed when they take too much room.

import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** How many sessions of a workspace are kept at most. */
const maxSessions = 50;

/** The folder of one session. */
export interface SessionFolder {
  readonly path: string;
  /** Notes the temporary file of an undo, so that the next session removes it if we are killed. */
  readonly temporary: { begin(path: Buffer): Promise<void>; end(): Promise<void> };
  /** Says that the session has ended, so that its folder may be removed. */
  close(): Promise<void>;
}

export async function openSessionFolder(
  home: string,
  roots: readonly string[],
  storedBytes: number,
): Promise<SessionFolder> {
  const key = createHash("sha256").update(roots.join("\0")).digest("hex").slice(0, 24);
  const workspace = join(home, key);
  await mkdir(workspace, { recursive: true, mode: 0o700 });
  await removeOldSessions(workspace, storedBytes);
  // names in the order of their time
  const path = join(
    workspace,
    `${Date.now().toString(36).padStart(10, "0")}-${randomBytes(4).toString("hex")}`,
  );
  await mkdir(path, { mode: 0o700 });
  await writeFile(join(path, "owner"), `${process.pid}\n`);
  const pending = join(path, "pending");
  return {
    path,
    temporary: {
      begin: (file) => writeFile(pending, file),
      end: () => rm(pending, { force: true }),
    },
    close: () => rm(join(path, "owner"), { force: true }),
  };
}

async function removeOldSessions(workspace: string, storedBytes: number): Promise<void> {
  const names = (await readdir(workspace)).sort();
  const sessions: { readonly path: string; readonly bytes: number; readonly isRunning: boolean }[] = [];
  for (const name of names) {
    const path = join(workspace, name);
    const isRunning = await hasOwner(path);
    if (!isRunning) await removePending(path);
    sessions.push({ path, bytes: await sizeOf(path), isRunning });
  }
  let bytes = sessions.reduce((sum, session) => sum + session.bytes, 0);
  let count = sessions.length;
  for (const session of sessions) {
    if (bytes <= storedBytes && count < maxSessions) return;
    if (session.isRunning) continue;
    await rm(session.path, { recursive: true, force: true });
    bytes -= session.bytes;
    count -= 1;
  }
}

async function hasOwner(session: string): Promise<boolean> {
  const pid = Number(await readFile(join(session, "owner"), "utf8").catch(() => ""));
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // what process.kill throws: somebody else's process
  }
}

/** Removes the temporary file of an undo that was cut off. */
async function removePending(session: string): Promise<void> {
  const file = await readFile(join(session, "pending")).catch(() => undefined);
  if (file === undefined || !/\.parley-[0-9a-f]{12}\.tmp$/.test(file.toString("latin1"))) return;
  await unlink(file).catch(() => undefined); // it was not made yet
  await rm(join(session, "pending"), { force: true });
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
    bytes += found?.size ?? 0;
  }
  return bytes;
}
