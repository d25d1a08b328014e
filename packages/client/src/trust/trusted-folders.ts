// Remembers the folders that the user trusts, with the content that was trusted. One file for each, so that processes do not disturb each other.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { isObject } from "@parley/acp/jsonrpc";
import { replaceFileSync } from "@parley/acp/node";
import type { WorkspaceItem, WorkspaceSettings } from "./workspace-settings.ts";

/** What the user has decided about the settings of a folder. */
export interface FolderTrust {
  /**
   * `nothing`: the folder has no settings. `trusted`: its settings may be used. `new`: the user has not been asked.
   * `changed`: the folder or its settings are not those that the user trusted.
   */
  readonly state: "nothing" | "trusted" | "new" | "changed";
  /** For `changed`: items that are new or were changed. Empty if it is another folder at the same path. */
  readonly changed: readonly WorkspaceItem[];
  /** For `changed`: items that are gone. */
  readonly gone: readonly Pick<WorkspaceItem, "file" | "what">[];
}

/** A folder that the user trusts. */
export interface TrustedFolder {
  /** Its path, with links resolved. */
  readonly folder: string;
  /** When it was trusted. */
  readonly since: Date;
}

/** The user's decision about one item of a folder, such as an MCP server. */
export type ItemDecision = "always" | "never";

/** The folders that the user trusts. */
export interface TrustedFolders {
  /** Compares the settings of a folder with those that were trusted. */
  check(settings: WorkspaceSettings): FolderTrust;
  /** Trusts exactly these settings of this folder, until it is revoked. */
  trust(settings: WorkspaceSettings): void;
  /**
   * The user's decision about one item of a folder, as it is now. Undefined if the user did not decide, and if the item or
   * the folder is another one.
   */
  decision(settings: WorkspaceSettings, item: WorkspaceItem): ItemDecision | undefined;
  /** Remembers a decision about exactly this item of this folder, until it is revoked. */
  decide(settings: WorkspaceSettings, item: WorkspaceItem, decision: ItemDecision): void;
  /** Forgets the trust in a folder and the decisions about its items. Returns false if there was nothing to forget. */
  revoke(folder: string): boolean;
  /** Returns all trusted folders by their path. */
  list(): readonly TrustedFolder[];
}

interface TrustRecord {
  readonly folder: string;
  readonly since: number;
  readonly identity: WorkspaceSettings["identity"];
  readonly items: readonly ItemSummary[];
}

type ItemSummary = readonly [file: string, what: string, hash: string];

const version = 2;
/** The oldest ones beyond this are forgotten. */
const maxFolders = 1_000;
const longestWhat = 300;

/**
 * Opens the list of trusted folders, which several processes may use at the same time.
 *
 * @param stateFolder - An absolute path to a folder of your app that no agent may write to.
 * @throws {TypeError} When the path is not absolute.
 *
 * @example
 * import { trustedFolders, workspaceSettings } from "@parley/client/trust";
 *
 * const folders = trustedFolders("/var/lib/my-app/trust");
 * const settings = workspaceSettings(process.cwd());
 * const { state } = folders.check(settings);
 * if (state === "new" || state === "changed") console.log("Ask the user, then call folders.trust(settings).");
 * export const mcpServers = state === "trusted" ? settings.mcpServers : [];
 */
