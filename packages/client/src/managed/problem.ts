// Classifies errors of agents and connections by what can be done about them.

import { ConnectionError, RequestError } from "@parley/acp";
import { errorKindOf, optional } from "@parley/acp/jsonrpc";

/** The kind of a failure, by what can be done about it. */
export type AgentProblemKind =
  /** The agent does not know the session. */
  | "session_not_found"
  /** The agent or its provider wants a pause. */
  | "rate_limited"
  | "timeout"
  /** A person or a rule refused. */
  | "denied"
  | "login_needed"
  /** Another client has taken the session. */
  | "session_taken"
  /** The agent crashed, or its connection ended. */
  | "crash"
  | "other";

/** A failure of a prompt or session. */
export interface AgentProblem {
  /** The kind of the failure. */
  readonly kind: AgentProblemKind;
  /** The error message of the agent or the connection. */
  readonly message: string;
  /** The JSON-RPC error code, if the agent answered with one. */
  readonly code?: number;
  /** The pause that the agent asks for, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The crash that cost the agent its session, with the end of what it wrote to stderr. */
  readonly crash?: { readonly message: string; readonly stderr: string };
}

interface ErrorLike {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Errors that do not end the connection, and would happen again. */
const notCrashes: ReadonlySet<string> = new Set(["aborted", "too_large", "protocol"]);

/**
 * Classifies an error answer of an agent, or the end of its connection.
 *
 * @example
 * import { connectAgent, problemOf } from "@parley/client";
 *
 * await using agent = await connectAgent("gemini", { name: "my-app", version: "1.0.0" });
 * try {
 *   await agent.newSession({ cwd: process.cwd() });
 * } catch (error) {
 *   if (problemOf(error).kind === "login_needed") console.error("Log in first");
 * }
 */
export function problemOf(error: unknown): AgentProblem {
  if (error instanceof ConnectionError) {
    const { kind, message } = error;
    if (kind === "timeout" || kind === "session_taken") return { kind, message };
    return { kind: notCrashes.has(kind) ? "other" : "crash", message };
  }
  if (error instanceof RequestError || isErrorLike(error)) return ofAnswer(error);
  return { kind: "other", message: error instanceof Error ? error.message : String(error) };
}

/** Classifies why a session could not be opened again: agents say in many ways that they do not have it any more. */
export function reopeningProblem(error: unknown): AgentProblem {
  const problem = problemOf(error);
  const isLost = error instanceof RequestError && problem.kind !== "login_needed" && !isHeld(error);
  return isLost ? { ...problem, kind: "session_not_found" } : problem;
}

/** Adds the crash that was before it, for those who are asked. */
export function withCrash(problem: AgentProblem, crash: unknown): AgentProblem {
  if (!(crash instanceof ConnectionError) || problem.kind === "crash") return problem;
  const { message, stderr = "" } = crash;
  return { ...problem, crash: { message, stderr } };
}

/** Another client or process has the session. */
function isHeld({ data }: RequestError): boolean {
  return typeof data === "object" && data !== null && "reason" in data && data.reason === "session_held";
}

function ofAnswer({ code, message, data }: ErrorLike): AgentProblem {
  const details =
    typeof data === "object" && data !== null ? (data as Readonly<Record<string, unknown>>) : {};
  const retryAfterMs = pauseOf(details);
  return {
    kind: problemKind(code, message, details),
    message: withDetails(message, data),
    code,
    ...optional({ retryAfterMs }),
  };
}

/** Many agents answer "Internal error" and put the reason into the data, under various names. */
function withDetails(message: string, data: unknown): string {
  const { details, detail, message: inner, error } = (data ?? {}) as Readonly<Record<string, unknown>>; // whatever it is
  const words = [data, details, detail, inner, error].find((each) => typeof each === "string" && each !== "");
  return words === undefined || message.includes(String(words))
    ? message
    : `${message}: ${String(words).slice(0, 1000)}`;
}

function problemKind(
  code: number,
  message: string,
  data: Readonly<Record<string, unknown>>,
): AgentProblemKind {
  const kind = errorKindOf(code, data);
  const reason = String(data["reason"] ?? data["errorKind"] ?? "");
  if (kind === "auth_required") return "login_needed";
  if (kind === "rate_limited" || code === 429 || /rate_?limit/i.test(reason)) return "rate_limited";
  if (kind === "permission_denied" || reason === "permission_denied") return "denied";
  if (kind === "timeout" || reason === "timeout") return "timeout";
  if (kind === "session_not_found" || reason === "session_not_found") return "session_not_found";
  // -32002 is also used for files, which are named by their paths
  const isFile = ["file", "path", "uri"].some((name) => data[name] !== undefined) || /[\\/]/.test(message);
  if (kind === "not_found" && !isFile && (reason === "" || /session/i.test(message))) {
    return "session_not_found";
  }
  if (isAboutMissingSession(message)) return "session_not_found";
  if (/\brate.?limit|too many requests|\boverloaded\b/i.test(message)) return "rate_limited";
  return "other";
}

function isAboutMissingSession(message: string): boolean {
  return (
    /\bsessions?\b/i.test(message) &&
    /not found|unknown|no such|does(?:n't| not) exist|no previous|no active|invalid session/i.test(message)
  );
}

/** `retryAfter` is in seconds, as in HTTP. */
function pauseOf(data: Readonly<Record<string, unknown>>): number | undefined {
  const milliseconds = data["retryAfterMs"] ?? data["retry_after_ms"];
  if (typeof milliseconds === "number" && milliseconds >= 0) return milliseconds;
  const seconds = data["retryAfter"] ?? data["retry_after"];
  return typeof seconds === "number" && seconds >= 0 ? seconds * 1000 : undefined;
}

function isErrorLike(error: unknown): error is ErrorLike {
  return (
    typeof error === "object" &&
    error !== null &&
    typeof (error as ErrorLike).code === "number" &&
    typeof (error as ErrorLike).message === "string"
  );
}
