// The interface of session stores: one append-only log for each session.

import type { ArchiveFilter } from "./agent-status.ts";
import type { JsonValue } from "./custom-types.ts";
import type { HeadState } from "./head.ts";

/** An entry in the form that stores keep: the content is JSON text, which `parseEntry` parses. */
export interface StoredEntry {
  /** The version of the format. */
  readonly format: number;
  /** Counts from 1 without gaps. It never changes. */
  readonly seq: number;
  /** The last number that it stands for, if it covers several entries. The next entry follows that one. */
  readonly through?: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The kind of the entry, such as "update" or "prompt". */
  readonly kind: string;
  /** The kind of the update (`sessionUpdate`), for entries of kind "update". */
  readonly tag?: string;
  /** The JSON of the update, or of the fields that the other kinds have besides these. */
  readonly text: string;
}

export type { ArchiveFilter } from "./agent-status.ts";

/** The facts that a store keeps about a session in addition to its entries. */
export interface SessionRecord {
  /** The id of the session. */
  readonly sessionId: string;
  /** The working directory: an absolute path. */
  readonly cwd: string;
  /** Further directories of the session: absolute paths. */
  readonly additionalDirectories: readonly string[];
  /** The title, if the session has one. */
  readonly title?: string;
  /** Present if the user has set the title: a generated title does not replace it. */
  readonly hasUserTitle?: true;
  /** Whether the session is archived. Absent means no. */
  readonly archived?: boolean;
  /** The principal that it belongs to (see `agent.connect`). Absent: the one local user. */
  readonly principal?: string;
  /** Identifies the agent that runs the session, in the log of whoever runs it. An agent's own log has none. */
  readonly agent?: string;
  /** The id that the agent has for the session. Together with `agent` it identifies at most one session. */
  readonly agentSessionId?: string;
  /** When it was created, in milliseconds since 1970. */
  readonly createdAt: number;
  /** When it was last changed, in milliseconds since 1970. */
  readonly updatedAt: number;
  /** The values of the session's config options, by id. */
  readonly config: Readonly<Record<string, JsonValue>>;
  /** Data of the application; plain JSON. */
  readonly data?: unknown;
}

/** The fields of a record to change. Omitted fields keep their values. */
export type SessionPatch = Partial<
  Pick<
    SessionRecord,
    | "cwd"
    | "additionalDirectories"
    | "title"
    | "hasUserTitle"
    | "archived"
    | "agentSessionId"
    | "updatedAt"
    | "config"
    | "data"
  >
>;

/** The end of a session's log. */
export interface SessionHead {
  /** The epoch of the last claim. */
  readonly epoch: number;
  /** The number of the last entry; 0 without entries. */
  readonly lastSeq: number;
  /** The cursor behind the last entry: `tail` continues from here. */
  readonly cursor: string;
  /** What the last append said of the session. Entries after its `seq` are not counted in it. */
  readonly state?: HeadState;
  /** The position that the last append gave. */
  readonly position?: number;
}

/** A session as stores return it: its record, and the end of its log. */
export interface StoredSession extends SessionRecord {
  /** The end of its log. */
  readonly head: SessionHead;
  /** The best match of a list by text. */
  readonly match?: TextMatch;
}

/** A message that matches a search. */
export interface TextMatch {
  /** The `seq` of the message's first entry. */
  readonly seq: number;
  /** A few words of the message around the match, on one line. */
  readonly snippet: string;
}

/** The sessions to list. */
export interface SessionQuery {
  /** Only sessions with this working directory. "/ws", "/ws/" and "/ws/a/.." are the same directory. */
  readonly cwd?: string | undefined;
  /** Only sessions of this principal; `null`: only those without one. Absent: of everybody. */
  readonly principal?: string | null | undefined;
  /** Only sessions of this agent. */
  readonly agent?: string | undefined;
  /** "exclude" leaves archived sessions out, "include" lists all, "only" lists archived ones. Default "exclude". */
  readonly archived?: ArchiveFilter | undefined;
  /**
   * Only sessions with a message of the user or the agent that has all these words. Case and accents are ignored, the last
   * word may be a prefix, and "quoted words" must follow each other.
   */
  readonly text?: string | undefined;
  /** `nextCursor` of the previous page. An unknown cursor rejects with RequestError "invalid_params". */
  readonly cursor?: string | undefined;
  /** The maximum number of sessions per page. Default 50. */
  readonly limit?: number | undefined;
}

