// What forwarders have of a peer: a port that takes calls for it.

import { optional } from "../base/objects.ts";
import { ConnectionError, type WireError } from "../jsonrpc/errors.ts";
import type { PassedAnswer } from "../jsonrpc/passed-call.ts";
import type { Lines } from "../jsonrpc/transport.ts";
import type { Call } from "./call.ts";

export type { WireError } from "../jsonrpc/errors.ts";

/** Resolves when a slow peer has read; undefined while it keeps up. */
export type Room = Promise<void> | undefined;

/** Takes notifications that nobody has read. */
export type LineTaker = (lines: Lines) => Room;

/** Takes the answer to a request, in the step in which it is read. `text` is the message that it came in, whatever its id. */
export type Taker = (answer: PassedAnswer, text?: string) => void;

/** Takes calls for a peer. */
export interface Port {
  notify(call: Call): Room;
  /** Gives the taker one answer. Returns what cancels the request, which is answered all the same. */
  request(call: Call, taker: Taker): () => void;
  /** What takes notifications unread, until the end of this step; undefined if they must be read. */
  unread(): LineTaker | undefined;
}

/** A port that refuses every request with this error. */
export function refusing(error: WireError): Port {
  return {
    notify: () => undefined,
    request: (_, taker) => {
      taker({ error });
      return () => undefined;
    },
    unread: () => () => undefined,
  };
}

/** The port of nobody. */
export const nobody: Port = refusing({ code: -32600, message: "initialize must come first" });

/** The error for an answer that cannot be read. */
export function unusableAnswer(name: string, error: Error): WireError {
  return {
    code: -32603,
    message: error.message,
    data: { reason: "unusable_answer", component: name },
  };
}

/** The error for whoever waits for the answer of a peer that has gone. */
export function goneError(name: string, error: unknown): WireError {
  const { exitCode, signal, stderr } = error instanceof ConnectionError ? error : {};
  return {
    code: -32067,
    message: `${name} has gone: ${whyGone(error)}`,
    data: { reason: "component_gone", component: name, ...optional({ exitCode, signal, stderr }) },
  };
}

/** Why a peer has gone, with the line of its stderr that says most: one with an error, or the last. */
export function whyGone(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const { stderr } = error instanceof ConnectionError ? error : {};
  const lines = (stderr ?? "").split("\n").filter((line) => line.trim() !== "");
  const line = lines.findLast((each) => /\w*Error\b/.test(each)) ?? lines.at(-1);
  return line === undefined ? message : `${message}; it wrote: ${line.trim().slice(0, 300)}`;
}
