// Records a model's requests and events as NDJSON in files that only their owner can read, and replays them as a deterministic model.
//
//   {"parley":"model-recording","version":1,"facts":{...}}
//   {"type":"request","n":1,"request":{...}}     without its signal
//   {"type":"event","n":1,"event":{...}}
//   {"type":"error","n":1,"kind":"rate_limit","message":"...","retryAfterMs":20000}
//
// `n` counts requests; lines of parallel requests may be interleaved.

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import {
  type Model,
  ModelError,
  type ModelErrorKind,
  type ModelEvent,
  type ModelFacts,
  type ModelRequest,
} from "./model.ts";

export const recordingVersion = 1;

type RecordedRequest = Omit<ModelRequest, "signal" | "onWait">;

type Line =
  | { readonly type: "request"; readonly n: number; readonly request: RecordedRequest }
  | { readonly type: "event"; readonly n: number; readonly event: ModelEvent }
  | {
      readonly type: "error";
      readonly n: number;
      readonly kind: ModelErrorKind;
      readonly message: string;
      readonly retryAfterMs?: number | undefined;
    };

/** Behaves like `model` and passes every line to `write`, the header with the first request. */
export function recordingModel(model: Model, write: (line: string) => void): Model {
  const keep = (value: unknown): void => write(`${JSON.stringify(value)}\n`);
  let count = 0;
  return {
    facts: model.facts,
    async *stream(request) {
      const n = ++count;
      if (n === 1) keep({ parley: "model-recording", version: recordingVersion, facts: model.facts });
      keep({ type: "request", n, request: recorded(request) } satisfies Line);
      try {
        for await (const event of model.stream(request)) {
          keep({ type: "event", n, event } satisfies Line);
          yield event;
        }
      } catch (error) {
        if (error instanceof ModelError) {
          const { kind, message, retryAfterMs } = error;
          keep({ type: "error", n, kind, message, retryAfterMs } satisfies Line);
        }
        throw error;
      }
    },
  };
}

interface Exchange {
  readonly request: RecordedRequest;
  readonly lines: Exclude<Line, { type: "request" }>[];
}

/** Throws at once for a file that is not a recording or has another version. */
export function replayModel(text: string): Model {
  const { facts, exchanges } = readRecording(text);
  let count = 0;
  return {
    facts,
    async *stream(request) {
      const n = ++count;
      const exchange = exchanges[n - 1];
      if (exchange === undefined) throw diverged(n, `the recording has only ${exchanges.length} requests`);
      const difference = firstDifference(exchange.request, recorded(request), "");
      if (difference !== undefined) throw diverged(n, difference);
      for (const line of exchange.lines) {
        if (request.signal.aborted) throw new ModelError("aborted", "The request was cancelled.");
        if (line.type === "error")
          throw new ModelError(line.kind, line.message, { retryAfterMs: line.retryAfterMs });
        yield line.event;
      }
      const last = exchange.lines.at(-1);
      if (last?.type !== "event" || last.event.type !== "end") {
        throw new ModelError("cut_off", `The recording of request ${n} ends before its answer does.`);
      }
    },
  };
}

function readRecording(text: string): { facts: ModelFacts; exchanges: readonly Exchange[] } {
  const [first, ...rest] = text.split("\n").filter((line) => line.trim() !== "");
  const header = parsedLine(first ?? "", 1);
  if (header["parley"] !== "model-recording") {
    throw unreadable(
      `the first line should be {"parley":"model-recording",...} and is ${(first ?? "").slice(0, 80)}`,
    );
  }
  if (header["version"] !== recordingVersion) {
    throw unreadable(`it has version ${header["version"]}, expected ${recordingVersion}: record it again`);
  }
  const exchanges: Exchange[] = [];
  for (const [index, written] of rest.entries()) {
    // written by us; a wrong line shows as a difference
    const line = parsedLine(written, index + 2) as unknown as Line;
    if (line.type === "request") exchanges[line.n - 1] = { request: line.request, lines: [] };
    else if (exchanges[line.n - 1] === undefined) throw unreadable(`line ${index + 2} belongs to no request`);
    else exchanges[line.n - 1]?.lines.push(line);
  }
  return { facts: header["facts"] as ModelFacts, exchanges };
}

function parsedLine(line: string, number: number): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line);
  } catch {
    throw unreadable(`line ${number} is not JSON: ${line.slice(0, 80)}`);
  }
}

function unreadable(reason: string): ModelError {
  return new ModelError("bad_request", `This is not a model recording: ${reason}.`);
}

function diverged(n: number, difference: string): ModelError {
  return new ModelError(
    "bad_request",
    `The recording does not match: at request ${n}, ${difference}. Record it again, or undo the change to the conversation.`,
  );
}

/** Normalises the request to JSON, without undefined fields. */
function recorded({ signal: _, onWait: __, ...rest }: ModelRequest): RecordedRequest {
  return JSON.parse(JSON.stringify(rest));
}

function firstDifference(wanted: unknown, got: unknown, path: string): string | undefined {
  if (Object.is(wanted, got)) return undefined;
  if (!isObjectOrArray(wanted) || !isObjectOrArray(got)) {
    return `${path || "it"} is ${excerpt(got, wanted)} and the recording has ${excerpt(wanted, got)}`;
  }
  const keys = new Set([...Object.keys(wanted), ...Object.keys(got)]);
  for (const key of keys) {
    const place = Array.isArray(wanted) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    const difference = firstDifference(wanted[key], got[key], place);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function isObjectOrArray(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Shortens a long text to the part around the first difference. */
function excerpt(value: unknown, other: unknown): string {
  if (value === undefined) return "absent";
  const text = JSON.stringify(value);
  if (text.length <= 80) return text;
  const otherText = JSON.stringify(other) ?? "";
  let at = 0;
  while (at < text.length && text[at] === otherText[at]) at++;
  const from = Math.max(0, at - 30);
  return `${from > 0 ? "…" : ""}${text.slice(from, from + 80)}${from + 80 < text.length ? "…" : ""}`;
}

/**
 * Creates the file on the first request, since most listed models are never used. Keeps an existing file: the recording
 * goes to `path.2`, `path.3` and so on.
 */
export function recordToFile(model: Model, path: string): Model {
  let file: string | undefined;
  return recordingModel(model, (line) => {
    file ??= newFile(path);
    // synchronous, so that nothing is lost when the process is killed
    appendFileSync(file, line);
  });
}

export function replayFile(path: string): Model {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? error.code : error;
    throw new ModelError("bad_request", `The recording ${path} cannot be read (${reason}).`);
  }
  return replayModel(text);
}

function newFile(path: string): string {
  for (let count = 1; ; count++) {
    const file = count === 1 ? path : `${path}.${count}`;
    try {
      writeFileSync(file, "", { flag: "wx", mode: 0o600 });
      return file;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EEXIST" && count < 1000) continue;
      throw new ModelError("bad_request", `The recording ${file} cannot be written (${code ?? error}).`);
    }
  }
}
