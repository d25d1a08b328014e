// Stores sessions in a SQLite file that many processes can share.

import { isAbsolute } from "node:path";
import { checkOptions } from "../../base/known-options.ts";
import { sqliteStoreKeys } from "../../base/option-keys.gen.ts";
import { argumentText } from "../../jsonrpc/errors.ts";
import type { Claim } from "../../model/store.ts";
import { newEntries } from "./new-entry.ts";
import type { OpenStore } from "./open-store.ts";
import type { SqliteStore, SqliteStoreOptions } from "./store-options.ts";

/**
 * Creates a store of sessions in a SQLite file that many processes can share. The file is opened with the first call.
 * Before Node 24, SQLite prints an ExperimentalWarning.
 *
 * @param given - The absolute path of the file, or options.
 * @throws {TypeError} When the path is not absolute, or an option is unknown.
 *
 * @example
 * import { agent } from "@parley/acp";
 * import { sqliteStore } from "@parley/acp/node";
 *
 * const store = sqliteStore("/var/lib/my-agent/sessions.db");
 * agent({ name: "my-agent", version: "1.0.0", prompt: () => undefined, session: { store } });
 */
export function sqliteStore(given: string | SqliteStoreOptions): SqliteStore {
  const options = typeof given === "string" ? { path: given } : given;
  checkPath(options?.path);
  checkOptions("sqliteStore", options, sqliteStoreKeys);
  const held = new Map<string, Claim>();
  let opening: Promise<OpenStore> | undefined;
  let current: OpenStore | undefined;
  let isClosed = false;
  let closing: Promise<void> | undefined;

  async function open(): Promise<OpenStore> {
    if (isClosed) throw new Error("the session store is closed");
    // synchronously when it is open, so that calls of one turn share a transaction
    if (current?.isBroken === false) return current;
    current?.followers.close();
    opening ??= import("./open-store.ts").then(({ openStore }) => openStore(options));
    try {
      current = await opening;
      return current;
    } finally {
      opening = undefined;
    }
  }

  /** Closes after all earlier calls. */
  async function close(): Promise<void> {
    const last = current === undefined && opening === undefined ? undefined : open();
    isClosed = true;
    const store = await last;
    try {
      if (held.size > 0) await store?.release([...held.values()]);
    } finally {
      await store?.close();
    }
  }

  function closeOnce(): Promise<void> {
    closing ??= close();
    return closing;
  }

  /** Remembers the claim, to release it when the store is closed. */
  function holding(claim: Claim): Claim {
    held.set(claim.sessionId, claim);
    return claim;
  }

  return {
    async open() {
      await open();
    },
    async create(record, claimOptions = {}) {
      const copy = copyOf(record);
      return holding(await (await open()).create(copy, { ...claimOptions }));
    },
    async get(sessionId) {
      return (await open()).get(sessionId);
    },
    async find(agent, agentSessionId) {
      return (await open()).find(agent, agentSessionId);
    },
    async patch(sessionId, patch) {
      const copy = copyOf(patch);
      await (await open()).patch(sessionId, copy);
    },
    async list(query = {}) {
      const copy = copyOf(query);
      return (await open()).list(copy);
    },
    async fork(sessionId, record, forkOptions = {}) {
      const copy = copyOf(record);
      return holding(await (await open()).fork(sessionId, copy, { ...forkOptions }));
    },
    async delete(sessionId, claim) {
      await (await open()).delete(sessionId, claim);
      held.delete(sessionId);
    },
    async claim(sessionId, claimOptions = {}) {
      return holding(await (await open()).claim(sessionId, { ...claimOptions }));
    },
    async renew(claim, leaseMs) {
      return (await open()).renew({ ...claim }, leaseMs);
    },
    async release(claim) {
      await (await open()).release([{ ...claim }]);
      if (held.get(claim.sessionId)?.epoch === claim.epoch) held.delete(claim.sessionId);
    },
    async append(claim, after, entries, appendOptions = {}) {
      const copy = newEntries(entries);
      const { state, settles, ...rest } = appendOptions;
      const copied = { ...rest, state: state && copyOf(state), settles: settles && copyOf(settles) };
      await (await open()).append({ ...claim }, after, copy, copied);
    },
    async *read(sessionId, range = {}) {
      yield* (await open()).read(sessionId, { ...range });
    },
    async *tail(sessionId, cursor, { signal } = {}) {
      yield* (await open()).followers.tail(sessionId, cursor, signal);
    },
    async submit(sessionId, command, check) {
      const copy = copyOf(command);
      return (await open()).submit(sessionId, copy, check);
    },
    async *commands(sessionId, { signal } = {}) {
      yield* (await open()).followers.commands(sessionId, signal);
    },
    async *changes({ signal } = {}) {
      yield* (await open()).followers.changes(signal);
    },
    async seen(sessionId, principal, seq) {
      return (await open()).seen(sessionId, principal, seq);
    },
    async search(query, searchOptions = {}) {
      return (await open()).search(query, { ...searchOptions });
    },
    async verify() {
      return (await open()).verify();
    },
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  };
}

/** A relative path would mean another file after each change of directory. */
function checkPath(path: unknown): void {
  if (typeof path === "string" && isAbsolute(path) && !path.includes("\0")) return;
  const hint = path === ":memory:" ? "; use memoryStore() for a store in memory" : "";
  throw new TypeError(`sqliteStore: expected the absolute path of a file, got ${argumentText(path)}${hint}`);
}

function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