/** One page of the sessions of a store. */
export interface SessionPage {
  /** Most recently updated first. */
  readonly sessions: readonly StoredSession[];
  /** Pass it as `cursor` to get the next page. Absent on the last page. */
  readonly nextCursor?: string;
}

/**
 * The right to append to a session. A later claim has a higher epoch and ends this one: safety comes from the epoch alone,
 * whatever became of the lease.
 */
export interface Claim {
  /** The session. */
  readonly sessionId: string;
  /** Counts the claims of the session. */
  readonly epoch: number;
  /** When the lease ends, in milliseconds since 1970 by the store's clock. Absent: with the process. */
  readonly until?: number;
}

/** How a session is claimed. */
export interface ClaimOptions {
  /** How long the lease lasts without `renew`, in milliseconds. Default: as long as the process that claims. */
  readonly leaseMs?: number | undefined;
  /** Ends the claim of a holder that is still there. Default false. */
  readonly takeOver?: boolean | undefined;
}

/** What an append stores together with its entries. */
export interface AppendOptions {
  /** The state of the session after these entries. Default: the state that is stored. */
  readonly state?: HeadState | undefined;
  /** The outcomes of commands. Each command is settled once: the first outcome stays. Numbers of no command are ignored. */
  readonly settles?: readonly SettledCommand[] | undefined;
  /** A position of the caller, such as that of an agent's output. */
  readonly position?: number | undefined;
  /** Whether it must survive a power cut once `append` has resolved. Default: what the store does. */
  readonly isSynced?: boolean | undefined;
}

/** The outcome of a command. */
export interface SettledCommand {
  /** The number of the command. */
  readonly number: number;
  /** What became of it. */
  readonly outcome: JsonValue;
}

/** What somebody wants of a session. Whoever holds the session reads it. */
export interface Command {
  /** Chosen by the sender: the same key is the same command, also when it is sent again. At most 200 characters. */
  readonly key: string;
  /** Who sends it. Keys of different principals are different. Absent: the one local user. */
  readonly principal?: string;
  /** What is wanted; plain JSON. */
  readonly body: JsonValue;
}

/** A command that is stored. */
export interface StoredCommand extends Command {
  /** Counts the commands of the session. */
  readonly number: number;
  /** When it was stored, in milliseconds since 1970. */
  readonly time: number;
  /** Present when it is settled. */
  readonly outcome?: JsonValue;
}

/** The entries to read. */
export interface ReadRange {
  /** The number of the first entry. Default 1. */
  readonly from?: number | undefined;
  /** The number of the last entry. Default: the last one when the reading begins. */
  readonly to?: number | undefined;
  /** Whether the last page comes first. The entries of a page are in order all the same. Default false. */
  readonly isBackwards?: boolean | undefined;
  /** The maximum number of entries per page. Default 128. */
  readonly pageSize?: number | undefined;
}

/** Further entries of a session, or the reason why no more come. */
export type TailEvent =
  | {
      readonly kind: "entries";
      readonly entries: readonly StoredEntry[];
      /** The cursor behind them. */
      readonly cursor: string;
    }
  /** The session is gone. */
  | { readonly kind: "deleted" }
  /**
   * What the reader has seen is not what is stored, because the end of the log was lost, as in a power cut. `cursor` is where
   * both still agree.
   */
  | { readonly kind: "gap"; readonly cursor: string };

/**
 * Keeps sessions: for each a record, and a log that only its holder appends to. Several stores, also of several processes,
 * may share what they keep. A store returns entries as they were given. When `append` resolves, its entries survive a crash
 * of the process. Test your own store with `storeContract` of `@parley/acp/testing`.
 *
 * Nothing is atomic over two sessions, and there is no order of the entries of different sessions.
 */
