// Claims of processes on files: each names its process by pid, start time and boot, because pids are reused.

import { createHash, randomUUID } from "node:crypto";
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { systemCode } from "./files/file-error.ts";
import { isRunning, statOf } from "./process-tree.ts";

/** Identifies a process, because pids alone are reused. */
export interface Claimant {
  readonly pid: number;
  /** Boot id and clock ticks since boot as `BOOT/TICKS`, or "" where unknown. */
  readonly started: string;
}

let own: Claimant | undefined;

export function thisProcess(): Claimant {
  own ??= { pid: process.pid, started: startOfThisProcess() };
  return own;
}

export function isAlive({ pid, started }: Claimant): boolean {
  if (started !== "") {
    const [boot = "", ticks = ""] = started.split("/");
    const now = bootId();
    // an unreadable boot id must not make a live process look dead
    const isThisBoot = shortBoot(boot) === shortBoot(now) || boot === "" || now === "";
    return isThisBoot && isRunning({ pid, started: ticks });
  }
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: a live process of another user
    return systemCode(error) === "EPERM";
  }
}

function startOfThisProcess(): string {
  const stat = statOf("self");
  return typeof stat === "object" ? `${bootId()}/${stat.started}` : "";
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    // hidden by a sandbox, or out of descriptors
    return "";
  }
}

/** Enough beside the pid and the start. */
function shortBoot(boot: string): string {
  return boot.slice(0, 8);
}

/**
 * Names this process in a way that no later process repeats: `PID.START.BOOT`, or only `PID` where the system does not
 * tell the start. It consists of letters, digits and dots, so it may be part of a file name.
 *
 * @example
 * import { processKey } from "@parley/acp/node";
 *
 * export const fileOfThisProcess = `drafts/${processKey()}.txt`;
 */
export function processKey(): string {
  const { pid, started } = thisProcess();
  const [boot = "", ticks] = started.split("/");
  return ticks === undefined ? `${pid}` : `${pid}.${ticks}.${shortBoot(boot)}`;
}

/**
 * Says whether the process of a key still runs. A zombie does not. Where nothing tells the start of a process, any
 * process with its pid counts.
 *
 * @param key - A result of `processKey()`, also of another process, or a pid.
 *
 * @example
 * import { isProcessRunning, processKey } from "@parley/acp/node";
 *
 * console.log(isProcessRunning(processKey())); // true
 */
export function isProcessRunning(key: string): boolean {
  const [, pid = "", ticks, boot = ""] = /^([1-9]\d{0,9})(?:\.(\d+)\.([\da-f]*))?$/.exec(key) ?? [];
  return pid !== "" && isAlive({ pid: Number(pid), started: ticks === undefined ? "" : `${boot}/${ticks}` });
}

/** A file that belongs to this process until `release()`. */
export interface FileClaim {
  /** Removes the file. */
  release(): void;
}

/** Attempts, each of which lost against another process. */
const maxAttempts = 5;

/**
 * Claims a file: creates it with the name of this process, so that other processes do not get it. The claim of a process
 * that has ended is taken over.
 *
 * @param path - The path of the file. Its folder must exist.
 * @returns Undefined if a running process has the claim, also this one.
 * @throws {Error} A system error when the file cannot be created.
 *
 * @example
 * import { claimFile } from "@parley/acp/node";
 *
 * const claim = claimFile("/var/lib/my-app/owner");
 * if (claim === undefined) console.error("my-app is already running.");
 * process.once("exit", () => claim?.release());
 */
export function claimFile(path: string): FileClaim | undefined {
  // unique, so that an abandoned claim never appears a second time
  const text = `${processKey()} ${randomUUID()}\n`;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    if (putNew(path, text)) return { release: () => removeIf(path, text) };
    const found = contentOf(path);
    // released meanwhile
    if (found === undefined) continue;
    if (isHeld(path, found)) return undefined;
    // The process that ended cannot remove it any more. Only the holder of this claim may, and it looks again: a file with
    // another content belongs to a process that was faster.
    const guard = claimFile(`${path}.${createHash("sha256").update(found).digest("hex").slice(0, 16)}`);
    if (guard === undefined) continue;
    removeIf(path, found);
    guard.release();
  }
  return undefined;
}

/**
 * Says whether a running process has claimed the file, also this one.
 *
 * @param path - The path that was given to `claimFile()`.
 *
 * @example
 * import { isFileClaimed } from "@parley/acp/node";
 *
 * if (isFileClaimed("/var/lib/my-app/owner")) console.log("my-app is running.");
 */
export function isFileClaimed(path: string): boolean {
  const found = contentOf(path);
  return found !== undefined && isHeld(path, found);
}

/** On a file system without links, a new file is empty until its process has written it. */
const writtenWithinMs = 5_000;

function isHeld(path: string, content: string): boolean {
  if (content !== "") return isProcessRunning(content.split(/\s/, 1)[0] ?? "");
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < writtenWithinMs;
}

/** The file appears with its content, so that nobody takes an empty one for abandoned. Returns whether none was there. */
function putNew(path: string, text: string): boolean {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(systemCode(error) ?? "")) throw error;
    return putWithoutLinks(path, text);
  } finally {
    rmSync(draft, { force: true });
  }
}

function putWithoutLinks(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

function removeIf(path: string, content: string): void {
  if (contentOf(path) === content) rmSync(path, { force: true });
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}
