// Describes a call that waits for its answer as JSON, so that another connection can take the answer.

import { isObject, optional } from "../../base/objects.ts";
import { anyValue, fields, flag, listOf, type Shape, text } from "../../base/shape.ts";
import type { PendingState } from "../../jsonrpc/pending-requests.ts";
import type { JsonValue } from "../../model/custom-types.ts";
import type { CallHooks } from "./client-wire.ts";
import { pendingShape } from "./session/prompt-handle.ts";

/** The names of the calls, and what each is repeated with. Secrets are never part of it. */
type Call =
  | {
      readonly call: "open";
      readonly sessionId?: string;
      readonly isKnown: boolean;
      readonly roots: readonly string[];
    }
  | { readonly call: "pass"; readonly sessionId?: string }
  | { readonly call: "close"; readonly sessionId: string }
  | {
      readonly call: "setConfigOption";
      readonly sessionId: string;
      readonly configId: string;
      readonly value: JsonValue;
    }
  /** Its answer changes nothing. */
  | { readonly call: "list" | "login" | "plain" | "extension" };

/** A call that waits for its answer. */
export type PendingCall = Call & { readonly key?: string };

/** A request that has no answer yet, and the call that it is part of. */
export interface PendingCallState extends PendingState {
  readonly call?: PendingCall;
}

export const pendingCallShape: Shape = pendingShape({
  call: fields(
    { call: text },
    {
      key: text,
      sessionId: text,
      isKnown: flag,
      roots: listOf(text),
      configId: text,
      value: anyValue,
    },
  ),
});

/** Whether the note of a request describes a call; a prompt is its own note. */
export function isCall(note: unknown): note is PendingCall {
  return isObject(note) && typeof note["call"] === "string";
}

/** The hooks of a request, with what its answer is for. */
export function callHooks(
  { sent, resumed, key }: CallHooks & { readonly key?: string | undefined },
  call: Call,
): CallHooks {
  return { sent, resumed, note: key === undefined ? call : { ...call, ...optional({ key }) } };
}
