// Sends messages by POST: the first opens the connection and is answered at once, the others are only accepted.

import { sleep } from "../../base/abortable.ts";
import { ReconnectPace } from "../reconnect-pace.ts";
import { type Call, type HttpEndpoint, readText } from "./http-endpoint.ts";
import {
  asFailure,
  backoff,
  HttpFailure,
  isBrokenSocket,
  longestPauseMs,
  networkWords,
  type Pacing,
} from "./http-failure.ts";

const json = { "Content-Type": "application/json", Accept: "application/json" };
const connectionHeader = "Acp-Connection-Id";
/** How many seconds the server keeps a connection that was cut. It then takes a numbered message only once. */
const resumeHeader = "Parley-Resume";
/** The limit for a body that should be empty. */
const maxUnwantedBytes = 8 * 1024;

/** The answer to the first message; without a connection id it is a refusal. */
export interface Opened {
  readonly connectionId: string | undefined;
  readonly text: string;
  /** How long the server keeps the connection after a cut; undefined if it does not. */
  readonly resumeMs?: number | undefined;
}

/**
 * Opens a connection with its first message. Throws HttpFailure for anything but a JSON-RPC answer. Has no timeout.
 * If the socket breaks before an answer, the message is sent once more: a server closes sockets that were idle, and a
 * request on one of them is lost. If it was not, the server has a connection that nobody uses, and ends it.
 */
export async function openConnection(
  endpoint: HttpEndpoint,
  body: string,
  maxBytes: number,
  onConnection: (id: string) => void,
): Promise<Opened> {
  const wanted = "200 with content of type application/json";
  const call: Call = { method: "POST", headers: json, body, wanted };
  const answer = await endpoint.call(call).catch((error: unknown) => {
    if (!isBrokenSocket(error)) throw error;
    return endpoint.call(call);
  });
  const { status, headers } = answer.response;
  const connectionId = headers.get(connectionHeader) ?? undefined;
  if (connectionId !== undefined) onConnection(connectionId);
  if (!isJson(headers)) throw await endpoint.failure(call, answer);
  const text = await readText(answer.response, maxBytes + 1);
  answer.release();
  if (isRefusal(text)) return { connectionId: undefined, text };
  if (status !== 200) throw await endpoint.failure(call, answer, text);
  if (connectionId === undefined) {
    const message = `POST ${endpoint.shown}: expected the header ${connectionHeader}, got an answer without it`;
    throw new HttpFailure(message, { status });
  }
  const seconds = headers.get(resumeHeader) ?? "";
  return { connectionId, text, resumeMs: /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1_000 : undefined };
}

export interface PostOptions {
  readonly pacing: Pacing;
  readonly timeoutMs: number;
  /** The limit for an answer. */
  readonly maxBytes: number;
  /** Stops retries. */
  readonly signal: AbortSignal;
  /** How long to send a message again that has a number; undefined when it has none. */
  readonly resumeMs?: number | undefined;
  /** Told after each attempt whether the server was reached. */
  reached?(is: boolean): void;
}

/** Nobody knows whether the server has the message. */
const lostStatuses: ReadonlySet<number | undefined> = new Set([undefined, 408, 502, 504]);
/** How often a numbered message is sent again after 400, which is also the answer to a request that was cut off on its way. */
export const maxCutOff = 2;

/**
 * Posts one message, and retries while the server is busy or, with a number, when nobody knows whether the server has it.
 * Returns the body of an answer, which some servers send although the protocol says 202. Throws HttpFailure.
 */
export async function post(
  endpoint: HttpEndpoint,
  body: string,
  headers: Readonly<Record<string, string>>,
  options: PostOptions,
): Promise<string | undefined> {
  const { pacing, signal, resumeMs } = options;
  const call: Call = { method: "POST", headers: { ...json, ...headers }, body, wanted: "202" };
  const pace = resumeMs === undefined ? undefined : new ReconnectPace(pacing.backoffMs, resumeMs);
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await postOnce(endpoint, call, options);
      options.reached?.(true);
      return answer;
    } catch (error) {
      const failure = asFailure(error);
      const isLost = lostStatuses.has(failure.status) || (failure.status === 400 && attempt <= maxCutOff);
      const pause = isLost ? pace?.next() : busyPause(failure, pacing, attempt);
      options.reached?.(!isLost);
      if (signal.aborted) throw failure;
      if (pause === undefined)
        throw isLost && pace !== undefined ? failure.saying(pace.gaveUp(failure.message)) : failure;
      await sleep(pause, signal);
    }
  }
}

/** Only these statuses mean that the message was not accepted and can be sent again. */
function busyPause(
  { status, retryAfterMs }: HttpFailure,
  pacing: Pacing,
  attempt: number,
): number | undefined {
  if ((status !== 429 && status !== 503) || attempt > pacing.maxRetries) return undefined;
  const ms = retryAfterMs ?? backoff(pacing, attempt);
  return ms > longestPauseMs ? undefined : ms;
}

async function postOnce(
  endpoint: HttpEndpoint,
  call: Call,
  { timeoutMs, maxBytes }: PostOptions,
): Promise<string | undefined> {
  const answer = await endpoint.call(call, timeoutMs);
  const { response } = answer;
  if (!response.ok) throw await endpoint.failure(call, answer);
  if (response.status !== 200 || !isJson(response.headers)) {
    // read to the end, without waiting, so that the socket can be reused
    void readText(response, maxUnwantedBytes)
      .catch(() => "")
      .then(answer.release);
    return undefined;
  }
  const text = await readText(response, maxBytes + 1).catch((cause: unknown) => {
    // the server accepted the message, so it must not be sent again without a number
    const words = `POST ${endpoint.shown}: the answer was cut off: ${networkWords(cause)}`;
    throw new HttpFailure(words, { cause });
  });
  answer.release();
  return text === "" ? undefined : text;
}

function isJson(headers: Headers): boolean {
  return /^application\/json\b/i.test(headers.get("content-type") ?? "");
}

/** Whether the text is a JSON-RPC error that answers a request. Without an id it is the server's, and its status says more. */
function isRefusal(text: string): boolean {
  try {
    const { jsonrpc, id, error } = JSON.parse(text) as Readonly<Record<string, unknown>>; // all are checked below
    return jsonrpc === "2.0" && (id ?? null) !== null && error !== undefined;
  } catch {
    // reported when the text is parsed
    return false;
  }
}
