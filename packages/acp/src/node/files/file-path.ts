// Checks a peer's path and splits it into names, with `..` resolved, without looking anything up.

import { fileError, quotedPath } from "./file-error.ts";

export interface FilePath {
  /** As the caller wrote it. */
  readonly text: string;
  /** From the top of the file system, without `.` and `..`. On Windows the first is the drive or the host. */
  readonly names: readonly string[];
  /** Whether it ends in a separator or a dot, so that it can only be a directory. */
  readonly directory: boolean;
}

const maxPathBytes = 4095;
const maxNameBytes = 255;

/** Applies the rules of `platform`. Throws invalid_path or outside_workspace. */
export function parseFilePath(text: unknown, platform: string = process.platform): FilePath {
  const path = checkedText(text);
  const windows = platform === "win32";
  if (windows) refuseDevicePath(path);
  const prefix = windows
    ? /^(?:[a-z]:(?=[\\/])|[\\/]{2}[^\\/]+)/i.exec(path)?.[0]
    : path[0] === "/"
      ? ""
      : undefined;
  if (prefix === undefined) throw relativePath(path);
  const parts = path.slice(prefix.length).split(windows ? /[\\/]/ : "/");
  const names: string[] = [];
  for (const part of parts) {
    if (part === "" || part === ".") continue;
    if (part === "..") names.pop();
    else names.push(part);
  }
  for (const name of names) checkName(name, path, windows);
  const last = parts.at(-1) ?? "";
  const directory = last === "" || last === "." || last === "..";
  return { text: path, names: prefix === "" ? names : [prefix, ...names], directory };
}

function checkedText(text: unknown): string {
  if (typeof text !== "string") {
    throw fileError("invalid_path", `a path must be a string, got ${text === null ? "null" : typeof text}`);
  }
  if (text === "") throw fileError("invalid_path", "a path must not be empty; give an absolute path");
  if (Buffer.byteLength(text) > maxPathBytes) {
    const got = `got ${Buffer.byteLength(text)}: ${quotedPath(text)}`;
    throw fileError("invalid_path", `a path must have at most ${maxPathBytes} bytes, ${got}`);
  }
  if (text.includes("\0"))
    throw fileError("invalid_path", `a path must not contain NUL, got ${quotedPath(text)}`);
  if (!text.isWellFormed()) {
    throw fileError(
      "invalid_path",
      `a path must be valid Unicode, got half a surrogate pair in ${quotedPath(text)}`,
    );
  }
  return text;
}

function relativePath(path: string): Error {
  if (/^file:/i.test(path)) {
    const advice = "use the path itself, decoded and without the scheme";
    return fileError("invalid_path", `a path must not be a URL, got ${quotedPath(path)}; ${advice}`);
  }
  const advice = path.startsWith("~")
    ? "~ is not expanded, write the home directory out"
    : "put the session's working directory in front";
  return fileError("invalid_path", `a path must be absolute, got ${quotedPath(path)}; ${advice}`);
}

function checkName(name: string, path: string, windows: boolean): void {
  if (Buffer.byteLength(name) > maxNameBytes) {
    const got = `got ${Buffer.byteLength(name)} bytes: ${quotedPath(name)}`;
    throw fileError("invalid_path", `a name in a path must have at most ${maxNameBytes} bytes, ${got}`);
  }
  if (!windows) return;
  // streams, wildcards, a drive in the middle, endings that Windows drops, and device names
  const rewritten = /[:*?"<>|]|[. ]$/.test(name) || [...name].some((character) => character < " ");
  if (rewritten || deviceName.test(name)) {
    throw fileError(
      "invalid_path",
      `${quotedPath(name)} in ${quotedPath(path)} is not a valid file name on Windows`,
    );
  }
  // a short name would bypass rules for the file's long name
  if (/~\d/.test(name)) {
    const advice = "use the long name";
    throw fileError(
      "outside_workspace",
      `${quotedPath(path)} may be a short name on Windows; ${advice}`,
      path,
    );
  }
}

const deviceName = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d\u00b9\u00b2\u00b3])(?:\.|$)/i;

function refuseDevicePath(path: string): void {
  if (!/^[\\/]{2}[?.][\\/]/.test(path)) return;
  const message = `${quotedPath(path)} names a device or turns path rules off; use a plain path below a root`;
  throw fileError("outside_workspace", message, path);
}
