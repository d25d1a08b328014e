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
  /** The last number that it covers, if it stands for several entries. The next entry follows that number. */
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
  /** Identifies the agent that runs the session. It is set in the log of the agent's host; an agent's own log has none. */
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
  /** The cursor after the last entry. `tail` continues from here. */
  readonly cursor: string;
  /** The state that was stored last. It does not count entries after its `seq`. */
  readonly state?: HeadState;
  /** The position that was stored last. */
  readonly position?: number;
}

/** A session as stores return it: its record, and the end of its log. */
export interface StoredSession extends SessionRecord {
  /** The end of its log. */
  readonly head: SessionHead;
  /** The best match, in a list by `text`. */
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
 * The right to append to a session. A later claim has a higher epoch and ends this one. Safety depends on the epoch alone,
 * not on the lease.
 */
export interface Claim {
  /** The session. */
  readonly sessionId: string;
  /** Counts the claims of the session. */
  readonly epoch: number;
  /** When the lease ends, in milliseconds since 1970 by the store's clock. Absent: when the process ends. */
  readonly until?: number;
}

/** How a session is claimed. */
export interface ClaimOptions {
  /** How long the lease lasts without `renew`, in milliseconds. Default: as long as the process that claims. */
  readonly leaseMs?: number | undefined;
  /** Whether to end the claim of a holder that is still there. Default false. */
  readonly takeOver?: boolean | undefined;
}

/** What an append stores together with its entries. */
export interface AppendOptions {
  /** The state of the session after these entries. Default: the stored state stays. */
  readonly state?: HeadState | undefined;
  /** The outcomes of commands. The first outcome of a command stays. Numbers without a command are ignored. */
  readonly settles?: readonly SettledCommand[] | undefined;
  /** A position of the caller, such as that of an agent's output. */
  readonly position?: number | undefined;
  /**
   * Whether the append and everything before it must survive a power cut once it has resolved, also if it has no new entries. Default:
   * as the store is configured.
   */
  readonly isSynced?: boolean | undefined;
}

/** The outcome of a command. */
export interface SettledCommand {
  /** The number of the command. */
  readonly number: number;
  /** The outcome, as plain JSON. */
  readonly outcome: JsonValue;
}

/** A request to the holder of a session, which anybody may store. */
export interface Command {
  /** The sender chooses it. A command that is sent again with the same key is the same command. At most 200 characters. */
  readonly key: string;
  /** Who sends it. Each principal has its own keys. Absent: the one local user. */
  readonly principal?: string;
  /** The content of the command; plain JSON. */
  readonly body: JsonValue;
}

/** A command as a store keeps it. */
export interface StoredCommand extends Command {
  /** Counts the commands of the session. */
  readonly number: number;
  /** When it was stored, in milliseconds since 1970. */
  readonly time: number;
  /** Present when the command is settled. */
  readonly outcome?: JsonValue;
}

/** The entries to read. */
export interface ReadRange {
  /** The number of the first entry. Default 1. */
  readonly from?: number | undefined;
  /** The number of the last entry. Default: the last one when the reading begins. */
  readonly to?: number | undefined;
  /** Whether the last page comes first. The entries of each page are still in ascending order. Default false. */
  readonly isBackwards?: boolean | undefined;
  /** The maximum number of entries per page. Default 128. */
  readonly pageSize?: number | undefined;
}

/** New entries of a session, or the reason why no more come. */
export type TailEvent =
  | {
      readonly kind: "entries";
      readonly entries: readonly StoredEntry[];
      /** The cursor after these entries. */
      readonly cursor: string;
    }
  /** The session was deleted. */
  | { readonly kind: "deleted" }
  /**
   * The reader has seen entries that are no longer stored, because the end of the log was lost, as in a power cut. `cursor` is
   * the last place where the reader and the log agree.
   */
  | { readonly kind: "gap"; readonly cursor: string };

/**
 * Keeps sessions: for each a record, and a log that only its holder appends to. Several stores, also of several processes,
 * may share what they keep. A store returns entries as they were given. When `append` resolves, its entries survive a crash
 * of the process. Test your own store with `storeContract` of `@parley/acp/testing`.
 *
 * No call is atomic across sessions, and entries of different sessions have no order.
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
  /** Changes some fields of a record. No claim is needed. Rejects for an unknown id. */
  patch(sessionId: string, patch: SessionPatch): Promise<void>;
  /** One page of the sessions, most recently updated first. */
  list(query?: SessionQuery): Promise<SessionPage>;
  /**
   * Creates a session with the config of another one and its entries up to `atSeq` (default: all), with the same numbers, and
   * claims it. An entry that also covers numbers after `atSeq` is left out. A fork of all entries begins with the state of its source, but
   * without its open prompts and questions, which have no end in the fork. Every other fork begins with an empty state whose
   * `forkedAt` is its last entry.
   */
  fork(
    sessionId: string,
    record: SessionRecord,
    options?: Omit<ClaimOptions, "takeOver"> & { readonly atSeq?: number | undefined },
  ): Promise<Claim>;
  /**
   * Deletes a session and its entries. An unknown id is not an error. Rejects with RequestError "conflict" if the session is held
   * under another claim than `claim`.
   */
  delete(sessionId: string, claim?: Claim | undefined): Promise<void>;

