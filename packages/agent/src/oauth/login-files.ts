// Stores the logins to MCP servers, one file each, which only its owner can read. Several processes use them at the same time.

import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { isObject } from "@parley/acp/jsonrpc";
import { replaceFileSync } from "@parley/acp/node";
import { withFileLock } from "./file-lock.ts";

/** What a login gave, and what its renewal needs. */
export interface LoginRecord {
  /** The address of the MCP server. */
  readonly url: string;
  readonly client: StoredOAuthClientInformation;
  readonly tokens: StoredOAuthTokens;
  /** When the access token ends, in milliseconds since 1970. */
  readonly expiresAt?: number;
  /** Where the authorisation server is. */
  readonly discovery: OAuthDiscoveryState;
}

export interface LoginFiles {
  read(url: string): LoginRecord | undefined;
  write(record: LoginRecord): void;
  /** False when there was none. */
  remove(url: string): boolean;
  /** Runs the work while no other process works on this login. */
  locked<Result>(url: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

const version = 1;

/** `folder` is an absolute path to a folder of the user. */
export function loginFiles(folder: string): LoginFiles {
  const fileOf = (url: string) => join(folder, `${sha256(loginKey(url)).slice(0, 32)}.json`);
  return {
    read(url) {
      const record = readRecord(fileOf(url));
      return record?.url === loginKey(url) ? record : undefined;
    },
    write(record) {
      const whole = { version, ...record, url: loginKey(record.url) };
      replaceFileSync(fileOf(record.url), `${JSON.stringify(whole)}\n`);
    },
    remove(url) {
      const file = fileOf(url);
      const isThere = statSync(file, { throwIfNoEntry: false }) !== undefined;
      rmSync(file, { force: true });
      return isThere;
    },
    async locked(url, work, signal) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return withFileLock(`${fileOf(url)}.lock`, work, signal);
    },
  };
}

/** The address of a server as the key of its login. */
function loginKey(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  parsed.hash = "";
  return parsed.href;
}

/** A malformed file counts as none; the next login overwrites it. */
function readRecord(file: string): LoginRecord | undefined {
  try {
    // the file may have been copied with a wider mode
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (!isObject(value) || value["version"] !== version || typeof value["url"] !== "string")
      return undefined;
    const { client, tokens, discovery } = value;
    const isWhole =
      isObject(client) &&
      typeof client["client_id"] === "string" &&
      isObject(tokens) &&
      typeof tokens["access_token"] === "string" &&
      isObject(discovery) &&
      typeof discovery["authorizationServerUrl"] === "string";
    // as: this version writes these
    return isWhole ? (value as unknown as LoginRecord) : undefined;
  } catch {
    // an error of JSON.parse would quote tokens
    return undefined;
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
