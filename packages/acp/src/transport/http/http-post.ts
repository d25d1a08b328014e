// The two kinds of POST: the first one, which opens a connection and is answered at once (H5), and all others,
// which are accepted and answered elsewhere (H6).

import { deadline } from "../../base/deadline.ts";
import { type Call, type HttpEndpoint, readText } from "./http-endpoint.ts";
import { HttpFailure, networkWords } from "./http-failure.ts";
import type { Pacing } from "./http-stream.ts";

const json = { "Content-Type": "application/json", Accept: "application/json" };
const connectionHeader = "Acp-Connection-Id";
/** Nobody waits longer than this because a server says so. */
const longestPauseMs = 10_000;

/** Of a body that should be empty. */
const maxUnwantedBytes = 8 * 1024;

/** The answer to the first message. Without a connection it is one that refuses it. */
export interface Opened {
  readonly connectionId: string | undefined;
  readonly text: string;
}

/** Throws HttpFailure for everything that is no answer of the protocol. It may take as long as an agent takes to start. */
export async function openConnection(
  endpoint: HttpEndpoint,
  body: string,
  maxBytes: number,
  onConnection: (id: string) => void,
): Promise<Opened> {
  const wanted = "200 with content of type application/json";
  const call: Call = { method: "POST", headers: json, body, wanted };
  const answer = await endpoint.call(call);
  const { status, headers } = answer.response;
  const connectionId = headers.get(connectionHeader) ?? undefined;
  if (connectionId !== undefined) onConnection(connectionId);
  if (!isJson(headers)) throw await endpoint.failure(call, answer);
  const text = await readText(answer.response, maxBytes + 1);
  answer.release();
  if (isRefusal(text)) return { connectionId: undefined, text };
  if (status !== 200) throw await endpoint.failure(call, answer, text);
  if (connectionId === undefined) {
    const where = `POST ${endpoint.shown}`;
    throw new HttpFailure(
      `${where}: got an answer without the header ${connectionHeader}, wanted one with it`,
      {
        status,
      },
    );
  }
  return { connectionId, text };
}

export interface PostOptions {
  readonly pacing: Pacing;
  readonly timeoutMs: number;
  /** Of an answer. */
  readonly maxBytes: number;
  /** Aborts when it need not be tried again. */
  readonly signal: AbortSignal;
}

/**
 * Posts one message until the server takes it or says why not. Gives the text of an answer that came at once, which
 * servers should not do and some do. Throws HttpFailure.
 */
export async function post(
  endpoint: HttpEndpoint,
  body: string,
  headers: Readonly<Record<string, string>>,
  options: PostOptions,
): Promise<string | undefined> {
  const { pacing, timeoutMs, maxBytes, signal } = options;
  const call: Call = { method: "POST", headers: { ...json, ...headers }, body, wanted: "202" };
  for (let attempt = 1; ; attempt++) {
    const answer = await endpoint.call(call, timeoutMs);
    const { response } = answer;
    if (response.ok && (response.status !== 200 || !isJson(response.headers))) {
      // read to its end, so that the socket can be used again; what was accepted does not wait for that
      void readText(response, maxUnwantedBytes)
        .catch(() => "")
        .then(answer.release);
      return undefined;
    }
    if (response.ok) {
      const text = await readText(response, maxBytes + 1).catch((cause: unknown) => {
        // it was taken, so that it cannot be sent again, and nobody will answer it any more
        const words = `POST ${endpoint.shown}: the answer was cut off: ${networkWords(cause)}`;
        throw new HttpFailure(words, { cause });
      });
      answer.release();
      return text === "" ? undefined : text;
    }
    const failure = await endpoint.failure(call, answer);
    // only these two say that the message was not taken and may be another time
    const isPassing = failure.status === 429 || failure.status === 503;
    if (!isPassing || attempt > pacing.maxRetries || signal.aborted) throw failure;
    const ms = failure.retryAfterMs ?? pacing.backoffMs * 2 ** (attempt - 1);
    if (ms > longestPauseMs) throw failure;
    await pause(ms, signal);
  }
}

function isJson(headers: Headers): boolean {
  return /^application\/json\b/i.test(headers.get("content-type") ?? "");
}

/** An error of JSON-RPC, under whatever status. */
function isRefusal(text: string): boolean {
  try {
    const { jsonrpc, error } = JSON.parse(text) as Readonly<Record<string, unknown>>; // two fields are looked for
    return jsonrpc === "2.0" && error !== undefined;
  } catch {
    // whoever reads the text says so
    return false;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = deadline(ms, done);
    signal.addEventListener("abort", done, { once: true });
  });
}
