// A database connection with prepared statements and a queue of changes.

import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import { RequestError } from "../../jsonrpc/errors.ts";
import { checkVersion } from "./schema.ts";
import { breaksConnection, isBusy, StoreError, translated, unavailable } from "./store-error.ts";
import { checkSameFile, type FileIdentity, identityOf, synced, unsynced } from "./store-file.ts";

/** The values of a row, in the order of the columns that were selected. */
export type List = readonly (SQLOutputValue | undefined)[];

export type Row = Record<string, SQLOutputValue>;

interface Change {
  /** May throw RequestError or StoreError, but only before it has written anything. May be run again. */
  readonly make: () => unknown;
  readonly isSynced: boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How a store uses its file. */
export interface DatabaseUse {
  readonly path: string;
  /** Only the sessions of this tenant are visible. */
  readonly tenant: string;
  /** Whether every transaction waits for the disk. */
  readonly isSynced: boolean;
}

/** Changes per transaction, so that a long queue does not block the process for long. */
const largestBatch = 512;

export class Database {
  readonly path: string;
  readonly tenant: string;
  /** Whether the connection is lost and the file must be opened again. */
  isBroken = false;
  readonly #db: DatabaseSync;
  readonly #isSynced: boolean;
  readonly #file: FileIdentity | undefined;
  readonly #statements = new Map<string, ReturnType<DatabaseSync["prepare"]>>();
  #changes: Change[] = [];
  #isScheduled = false;
  #isStoring = false;

  constructor(db: DatabaseSync, { path, tenant, isSynced }: DatabaseUse) {
    this.#db = db;
    this.path = path;
    this.tenant = tenant;
    this.#isSynced = isSynced;
    this.#file = identityOf(path);
  }

  /** A value that differs after another connection has stored something. */
  get version(): unknown {
    return this.get("PRAGMA data_version")?.["data_version"];
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#reading(() => this.#prepared(sql).get(...values));
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#reading(() => this.#prepared(sql).all(...values));
  }

  /** Rows as lists, which takes half the time. */
  lists(sql: string, ...values: SQLInputValue[]): List[] {
    return this.#reading(() => {
      const statement = this.#prepared(sql);
      statement.setReturnArrays(true);
      return statement.all(...values) as unknown as List[]; // the types do not know of lists
    });
  }

  /** Row by row. */
  *each(sql: string, ...values: SQLInputValue[]): Generator<Row> {
    const rows = this.#reading(() => this.#prepared(sql).iterate(...values));
    try {
      for (;;) {
        const step = this.#reading(() => rows.next());
        if (step.done) return;
        yield step.value;
      }
    } finally {
      // an unfinished statement would block the truncation of the log
      if (this.#db.isOpen) rows.return?.();
    }
  }

  /** Only for use inside a change. */
  run(sql: string, ...values: SQLInputValue[]): { readonly changes: number; readonly key: number } {
    const { changes, lastInsertRowid } = this.#prepared(sql).run(...values);
    return { changes: Number(changes), key: Number(lastInsertRowid) };
  }

  /**
   * Makes the transaction of a change write a page, because SQLite syncs nothing, not even what was stored before, when nothing
   * has changed. Only for use inside a change.
   */
  touch(): void {
    const version = Number(this.get("PRAGMA user_version")?.["user_version"]);
    // the same value: unlike a row, the header of the file is written although it stays as it is
    this.#db.exec(`PRAGMA user_version = ${version}`);
  }

  /**
   * Queues a change for the transaction of this turn of the event loop; resolves when it is committed. With `isSynced` the
   * transaction waits for the disk.
   */
  change<T>(make: () => T, isSynced = false): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    // as: `resolve` gets the result of this `make`
    this.#changes.push({ make, isSynced, resolve: resolve as (result: unknown) => void, reject });
    this.#schedule();
    return promise;
  }

  /** Stores all queued changes. Reads call it first, to see earlier changes. */
  flush(): void {
    while (this.#changes.length > 0) this.#storeBatch();
  }

  /** Runs SQL outside of a transaction, such as pragmas. */
  exec(sql: string): void {
    this.#db.exec(sql);
  }

  close(): void {
    this.#statements.clear();
    if (this.#db.isOpen) this.#db.close();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#storeBatch();
      if (this.#changes.length > 0) this.#schedule();
    });
  }

  #storeBatch(): void {
    if (this.#changes.length > 0) this.#store(this.#changes.splice(0, largestBatch));
  }

  #store(batch: readonly Change[]): void {
    const settle: (() => void)[] = [];
    const isSynced = !this.#isSynced && batch.some((change) => change.isSynced);
    let hasBegun = false;
    this.#isStoring = true;
    try {
      this.#checkOpen();
      checkSameFile(this.path, this.#file);
      // before BEGIN: the setting cannot be changed inside a transaction
      if (isSynced) this.#db.exec(synced);
      this.#db.exec("BEGIN IMMEDIATE");
      hasBegun = true;
      checkVersion(Number(this.get("PRAGMA user_version")?.["user_version"]), this.path);
      for (const change of batch) settle.push(this.#attempt(change));
      this.#db.exec("COMMIT");
    } catch (error) {
      this.#failed(batch, error, hasBegun);
      return;
    } finally {
      this.#isStoring = false;
      if (isSynced && this.#db.isOpen) this.#db.exec(unsynced);
    }
    for (const done of settle) done();
  }

  #attempt({ make, resolve, reject }: Change): () => void {
    try {
      const result = make();
      return () => resolve(result);
    } catch (error) {
      if (error instanceof RequestError || error instanceof StoreError) return () => reject(error);
      throw error;
    }
  }

  #failed(batch: readonly Change[], error: unknown, hasBegun: boolean): void {
    // SQLite may have rolled back already
    if (this.#db.isOpen && this.#db.isTransaction) this.#rollBack();
    this.#note(error);
    const isShared = error instanceof StoreError || isBusy(error) || this.isBroken;
    if (hasBegun && batch.length > 1 && !isShared) {
      // one may have no space or hit a damaged page: store each by itself
      for (const change of batch) this.#store([change]);
      return;
    }
    for (const { reject } of batch) reject(translated(error, this.path));
  }

  #rollBack(): void {
    try {
      this.#db.exec("ROLLBACK");
    } catch {
      // closing the connection ends the transaction
      this.isBroken = true;
    }
  }

  /** Marks the connection as lost after an I/O error or when the file was replaced. */
  #note(error: unknown): void {
    if (error instanceof RequestError || breaksConnection(error)) this.isBroken = true;
    if (this.isBroken) this.close();
  }

  /** Converts errors of reads outside of a change; inside of one, #store needs SQLite's own error. */
  #reading<T>(read: () => T): T {
    if (this.#isStoring) return read();
    this.#checkOpen();
    try {
      return read();
    } catch (error) {
      this.#note(error);
      throw translated(error, this.path);
    }
  }

  #checkOpen(): void {
    if (this.isBroken)
      throw unavailable("the connection to the session store was lost: try again", "io_error");
    if (!this.#db.isOpen) throw new Error("the session store is closed");
  }

  #prepared(sql: string): ReturnType<DatabaseSync["prepare"]> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