export interface SessionStore {
  /**
   * Creates a session and claims it. Rejects with RequestError "conflict" if the id already exists, or if another session has
   * the same `agent` and `agentSessionId` (reason "agent_session_exists").
   */
  create(record: SessionRecord, options?: Omit<ClaimOptions, "takeOver">): Promise<Claim>;
  /** A session; undefined for an unknown id. */
  get(sessionId: string): Promise<StoredSession | undefined>;
  /** The session that an agent knows by this id. */
  find(agent: string, agentSessionId: string): Promise<StoredSession | undefined>;
  /** Changes some fields of a record. Anybody may. Rejects for an unknown id. */
  patch(sessionId: string, patch: SessionPatch): Promise<void>;
  /** One page of the sessions, most recently updated first. */
  list(query?: SessionQuery): Promise<SessionPage>;
  /**
   * Creates a session with the config of another one and its entries up to `atSeq` (default: all), under their numbers, and
   * claims it. An entry that covers later numbers too is left out. A fork of all entries begins with the state of its source.
   */
  fork(
    sessionId: string,
    record: SessionRecord,
    options?: Omit<ClaimOptions, "takeOver"> & { readonly atSeq?: number | undefined },
  ): Promise<Claim>;
  /**
   * Deletes a session and its entries. An unknown id is not an error. Rejects with RequestError "conflict" if somebody else
   * than the holder of `claim` holds it.
   */
  delete(sessionId: string, claim?: Claim | undefined): Promise<void>;

  /**
   * Gives the exclusive right to append, under a new epoch. Rejects with RequestError "conflict" (reason "session_held"), which
   * names the holder, if there is one whose lease has not ended, in this process too.
   */
  claim(sessionId: string, options?: ClaimOptions): Promise<Claim>;
  /** Extends the lease. Rejects with RequestError "conflict" (reason "fenced") if the session was claimed again. */
  renew(claim: Claim, leaseMs: number): Promise<Claim>;
  /** Ends a claim. One that was fenced has ended already. */
  release(claim: Claim): Promise<void>;

  /**
   * Appends entries after the entry `after`, in one transaction: all or nothing. Rejects with RequestError "conflict":
   * reason "fenced" if the session was claimed again, "out_of_sequence" if it ends with another entry. The same append again
   * is fine: its answer may have been lost.
   */
  append(
    claim: Claim,
    after: number,
    entries: readonly StoredEntry[],
    options?: AppendOptions,
  ): Promise<void>;
  /** Reads entries in pages, up to the last one at the beginning. Rejects with RequestError "session_not_found" for an unknown id. */
  read(sessionId: string, range?: ReadRange): AsyncIterable<readonly StoredEntry[]>;
  /**
   * The entries after a cursor (default: from the first entry on), then those that come, of every process, without gap or
   * repeat. Ends after "deleted" and "gap", and when the signal aborts.
   */
  tail(
    sessionId: string,
    cursor?: string | undefined,
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<TailEvent>;

  /**
   * Stores a command for the holder of the session. Anybody may. The same key and body again gives the stored command, with its
   * outcome if it has one; the same key with another body rejects with RequestError "conflict" (reason "key_reused").
   * `check` runs inside the transaction, before a new command is stored: what it throws refuses the command.
   */
  submit(
    sessionId: string,
    command: Command,
    check?: (session: StoredSession) => void,
  ): Promise<StoredCommand>;
  /** The commands that are not settled, in order, then those that come. Ends when the session is deleted or the signal aborts. */
  commands(
    sessionId: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<readonly StoredCommand[]>;

  /** The ids of sessions that have moved. A hint: it may come late, twice or not at all. */
  changes(options?: { readonly signal?: AbortSignal | undefined }): AsyncIterable<readonly string[]>;
  /** How far a principal has read a session. With `seq`, as far as that at least from now on. */
  seen(sessionId: string, principal: string, seq?: number): Promise<number>;

  /** Writes pending data, releases the claims of this store and closes it. Afterwards its methods reject. */
  close(): Promise<void>;
}