export function trustedFolders(stateFolder: string): TrustedFolders {
  if (typeof stateFolder !== "string" || resolve(stateFolder) !== stateFolder.replace(/(?<=.)\/$/, ""))
    throw new TypeError(`trustedFolders: expected an absolute path, got ${JSON.stringify(stateFolder)}`);
  const fileOf = (folder: string) => join(stateFolder, `${sha256(folder).slice(0, 32)}.json`);
  const decisionsOf = (folder: string) => join(stateFolder, `${sha256(folder).slice(0, 32)}.items`);
  const write = (file: string, content: object) => replaceFileSync(file, JSON.stringify(content));
  return {
    check(settings) {
      const none = { changed: [], gone: [] };
      if (settings.items.length === 0) return { state: "nothing", ...none };
      const record = readRecord(fileOf(settings.folder));
      if (record?.folder !== settings.folder) return { state: "new", ...none };
      if (isSame(record.identity, settings.identity)) return { state: "trusted", ...none };
      return { state: "changed", ...differences(record, settings) };
    },
    trust(settings) {
      const { folder, identity, items } = settings;
      const record: TrustRecord = { folder, since: Date.now(), identity, items: items.map(summaryOf) };
      write(fileOf(folder), { parley: "trust", version, ...record });
      forgetOldest(stateFolder);
    },
    decision(settings, item) {
      const { items } = readDecisions(decisionsOf(settings.folder), settings);
      const found = items[summaryOf(item)[2]];
      return found === "always" || found === "never" ? found : undefined;
    },
    decide(settings, item, decision) {
      const { folder, identity } = settings;
      const { items } = readDecisions(decisionsOf(folder), settings);
      const { device, inode } = identity;
      const kept = Object.fromEntries([...Object.entries(items), [summaryOf(item)[2], decision]]);
      write(decisionsOf(folder), { parley: "decisions", version, folder, device, inode, items: kept });
    },
    revoke(folder) {
      const paths = [resolve(folder), realPath(folder)];
      const files = [
        ...recordsIn(stateFolder).flatMap(({ file, record }) =>
          paths.includes(record.folder) ? [file] : [],
        ),
        ...paths.map(decisionsOf).filter((file) => existsSync(file)),
      ];
      for (const file of files) rmSync(file, { force: true });
      return files.length > 0;
    },
    list: () =>
      recordsIn(stateFolder)
        .map(({ record: { folder, since } }) => ({ folder, since: new Date(since) }))
        .sort((a, b) => (a.folder < b.folder ? -1 : 1)),
  };
}

function summaryOf({ file, what, details }: WorkspaceItem): ItemSummary {
  return [file, what.slice(0, longestWhat), sha256(JSON.stringify([file, what, details]))];
}

function isSame(a: WorkspaceSettings["identity"], b: WorkspaceSettings["identity"]): boolean {
  return a.device === b.device && a.inode === b.inode && a.content === b.content;
}

function differences(
  { items: before }: TrustRecord,
  { items }: WorkspaceSettings,
): Pick<FolderTrust, "changed" | "gone"> {
  const hashes = new Set(before.map(([, , hash]) => hash));
  const nameOf = (file: string, what: string): string => `${file} ${what}`;
  const now = new Set(items.map(summaryOf).map(([file, what]) => nameOf(file, what)));
  return {
    changed: items.filter((item) => !hashes.has(summaryOf(item)[2])),
    gone: before
      .filter(([file, what]) => !now.has(nameOf(file, what)))
      .map(([file, what]) => ({ file, what })),
  };
}

/** Undefined if there is none, or none of this version: then the user is asked again. */
function readRecord(file: string): TrustRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
  if (!isObject(value) || value["parley"] !== "trust" || value["version"] !== version) return undefined;
  const { folder, since, identity, items } = value;
  const isWhole =
    typeof folder === "string" && typeof since === "number" && isObject(identity) && Array.isArray(items);
  // as: this version writes these
  return isWhole ? (value as unknown as TrustRecord) : undefined;
}

/** By the hash of an item. Empty for another folder at the same path. */
function readDecisions(
  file: string,
  { folder, identity: { device, inode } }: WorkspaceSettings,
): { readonly items: Readonly<Record<string, unknown>> } {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    const isOfFolder =
      isObject(value) && value["folder"] === folder && value["device"] === device && value["inode"] === inode;
    if (isOfFolder && value["version"] === version && isObject(value["items"]))
      return { items: value["items"] };
  } catch {
    // nothing is decided yet
  }
  return { items: {} };
}

function recordsIn(stateFolder: string): { readonly file: string; readonly record: TrustRecord }[] {
  let names: string[];
  try {
    names = readdirSync(stateFolder);
  } catch {
    // nothing is trusted yet
    return [];
  }
  return names
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => {
      const file = join(stateFolder, name);
      const record = readRecord(file);
      return record === undefined ? [] : [{ file, record }];
    });
}

function forgetOldest(stateFolder: string): void {
  const names = readdirSync(stateFolder);
  if (names.length <= maxFolders) return;
  const records = recordsIn(stateFolder).sort((a, b) => b.record.since - a.record.since);
  for (const { file } of records.slice(maxFolders)) rmSync(file, { force: true });
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    // it is gone
    return resolve(folder);
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
