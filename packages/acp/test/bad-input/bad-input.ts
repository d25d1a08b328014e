// The type of one bad input, and functions that write them.

import type { ConnectionCounters } from "../../src/jsonrpc/connection-options.ts";
import type { Role } from "./subject.ts";

export const transportNames = ["memory", "websocket", "stdio"] as const;
export type TransportName = (typeof transportNames)[number];

/** One frame: a line on stdio, a text frame on WebSocket, a message in memory. Bytes are for what no string holds. */
export type Frame = string | Uint8Array;

/** What the subject sends: a message, or an array of them, without `jsonrpc` and without the words of an error. */
export type Reply = object;

export interface Outcome {
  /** Everything that the subject sends, in this order. Default nothing. */
  readonly replies?: readonly Reply[];
  /** Answers of handlers that wait for something: they may come at any point, once. */
  readonly later?: readonly Reply[];
  /** The handlers that run, with how often. Default none. */
  readonly calls?: Readonly<Record<string, number>>;
  /** What is counted. Default nothing. */
  readonly counts?: Partial<ConnectionCounters>;
}

export interface BadInput extends Outcome {
  /** The rules that it shows, as in docs/rules.md. */
  readonly ids: readonly string[];
  readonly name: string;
  /** `open` are the ids of the requests that the subject has put to us. */
  readonly send: (open: readonly string[]) => readonly Frame[];
  /** With the default limit of 32 MiB; the other cases run with `smallLimit`, which is as good and much faster. */
  readonly fullSize?: boolean;
  /** Where the subject is a client and does something else: a line that is no message is noise to it. */
  readonly asClient?: Outcome;
  /** Default both. */
  readonly roles?: readonly Role[];
  /** Default version 1. */
  readonly versions?: readonly (1 | 2)[];
  /** Where it can be expressed, and why nowhere else. Default everywhere. */
  readonly only?: { readonly on: readonly TransportName[]; readonly because: string };
  /** So many `_test/ask` are put to the subject before; their ids are `ask0`, `ask1`. Default none. */
  readonly asks?: number;
  /** The asks run into this deadline before anything is sent. */
  readonly askTimeoutMs?: number;
  /** On a connection of its own, as its first bytes. */
  readonly first?: boolean;
  /** How long it may take, on a machine that is busy: what is not linear takes minutes. */
  readonly withinMs?: number;
  /** The connection ends, with this kind of reason. */
  readonly closes?: string;
  /** What the hostile side then sees of a WebSocket. */
  readonly closeCode?: number;
}

/** Stands in every payload; it must never come back in an error or turn up in a log. */
export const canary = "CANARY-5e1f";

export const framesHaveAnEnd = {
  on: ["stdio"],
  because: "a frame of WebSocket and of memory has an end of its own",
} as const;

export const bytesOnly = { on: ["stdio"], because: "WebSocket and memory carry text, not bytes" } as const;

export const framed = {
  on: ["memory", "websocket"],
  because: "on stdio a line feed ends the message",
} as const;

export const bothVersions = [1, 2] as const;

/** A request as its text; `id` is written as given, so that it can be anything. */
export function request(id: string, method: string, params?: unknown): string {
  const tail = params === undefined ? "" : `,"params":${JSON.stringify(params)}`;
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}${tail}}`;
}

/** The same with params that are already text. */
export function requestOf(id: string, method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`;
}

export function notification(method: string, params?: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}

export function echo(id: string, text: string = canary): string {
  return request(id, "_test/echo", { text });
}

export function result(id: unknown, value: unknown): Reply {
  return { id, result: value };
}

export function echoed(id: unknown, text: string = canary): Reply {
  return result(id, { text });
}

export function error(id: unknown, code: number, data?: object): Reply {
  return { id, error: data === undefined ? { code } : { code, data } };
}

export const notJson: Reply = error(null, -32700, { reason: "parse" });
export const notUtf8: Reply = error(null, -32700, { reason: "utf8" });

export function notAMessage(path?: string, reason = "invalid_request"): Reply {
  return error(null, -32600, path === undefined ? { reason } : { reason, path });
}

export function badParams(id: unknown, path: string): Reply {
  return error(id, -32602, { reason: "invalid_params", path });
}

/** The text in UTF-8, with the given bytes in the place of `@`. */
export function withBytes(text: string, ...bytes: readonly number[]): Uint8Array {
  const [before = "", after = ""] = text.split("@");
  const encoder = new TextEncoder();
  return Uint8Array.from([...encoder.encode(before), ...bytes, ...encoder.encode(after)]);
}

/** The limit on a message, in bytes, for all cases but those of full size. */
export const smallLimit: number = 256 * 1024;

/** A text of exactly so many bytes: `@` in it is replaced by as many `x` as it takes. */
export function padded(text: string, bytes: number): string {
  return text.replace("@", "x".repeat(bytes - text.length + 1));
}

/** `count` arrays in one another, with nothing in the innermost. */
export function nested(count: number): string {
  return "[".repeat(count) + "]".repeat(count);
}

/** One row of the catalogue: its rules, its name, the frames that are sent, and what happens then. */
export function row(
  ids: string | readonly string[],
  name: string,
  send: readonly Frame[] | BadInput["send"],
  outcome: Omit<BadInput, "ids" | "name" | "send"> = {},
): BadInput {
  return {
    ids: typeof ids === "string" ? [ids] : ids,
    name,
    send: typeof send === "function" ? send : () => send,
    ...outcome,
  };
}

/** The subject refuses one message with this reply. */
export function refusedWith(reply: Reply): Outcome {
  return { replies: [reply], counts: { refused: 1 } };
}

/** The handler of `_test/echo` runs once, and this is what the subject sends. */
export function echoedWith(reply: Reply): Outcome {
  return { replies: [reply], calls: { "_test/echo": 1 } };
}
