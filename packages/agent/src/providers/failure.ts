// Converts provider errors to model errors, without keys or conversation (SDK errors contain the whole request).

import { isObject } from "@parley/acp/jsonrpc";
import { ModelError, type ModelErrorKind } from "../model/model.ts";
import { Failure } from "../model/retry.ts";
import { scrub } from "../text/hidden-secrets.ts";
import { OversizedAnswer, UnfinishedAnswer } from "./from-parts.ts";
import type { Endpoint } from "./provider-config.ts";

export interface FailureContext {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly secrets: readonly string[];
  readonly now: number;
  /** Whether part of the answer had arrived. */
  readonly hasBegun: boolean;
}

/** The common fields of SDK errors, thrown or streamed. */
interface Report {
  readonly status: number | undefined;
  /** `overloaded_error`, `context_length_exceeded`, `RESOURCE_EXHAUSTED`. */
  readonly code: string;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const overflowWords = [
  /prompt is too long/i,
  /exceeds? (?:the )?(?:maximum )?context (?:limit|window|length)/i,
  /context_length_exceeded|exceed_context_size|model_context_window_exceeded|string_above_max_length/i,
  /maximum (?:context|prompt) length/i,
  /(?:exceeds?|larger than) the (?:context window|available context size)/i,
  /input token count .*exceeds the maximum/i,
  /greater than the context length|context the overflows|context length .*exceeded/i,
  /reduce the length of the messages/i,
  /request too large/i,
  /request_too_large/i,
];

const quotaWords =
  /insufficient_quota|exceeded your current quota|credit balance is too low|billing_error|out of credits/i;
const refusalWords =
  /content_filter|content_policy_violation|content management policy|usage polic|PROHIBITED_CONTENT/i;
const badKeyWords = /api[ _]key not valid|API_KEY_INVALID|invalid api key|incorrect api key/i;

export function failureOf(thrown: unknown, context: FailureContext): Failure {
  if (thrown instanceof Failure) return thrown;
  const clean = (text: string): string => scrub(text, context.secrets);
  const { label } = context.endpoint;
  const fail = (kind: ModelErrorKind, message: string, isRetryable = false, retryAfter?: number): Failure =>
    new Failure(new ModelError(kind, clean(message), { retryAfterMs: retryAfter }), isRetryable);

  if (thrown instanceof OversizedAnswer)
    return fail("bad_request", `The answer from ${label} is not used: ${thrown.message}.`);
  if (thrown instanceof UnfinishedAnswer) {
    return thrown.isMalformed
      ? fail("unavailable", `${label} ended its answer with an error: ${thrown.message}.`, true)
      : fail("cut_off", `The answer from ${label} was interrupted: ${thrown.message}.`, true);
  }
  const report = reportOf(thrown);
  const system = systemCode(thrown);
  if (report.status === undefined || (report.status === 200 && system !== undefined)) {
    const hasAnswered = report.status !== undefined;
    return connectionFailure(thrown, { system: system ?? "", hasAnswered }, context, fail);
  }
  return responseFailure(report, context, fail);
}

type Fail = (kind: ModelErrorKind, message: string, isRetryable?: boolean, retryAfter?: number) => Failure;

function responseFailure(report: Report, { endpoint, model, now }: FailureContext, fail: Fail): Failure {
  const { status = 0, headers, body } = report;
  const { label, keyHint } = endpoint;
  const all = `${report.code} ${report.message} ${body ?? ""}`;
  const words = `${status}: ${shortened(report.message) || report.code || "no reason given"}`;
  const after = retryAfterMs(report, now);
  // Anthropic and OpenAI say whether to retry
  const shouldRetry = headers["x-should-retry"];

  if (status === 413 || (status < 500 && overflowWords.some((shape) => shape.test(all)))) {
    return fail(
      "overflow",
      `The conversation is too long for ${model} (${words}). Compact it or start a new session.`,
    );
  }
  // Google calls every rate limit a quota, but names a delay
  if (status === 402 || (status < 500 && after === undefined && quotaWords.test(all))) {
    return fail(
      "rate_limit",
      `The account at ${label} has no credit left (${words}). Add credit or choose another model.`,
    );
  }
  if (status < 500 && refusalWords.test(all)) {
    return fail("refused", `${label} refused the request (${words}).`);
  }
  if (status === 401 || (status < 500 && badKeyWords.test(all))) {
    return fail("auth", `${label} did not accept the API key (${words}). ${keyHint}`);
  }
  if (status === 403) return fail("auth", `${label} does not allow this key to use ${model} (${words}).`);
  if (status === 429) {
    const wait = after === undefined ? "Try again later." : `It asks to wait ${Math.ceil(after / 1000)} s.`;
    return fail(
      "rate_limit",
      `The rate limit of ${label} is reached (${words}). ${wait}`,
      shouldRetry !== "false",
      after,
    );
  }
  if (status === 404) {
    return fail(
      "bad_request",
      `${label} does not know ${model} (${words}). Choose another model or check the address.`,
    );
  }
  if (status >= 500 || status === 408 || status === 409 || shouldRetry === "true") {
    return fail("unavailable", `${label} cannot answer now (${words}).`, shouldRetry !== "false", after);
  }
  return fail("bad_request", `${label} did not accept the request (${words}).`);
}

function connectionFailure(
  thrown: unknown,
  { system, hasAnswered }: { readonly system: string; readonly hasAnswered: boolean },
  context: FailureContext,
  fail: Fail,
): Failure {
  const { label, baseUrl } = context.endpoint;
  const reason = shortened(deepest(thrown));
  if (/ended without a finish reason/.test(reason)) {
    return fail("cut_off", `The answer from ${label} was interrupted: the stream ended too early.`, true);
  }
  if (/JSON|Type validation|normalized|Invalid response|Expected '/i.test(reason) && system === "") {
    return fail("unavailable", `${label} sent an answer that cannot be read: ${reason}`, true);
  }
  if (/^no data for/.test(reason)) return fail("cut_off", `${label} sent ${reason}.`, true);
  if (
    context.hasBegun ||
    hasAnswered ||
    system === "UND_ERR_SOCKET" ||
    /terminated|other side closed/i.test(reason)
  ) {
    return fail("cut_off", `The connection to ${label} was lost (${system || reason}).`, true);
  }
  const where = URL.parse(baseUrl)?.host ?? label;
  return fail("unavailable", `${label} cannot be reached at ${where} (${system || reason}).`, true);
}

function reportOf(thrown: unknown): Report {
  const error = record(thrown);
  const data = record(error["data"]);
  const inner = Object.keys(record(data["error"])).length > 0 ? record(data["error"]) : data;
  const status = error["statusCode"] ?? inner["statusCode"];
  const code = [error["type"], error["code"], inner["type"], inner["code"], inner["status"]]
    .filter((value) => typeof value === "string")
    .join(" ");
  const isAnswer = typeof status === "number";
  return {
    status: isAnswer ? status : streamedStatus(error, code),
    code,
    message: typeof error["message"] === "string" ? error["message"] : "",
    // as the SDK parsed them
    headers: record(error["responseHeaders"]) as Record<string, string>,
    body: typeof error["responseBody"] === "string" ? error["responseBody"] : undefined,
  };
}

/** Derives a status for error events of Chat Completions servers, which have only a code or a number. */
function streamedStatus(error: Readonly<Record<string, unknown>>, code: string): number | undefined {
  if (error instanceof Error || typeof error["message"] !== "string") return undefined;
  if (typeof error["code"] === "number" && error["code"] >= 400) return error["code"];
  if (/rate_limit|quota/i.test(code)) return 429;
  if (/auth/i.test(code)) return 401;
  return /invalid|context_length|bad_request/i.test(code) ? 400 : 500;
}

function systemCode(thrown: unknown): string | undefined {
  for (let error = record(thrown), depth = 0; depth < 8; error = record(error["cause"]), depth++) {
    if (typeof error["code"] === "string" && /^[A-Z][A-Z_0-9]+$/.test(error["code"])) return error["code"];
  }
  return undefined;
}

function deepest(thrown: unknown): string {
  let message = "";
  for (let error = record(thrown), depth = 0; depth < 8; error = record(error["cause"]), depth++) {
    if (typeof error["message"] === "string" && error["message"] !== "") message = error["message"];
  }
  return message === "" ? String(thrown) : message;
}

/** Shortens the message: some proxies answer with an HTML page. */
function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim().replace(/\.$/, "");
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

/** The delay that the provider asks for in its headers or body: milliseconds from now, or undefined. */
function retryAfterMs({ headers, body }: Report, now: number): number | undefined {
  const precise = Number.parseFloat(headers["retry-after-ms"] ?? "");
  if (precise >= 0) return precise;
  const text = headers["retry-after"]?.trim();
  if (text !== undefined && /^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = text === undefined ? Number.NaN : Date.parse(text);
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body ?? "")?.[1];
  return delay === undefined ? undefined : Number(delay) * 1000;
}
