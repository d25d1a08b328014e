// Who uses a folder of ours: one process at a time. The claim of a process that is gone counts no more.

import { randomBytes } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Says whether the folder is ours now. It is not if a process uses it, this one too, or if the folder is gone. */
export async function claim(folder: string): Promise<boolean> {
  const owner = ownerOf(folder);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const problem = await putNew(owner, `${process.pid} ${await startOf(process.pid)}\n`);
    if (problem === undefined) return true;
    if (problem === "ENOENT") return false;
    const holder = await readFile(owner, "utf8").catch(() => undefined);
    if (holder === undefined) continue;
    if (await isAlive(holder)) return false;
    // of two that see a dead one, the second may take away the new claim of the first: it gives it back
    const taken = `${owner}.${randomBytes(6).toString("hex")}`;
    if (!(await succeeds(rename(owner, taken)))) continue;
    const isTheDead = (await readFile(taken, "utf8").catch(() => "")) === holder;
    if (!isTheDead) await succeeds(link(taken, owner));
    await rm(taken, { force: true });
    if (!isTheDead) return false;
  }
  return false;
}

export async function release(folder: string): Promise<void> {
  await rm(ownerOf(folder), { force: true });
}

export async function isClaimed(folder: string): Promise<boolean> {
  return isAlive(await readFile(ownerOf(folder), "utf8").catch(() => ""));
}

function ownerOf(folder: string): string {
  return join(folder, "owner");
}

/** Puts a whole file where none may be. Gives the code of the error if one is there, or no folder. */
async function putNew(file: string, text: string): Promise<string | undefined> {
  const temporary = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(temporary, text, { mode: 0o600 });
    await link(temporary, file);
    return undefined;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException; // what node:fs throws
    if (code === "EEXIST" || code === "ENOENT") return code;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error;
    // a file system without links
    return (await succeeds(writeFile(file, text, { mode: 0o600, flag: "wx" }))) ? undefined : "EEXIST";
  } finally {
    await rm(temporary, { force: true });
  }
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

async function isAlive(holder: string): Promise<boolean> {
  const [number = "", started = ""] = holder.trim().split(" ");
  const pid = Number(number);
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what process.kill throws
    if (code !== "EPERM") return false; // otherwise it is somebody else's process
  }
  // numbers are used again
  const now = await startOf(pid);
  return started === "" || now === "" || now === started;
}

/** When a process started, where the system says so. */
async function startOf(pid: number): Promise<string> {
  const facts = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  // the name, in brackets, may hold blanks
  return facts.slice(facts.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}
