// The shape of the generated method tables, shared by both versions.

import type { Failure } from "../validation/failure.ts";

/** Checks a value and patches what the schema lets it salvage, in place. */
export type Validator = (value: unknown, mode: number) => Failure | undefined;

/** One method in one version of the protocol. */
export interface MethodRow {
  readonly method: string;
  /** Who receives it. */
  readonly receiver: "agent" | "client" | "both";
  readonly kind: "request" | "notification";
  /** Not in the stable protocol: does not exist unless the app lists it. */
  readonly unstable: boolean;
  readonly params: Validator;
  readonly paramsType: string;
  /** Every field is optional, so absent or null params will do (J9). */
  readonly paramsMayBeEmpty: boolean;
  /** Requests only. */
  readonly result?: Validator;
  readonly resultType?: string;
  /** Every field is optional, so a null result will do (J10). */
  readonly resultMayBeEmpty?: boolean;
}

/** What a connection needs to know of one version of the protocol. */
export interface WireVersion {
  readonly methods: readonly MethodRow[];
  /** "strict": ids are strings and integers only, as version 2 has it. */
  readonly idPolicy: "any" | "strict";
  /**
   * Values that an app makes up must begin with an underscore in what it sends, as version 2 has it (X8). Not for
   * raw peers: what they send may be somebody else's, and of tomorrow.
   */
  readonly ownValues?: "underscored";
}
