// The errors of the store: RequestError for temporary problems, StoreError for those that the user has to fix.

import { RequestError } from "../../jsonrpc/errors.ts";

/** Why a store cannot be used. More kinds may be added: give a switch over it a `default:`. */
export type StoreErrorKind = "missing" | "foreign" | "damaged" | "newer" | "inaccessible";

/** The file or one session in it cannot be used; the message names the file and says what to do. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly kind: StoreErrorKind;
  readonly path: string;
  /** Set when only this session is damaged. */
  readonly sessionId: string | undefined;

  constructor(
    kind: StoreErrorKind,
    path: string,
    message: string,
    details: { readonly cause?: unknown; readonly sessionId?: string } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.path = path;
    this.sessionId = details.sessionId;
  }
}

// Primary result codes, https://www.sqlite.org/rescode.html
const codes = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const;

/** The primary result code of a SQLite error, or undefined. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number")
    return undefined;
  return error.errcode & 0xff;
}

/** Whether the connection cannot be trusted any more: a read, write or fsync has failed. */
export function breaksConnection(error: unknown): boolean {
  return resultCode(error) === codes.ioError;
}

export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === codes.busy || code === codes.locked;
}

const freeSpace = "free some space, then try again";

/** Converts errors of SQLite and the file system; returns others unchanged. */
export function translated(error: unknown, path: string): unknown {
  if (isFileError(error)) return fileError(error, path);
  switch (resultCode(error)) {
    case codes.busy:
    case codes.locked:
      return unavailable("another process keeps the session store locked: try again", "busy", error);
    case codes.full:
      return unavailable(`the session store is full, nothing was stored: ${freeSpace}`, "no_space", error);
    case codes.ioError:
      return unavailable("the session store could not be read or written: try again", "io_error", error);
    case codes.corrupt:
      return damagedFile(path, error);
    case codes.notADatabase:
      return new StoreError(
        "foreign",
        path,
        `${path} is not a session store: it is not a SQLite database, or its beginning was overwritten. Move it away ` +
          "or give another path; if it was a store, put a backup in its place",
        { cause: error },
      );
    case codes.readOnly:
    case codes.cannotOpen:
      return inaccessible(path, messageOf(error), error);
    default:
      return error;
  }
}

function damagedFile(path: string, cause: unknown): StoreError {
  return new StoreError(
    "damaged",
    path,
    `the session store ${path} is damaged (${messageOf(cause)}): stop what uses it, keep a copy, then put a backup in ` +
      `its place or save what can be read with: sqlite3 ${path} .recover`,
    { cause },
  );
}

export function inaccessible(path: string, problem: string, cause?: unknown): StoreError {
  const message =
    `the session store ${path} cannot be used (${problem}): it must be a file, and this user must be able to ` +
    "write it and its directory";
  return new StoreError("inaccessible", path, message, { cause });
}

function fileError(error: NodeJS.ErrnoException, path: string): Error {
  if (error.code === "ENOSPC" || error.code === "EDQUOT") {
    return unavailable(`there is no space for the session store: ${freeSpace}`, "no_space", error);
  }
  return inaccessible(path, error.message, error);
}

export function unavailable(message: string, reason: string, cause?: unknown): RequestError {
  return new RequestError("unavailable", message, { data: { reason }, cause });
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "code" in error;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
