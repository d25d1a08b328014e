// Describes MCP server failures for the user and the model, without credentials.

import { stderrReason } from "@parley/acp/node";
import type { EndReason } from "@parley/acp/transport";
import { HostError } from "../network/public-addresses.ts";
import { LoginNeeded, RenewalError } from "../oauth/server-login.ts";
import { oneLine } from "../text/safe-text.ts";
import type { ServerEntry } from "./server-entry.ts";

interface Ending {
  readonly end: EndReason | undefined;
}

/** `connection` is the one that failed. A connection that was never open says why as the cause of the error. */
export function describeFailure(error: unknown, entry: ServerEntry, connection?: Ending): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const first = connection === undefined && entry.type !== "acp" ? inner : error;
  const { end } = connection ?? (first as Partial<Ending>);
  return entry.secrets.scrub(`The MCP server ${entry.name} ${reasonOf(first, entry, end)}`);
}

function reasonOf(error: unknown, entry: ServerEntry, end: EndReason | undefined): string {
  if (end !== undefined) {
    const stderr = stderrReason(end.stderr ?? "");
    return `is not running: ${end.message ?? "it closed its output"}.${stderr === "" ? "" : `\nIt wrote:\n${stderr}`}`;
  }
  const { name, code, message, status } = factsOf(error);
  if (name === "TimeoutError" || code === "REQUEST_TIMEOUT") {
    const seconds = Math.ceil((entry.timeoutMs ?? 0) / 1000);
    return `did not answer in time${seconds === 0 ? "" : ` (${seconds} s)`}.`;
  }
  if (causeIn(error, LoginNeeded) !== undefined) return `needs a login: ${loginAdvice(entry)}.`;
  const renewal = causeIn(error, RenewalError);
  if (renewal !== undefined) return `cannot be used: ${renewal.message}.`;
  if (name === "InsufficientScopeError") return "needs more permissions than your login has: log in again.";
  if (status === 401 || status === 403 || name === "UnauthorizedError")
    return `refused the connection (${status ?? 401}): check its headers.`;
  const host = causeIn(error, HostError);
  if (host !== undefined) return `cannot be used: ${host.message}.`;
  const cause = causeOf(error);
  if (cause !== undefined && (entry.type === "http" || entry.type === "sse")) {
    return `cannot be reached at ${URL.parse(entry.url)?.origin ?? "its address"}: ${cause}.`;
  }
  return `answered with an error: ${message}`;
}

function factsOf(error: unknown) {
  const given = error instanceof Error ? error : { name: "", message: String(error) };
  const { name, message, code, data, status } = given as ErrorFields; // each is checked below
  const http = [data?.status, status, code].find((each) => typeof each === "number" && each >= 400);
  return { name, message, code, status: http };
}

interface ErrorFields extends Error {
  readonly code?: unknown;
  readonly data?: { readonly status?: unknown };
  readonly status?: unknown;
}

/** How the user logs in outside a session. */
function loginAdvice(entry: ServerEntry): string {
  const name = "loginName" in entry ? entry.loginName : entry.name;
  // the address may be of a file of the workspace, and the line is for a shell
  const word = /^[\w@%+=:,./-]+$/.test(name) ? name : `'${oneLine(name).replaceAll("'", "'\\''")}'`;
  return `run parley agent mcp login ${word}`;
}

function causeIn<Found extends Error>(
  error: unknown,
  kind: abstract new (...args: never[]) => Found,
): Found | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    if (at instanceof kind) return at;
  return undefined;
}

/** Finds the system error code in nested causes ("fetch failed"). */
function causeOf(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth++) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === "string" && /^E[A-Z]+$|^UND_/.test(code)) return code;
    at = at.cause ?? (at as AggregateError).errors?.[0];
  }
  return undefined;
}
