// The types of the generated method tables.

import type { Failure } from "../validation/failure.ts";
import type { UnstableFeature } from "../validation/unstable-features.ts";

/** Checks a value, and repairs it in place where the schema allows it. */
export type Validator = (value: unknown, mode: number) => Failure | undefined;

/** One method in one version of the protocol. */
export interface MethodRow {
  readonly method: string;
  /** The receiving side. */
  readonly receiver: "agent" | "client" | "both";
  readonly kind: "request" | "notification";
  /** The feature that the app must enable; absent for a method of the stable protocol. */
  readonly unstable?: UnstableFeature;
  readonly params: Validator;
  readonly paramsType: string;
  /** Whether all fields are optional, so that params may be absent or null. */
  readonly paramsMayBeEmpty: boolean;
  /** Requests only. */
  readonly result?: Validator;
  readonly resultType?: string;
  /** Whether all fields are optional, so that the result may be null. */
  readonly resultMayBeEmpty?: boolean;
}

/** One method, whatever the version. HTTP, relays and gateways need no more to know where a message belongs. */
export interface MethodFacts extends Pick<MethodRow, "receiver" | "unstable"> {
  readonly kinds: readonly MethodRow["kind"][];
  readonly editions: readonly ("v1" | "v2")[];
  /**
   * "opens": its answer names a new session. "attaches": it takes up a session that may be elsewhere. "closes": the session
   * is not open afterwards. "about": it names a session in another way. Absent where it names none.
   */
  readonly session?: "opens" | "attaches" | "closes" | "about";
  /** Its answer comes on the HTTP stream of the connection, also when the request names a session. */
  readonly isAnsweredToConnection?: true;
  /** It changes what later messages mean, and is refused in a batch. */
  readonly travelsAlone?: true;
}

/** The wire of one protocol version. */
export interface WireVersion {
  readonly methods: readonly MethodRow[];
  /** "strict" allows strings and integers only, as in version 2. */
  readonly idPolicy: "any" | "strict";
  /**
   * An app's own values must begin with an underscore, as in version 2. Not for raw peers, which may pass on the
   * values of others.
   */
  readonly ownValues?: "underscored";
  /** Received values become the model's: a null that means the same as nothing is removed. Not for raw peers. */
  readonly nulls?: "removed";
  /**
   * Fields that the protocol does not have move into `_meta`. "moved": in what is received and in what is sent. For relays,
   * which pass on what others say. "received": only in what is received. For agents, which send a prompt back. Elsewhere
   * they are received as they came. Unless they are moved, they are refused when they are sent.
   */
  readonly extras?: "moved" | "received";
  /** Recognises messages of dialects, to refuse them with a sentence of their own. Not for raw peers. */
  readonly dialects?: DialectTells;
}

/** Tells the dialect that a message is written in; undefined for none. */
export interface DialectTells {
  params(method: string, value: unknown): string | undefined;
  result(method: string, value: unknown): string | undefined;
  /** The methods whose messages in a dialect would pass the validators. */
  readonly paramsThatPass: ReadonlySet<string>;
  readonly resultsThatPass: ReadonlySet<string>;
}
