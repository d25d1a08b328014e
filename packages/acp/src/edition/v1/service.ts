// Reads the requests of an agent for the files and terminals of a client, with what dialects add under `_meta`.

import { optional } from "../../base/objects.ts";
import {
  createDirectoriesKey,
  encodingKey,
  overwriteKey,
  signalKey,
  timeoutKey,
} from "../../base/parley-extensions.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { TextEncoding } from "../../model/services.ts";
import { encodingNames } from "../../model/text-encodings.ts";
import type * as wire from "../../wire/v1/types.gen.ts";
import type { ServiceOp } from "../client-edition.ts";
import { metaOf } from "../wire-fields.ts";

export function service(
  method: string,
  params: object,
): { readonly sessionId: string; readonly op: ServiceOp } | undefined {
  const { sessionId, terminalId } = params as { sessionId: string; terminalId: string };
  switch (method) {
    case "fs/read_text_file": {
      const { path, line, limit } = params as wire.ReadTextFileRequest;
      const range = { line: line ?? undefined, limit: limit ?? undefined, encoding: encodingOf(params) };
      return { sessionId, op: { op: "read", path, ...optional(range), ...metaOf(params) } };
    }
    case "fs/write_text_file": {
      const { path, content } = params as wire.WriteTextFileRequest;
      const how = {
        encoding: encodingOf(params),
        overwrite: keyOf(params, overwriteKey, "boolean"),
        createDirectories: keyOf(params, createDirectoriesKey, "boolean"),
      };
      return { sessionId, op: { op: "write", path, content, ...optional(how), ...metaOf(params) } };
    }
    case "terminal/create":
      return { sessionId, op: createTerminal(params as wire.CreateTerminalRequest) };
    case "terminal/output":
      return { sessionId, op: { op: "output", terminalId } };
    case "terminal/wait_for_exit":
      return { sessionId, op: { op: "wait", terminalId, ...optional({ timeoutMs: timeoutOf(params) }) } };
    case "terminal/kill": {
      const signal = keyOf(params, signalKey, "string");
      return { sessionId, op: { op: "kill", terminalId, ...optional({ signal }) } };
    }
    case "terminal/release":
      return { sessionId, op: { op: "release", terminalId } };
    default:
      return undefined;
  }
}

function createTerminal(params: wire.CreateTerminalRequest): ServiceOp {
  const { command, args = [], env = [], cwd, outputByteLimit } = params;
  return {
    op: "create_terminal",
    command,
    args,
    env: Object.fromEntries(env.map(({ name, value }) => [name, value])),
    ...optional({
      cwd: cwd ?? undefined,
      outputByteLimit: outputByteLimit ?? undefined,
      timeoutMs: timeoutOf(params),
    }),
    ...metaOf(params),
  };
}

interface Kinds {
  readonly boolean: boolean;
  readonly number: number;
  readonly string: string;
}

/** Throws -32602 for a value of another type: it must not be ignored. */
function keyOf<Kind extends keyof Kinds>(params: object, key: string, kind: Kind): Kinds[Kind] | undefined {
  const value = metaOf(params)._meta?.[key];
  if (value == null) return undefined;
  if (typeof value === kind) return value as Kinds[Kind]; // as its type says
  throw wrongKey(key, `a ${kind}`, typeof value);
}

function timeoutOf(params: object): number | undefined {
  const timeoutMs = keyOf(params, timeoutKey, "number");
  if (timeoutMs !== undefined && timeoutMs < 0) throw wrongKey(timeoutKey, "0 or more", String(timeoutMs));
  return timeoutMs;
}

/** Names as dialects and Node write them. */
const encodings: Readonly<Record<string, TextEncoding>> = {
  "utf-8": "utf-8",
  utf8: "utf-8",
  "utf-16le": "utf-16le",
  utf16le: "utf-16le",
  "utf-16": "utf-16le",
  latin1: "latin1",
  "iso-8859-1": "latin1",
  binary: "latin1",
  ascii: "ascii",
  "us-ascii": "ascii",
  base64: "base64",
  hex: "hex",
};

function encodingOf(params: object): TextEncoding | undefined {
  const name = keyOf(params, encodingKey, "string");
  if (name === undefined) return undefined;
  const lower = name.toLowerCase();
  const known = Object.hasOwn(encodings, lower) ? encodings[lower] : undefined;
  if (known !== undefined) return known;
  throw wrongKey(encodingKey, `one of ${encodingNames.join(", ")}`, JSON.stringify(name.slice(0, 50)));
}

function wrongKey(key: string, wanted: string, got: string): RequestError {
  const path = `/_meta/${key.replaceAll("/", "~1")}`;
  return RequestError.invalidParams(`${key} must be ${wanted}, got ${got}`, path);
}
