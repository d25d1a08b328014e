// Errors of file operations for the peer, which contain the caller's path but never the target of a link.

import type { RequestErrorKind } from "../../jsonrpc/error-kinds.ts";
import { ConnectionError, RequestError } from "../../jsonrpc/errors.ts";

const kinds: Readonly<Record<FileErrorReason, RequestErrorKind>> = {
  invalid_path: "invalid_params",
  invalid_argument: "invalid_params",
  not_a_file: "invalid_params",
  not_a_directory: "invalid_params",
  not_found: "not_found",
  permission_denied: "permission_denied",
  outside_workspace: "outside_workspace",
  not_text: "not_text",
  limit_exceeded: "limit_exceeded",
  conflict: "conflict",
  unavailable: "unavailable",
};

/** Why a file operation was refused. */
export type FileErrorReason =
  | "invalid_path"
  | "invalid_argument"
  | "not_a_file"
  | "not_a_directory"
  | "not_found"
  | "permission_denied"
  | "outside_workspace"
  | "not_text"
  | "limit_exceeded"
  | "conflict"
  | "unavailable";

/** The `data` of every RequestError that files reject with. */
export interface FileErrorData {
  /** The reason of the failure. */
  readonly reason: FileErrorReason;
  /** The caller's path, shortened in the middle if it is very long. Absent when it is not a path. */
  readonly file?: string;
}

export function fileError(reason: FileErrorReason, message: string, path?: string): RequestError {
  const data: FileErrorData = path === undefined ? { reason } : { reason, file: shortened(path) };
  return new RequestError(kinds[reason], message, { data });
}

const reasonOf: Readonly<Record<string, FileErrorReason>> = {
  ENOENT: "not_found",
  EACCES: "permission_denied",
  EPERM: "permission_denied",
  EROFS: "permission_denied",
  ENOTDIR: "not_a_directory",
  EISDIR: "not_a_file",
  ENXIO: "not_a_file",
  ENAMETOOLONG: "invalid_path",
  ELOOP: "outside_workspace",
  ENOSPC: "limit_exceeded",
  EDQUOT: "limit_exceeded",
  EFBIG: "limit_exceeded",
  EEXIST: "conflict",
  ENOTEMPTY: "conflict",
  ESTALE: "conflict",
  EXDEV: "unavailable",
  EINVAL: "invalid_argument",
};

const explanations: Readonly<Record<string, string>> = {
  // agents look for the word ENOENT before they create a file
  ENOENT: "ENOENT, no such file or directory",
  EACCES: "EACCES, the system does not permit it to this user",
  EPERM: "EPERM, the system does not permit it",
  EROFS: "EROFS, the file system is read-only",
  ENOTDIR: "ENOTDIR, a part of the path is not a directory",
  EISDIR: "EISDIR, it is a directory; name a file in it",
  ENOSPC: "ENOSPC, no space is left; free some and try again",
  EDQUOT: "EDQUOT, the quota is used up; free some space and try again",
  ENOTEMPTY: "ENOTEMPTY, it contains others; remove those first, or everything at once",
  EXDEV: "EXDEV, it is on another file system; copy it, then remove the old one",
  EINVAL: "EINVAL, the system does not accept it; a directory cannot be moved into itself",
  EEXIST: "EEXIST, something else was created there meanwhile; read it, then try again",
};

/** The code of a failed system call, such as "ENOENT". */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("syscall" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export type FileAction = "read" | "write" | "stat" | "list" | "remove" | "move";

/** Converts a failed system call to an error for the peer. Returns anything else unchanged. */
export function fileErrorFrom(error: unknown, action: FileAction, path: string): unknown {
  const code = systemCode(error);
  if (code === undefined) return error;
  // writing creates directories, so one was removed meanwhile
  if (code === "ENOENT" && action === "write") {
    const message = `cannot write ${quotedPath(path)}: its directory was removed meanwhile; try again`;
    return fileError("conflict", message, path);
  }
  const explanation = explanations[code] ?? `${code}, try again or use another path`;
  return fileError(
    reasonOf[code] ?? "unavailable",
    `cannot ${action} ${quotedPath(path)}: ${explanation}`,
    path,
  );
}

// control and bidirectional characters, which must not reach a log or a terminal
const unsafe = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const shownLength = 300;

/** Keeps error data below 1 KiB. */
function shortened(path: string): string {
  const half = shownLength / 2;
  return path.length > shownLength ? `${path.slice(0, half)}...${path.slice(-half)}` : path;
}

/** Quotes, escapes and shortens a path for a message. */
export function quotedPath(path: string): string {
  return JSON.stringify(shortened(path)).replaceAll(
    unsafe,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Throws the same error as an aborted request to a peer. */
export function throwIfAborted(signal: AbortSignal | undefined, path: string): void {
  if (!signal?.aborted) return;
  throw new ConnectionError("aborted", `${quotedPath(path)}: aborted`, {
    cause: signal.reason,
  });
}