  /**
   * Gives the exclusive right to append, with a new epoch. If the session has a holder whose lease has not ended, rejects with
   * RequestError "conflict" (reason "session_held"), which names the holder. The holder may be in this process.
   */
  claim(sessionId: string, options?: ClaimOptions): Promise<Claim>;
  /** Extends the lease. Rejects with RequestError "conflict" (reason "fenced") if the session was claimed again. */
  renew(claim: Claim, leaseMs: number): Promise<Claim>;
  /** Ends a claim. Has no effect if the session was claimed again. */
  release(claim: Claim): Promise<void>;

  /**
   * Appends entries after the entry `after`, in one transaction: all or nothing. Rejects with RequestError "conflict":
   * reason "fenced" if the session was claimed again, "out_of_sequence" if the log ends with another entry. Repeating the last
   * append is allowed and stores nothing twice, because its answer may have been lost.
   */
  append(
    claim: Claim,
    after: number,
    entries: readonly StoredEntry[],
    options?: AppendOptions,
  ): Promise<void>;
  /** Reads entries in pages, up to the last one when the reading begins. Rejects with RequestError "session_not_found" for an unknown id. */
  read(sessionId: string, range?: ReadRange): AsyncIterable<readonly StoredEntry[]>;
  /**
   * Yields the entries after a cursor (default: from the first entry on), then new entries, from any process, without gap or
   * repetition. Ends after "deleted" and "gap", and when the signal aborts.
   */
  tail(
    sessionId: string,
    cursor?: string | undefined,
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<TailEvent>;

  /**
   * Stores a command for the holder of the session. No claim is needed. The same key and body again return the stored command, with its
   * outcome if it has one; the same key with another body rejects with RequestError "conflict" (reason "key_reused").
   * `check` runs inside the transaction, before a new command is stored. If it throws, the command is refused with that error.
   */
  submit(
    sessionId: string,
    command: Command,
    check?: (session: StoredSession) => void,
  ): Promise<StoredCommand>;
  /** Yields the commands that are not settled, in order, then new ones. Ends when the session is deleted or the signal aborts. */
  commands(
    sessionId: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<readonly StoredCommand[]>;

  /** Yields the ids of sessions that have changed. They are hints: one may come late, twice or not at all. */
  changes(options?: { readonly signal?: AbortSignal | undefined }): AsyncIterable<readonly string[]>;
  /** Returns how far a principal has read a session. `seq` first moves this forward; it never moves back. */
  seen(sessionId: string, principal: string, seq?: number): Promise<number>;

  /** Writes pending data, releases the claims of this store and closes it. Afterwards its methods reject. */
  close(): Promise<void>;
}
