// Our folder: one folder per workspace, one per session in it. Sessions are removed when they are old or take too much room.

import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileClaim } from "@parley/acp/node";
import { claimFolder, isFolderClaimed } from "./claim.ts";

/** How many sessions of a workspace are kept at most. */
const maxSessions = 50;

/** A session that nobody used for so long is removed. */
const maxAgeMs = 30 * 24 * 60 * 60 * 1000;

/** All workspaces are looked through so often. */
const sweepMs = 24 * 60 * 60 * 1000;

/** The folder of one session. */
export interface SessionFolder {
  readonly path: string;
  /** Whether another process uses the session, so that this folder is a new one. */
  readonly isBusy: boolean;
  /** The turn that was running when an earlier process was ended. */
  readonly cutOff: string | undefined;
  /** Notes the temporary file of an undo, so that the next session removes it if we are killed. */
  readonly temporary: { begin(path: Buffer): Promise<void>; end(): Promise<void> };
  /** Notes that a turn runs. */
  readonly turn: { begin(number: number): Promise<void>; end(): Promise<void> };
  /** Says that the session has ended, so that its folder may be opened again, or removed. */
  close(): Promise<void>;
}

export interface SessionFolderOptions {
  readonly home: string;
  readonly roots: readonly string[];
  /** The name of the session, if it may be opened again. */
  readonly session: string | undefined;
  /** What all sessions of a workspace may store together. */
  readonly storedBytes: number;
}

/** Opens the folder of the session again, or makes one. */
export async function openSessionFolder(options: SessionFolderOptions): Promise<SessionFolder> {
  const workspace = join(options.home, shortHash(options.roots[0] ?? "").slice(0, 24));
  await mkdir(workspace, { recursive: true, mode: 0o700 });
  const known =
    options.session === undefined ? undefined : await newest(workspace, shortHash(options.session));
  const again = known === undefined ? undefined : claimFolder(known);
  const isBusy = known !== undefined && again === undefined && isFolderClaimed(known);
  const { path, claim } =
    known !== undefined && again !== undefined
      ? { path: known, claim: again }
      : await makeFolder(workspace, isBusy ? undefined : options.session);
  if (again !== undefined) await removePending(path);
  await removeOldSessions(workspace, options.storedBytes);
  await sweep(options.home);
  const [pending, running] = [join(path, "pending"), join(path, "turn")];
  const cutOff = await readFile(running, "utf8").catch(() => undefined);
  await rm(running, { force: true });
  return {
    path,
    isBusy,
    cutOff,
    temporary: {
      begin: (file) => writeFile(pending, file),
      end: () => rm(pending, { force: true }),
    },
    turn: {
      begin: (number) => writeFile(running, `${number}`),
      end: () => rm(running, { force: true }),
    },
    close: async () => claim.release(),
  };
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

async function newest(workspace: string, hash: string): Promise<string | undefined> {
  const names = (await readdir(workspace)).filter((name) => name.endsWith(`-${hash}`)).sort();
  const last = names.at(-1);
  return last === undefined ? undefined : join(workspace, last);
}

/** Makes a folder and claims it. */
async function makeFolder(
  workspace: string,
  session: string | undefined,
): Promise<{ readonly path: string; readonly claim: FileClaim }> {
  for (;;) {
    const time = Date.now().toString(36).padStart(10, "0");
    const own = session === undefined ? randomBytes(4).toString("hex") : shortHash(session);
    const path = join(workspace, `${time}-${own}`);
    const made = await mkdir(path, { mode: 0o700 }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === "EEXIST") return false;
        throw error;
      },
    );
    // somebody who removes old sessions may be faster
    const claim = made ? claimFolder(path) : undefined;
    if (claim !== undefined) return { path, claim };
  }
}

interface Stored {
  readonly path: string;
  /** When it was opened or closed last. */
  readonly usedAt: number;
}

/** The oldest first. */
async function sessionsOf(workspace: string): Promise<Stored[]> {
  const found: Stored[] = [];
  for (const name of await readdir(workspace)) {
    const path = join(workspace, name);
    // its removal was cut off
    if (name.endsWith(".removed")) await rm(path, { recursive: true, force: true });
    const facts = await stat(path).catch(() => undefined);
    if (facts?.isDirectory() === true) found.push({ path, usedAt: facts.mtimeMs });
  }
  return found.sort((one, other) => one.usedAt - other.usedAt || (one.path < other.path ? -1 : 1));
}

async function removeOldSessions(workspace: string, storedBytes: number): Promise<void> {
  const sessions: (Stored & { readonly bytes: number; readonly isRunning: boolean })[] = [];
  for (const session of await sessionsOf(workspace)) {
    const isRunning = isFolderClaimed(session.path);
    if (!isRunning) await removePending(session.path);
    sessions.push({ ...session, isRunning, bytes: await sizeOf(session.path) });
  }
  let bytes = sessions.reduce((sum, session) => sum + session.bytes, 0);
  let count = sessions.length;
  for (const session of sessions) {
    if (bytes <= storedBytes && count <= maxSessions) return;
    if (session.isRunning || !(await removeSession(session.path))) continue;
    bytes -= session.bytes;
    count -= 1;
  }
}

/** Removes what nobody used for long, in all workspaces. */
async function sweep(home: string): Promise<void> {
  const mark = join(home, "swept");
  const last = await stat(mark).catch(() => undefined);
  if (last !== undefined && Date.now() - last.mtimeMs < sweepMs) return;
  await writeFile(mark, "");
  for (const entry of await readdir(home, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const workspace = join(home, entry.name);
    for (const { path, usedAt } of await sessionsOf(workspace).catch(() => [])) {
      if (Date.now() - usedAt > maxAgeMs) await removeSession(path);
    }
  }
}

/** At once for others, so that nobody opens half a session. */
async function removeSession(path: string): Promise<boolean> {
  if (claimFolder(path) === undefined) return false;
  await removePending(path);
  await rename(path, `${path}.removed`);
  await rm(`${path}.removed`, { recursive: true, force: true });
  return true;
}

/** Removes the temporary file of an undo that was cut off. */
async function removePending(session: string): Promise<void> {
  const file = await readFile(join(session, "pending")).catch(() => undefined);
  if (file === undefined || !/\.parley-[0-9a-f]{12}\.tmp$/.test(file.toString("latin1"))) return;
  const { atime, mtime } = await stat(session);
  await unlink(file).catch(() => undefined); // it was not made yet
  await rm(join(session, "pending"), { force: true });
  // nobody has used the session
  await utimes(session, atime, mtime).catch(() => undefined);
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
