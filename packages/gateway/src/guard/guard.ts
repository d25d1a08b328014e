// Decides who may come in. The name that is called and the page that calls come first, then the token.

import { refusal } from "@parley/acp/server";
import { FailedLogins } from "./failed-logins.ts";
import type { Refused } from "./refusal-log.ts";
import { Tickets, ticketMs } from "./tickets.ts";
import { tokenCheck } from "./token.ts";

export interface GuardOptions {
  readonly path: string;
  readonly token: string;
  /** Whether a value of `Host` is accepted. */
  readonly isOwnHost: (host: string) => boolean;
  /** The pages that may call. */
  readonly origins: ReadonlySet<string>;
  /** Milliseconds that only grow. */
  readonly now: () => number;
  /** Told of each refusal. */
  readonly refused?: (refused: Refused) => void;
}

/** One request, as far as the guard looks at it. */
export interface Visit {
  readonly request: Request;
  readonly host: string | undefined;
  readonly address: string;
  readonly isUpgrade: boolean;
}

export interface Admission {
  /** Headers for the answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** The subprotocol that carried the ticket. */
  readonly protocol?: string;
}

const ticketPrefix = "parley.ticket.";
const hostWords =
  "this server is not called by that name; use the address that it printed, or start it with --allow-host NAME:PORT";
const originWords = "pages of this origin may not connect; the server can allow it with --allow-origin";
const queryWords = 'a token in the query is not accepted; send the header "Authorization: Bearer TOKEN"';
const noTokenWords = 'expected the header "Authorization: Bearer TOKEN" with the token of this server';
const wrongTokenWords = "this is not the token of this server, or not any more";
const tooManyWords = "too many failed logins from this address; the right token works at once";
const queryNames = /^(?:token|access_token|auth|authorization|key|api_?key|ticket)$/i;

export class Guard {
  readonly #options: GuardOptions;
  readonly #isToken: (given: string) => boolean;
  readonly #tickets: Tickets;
  readonly #failures: FailedLogins;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#isToken = tokenCheck(options.token);
    this.#tickets = new Tickets(options.now);
    this.#failures = new FailedLogins(options.now);
  }

  /** Admits the request, or answers it. */
  admit(visit: Visit): Admission | Response {
    const { request, host, address, isUpgrade } = visit;
    const refuse = (status: number, reason: string, more: Record<string, string> = {}) => {
      this.#options.refused?.({ address, status, reason });
      return refusal(status, reason, more);
    };
    if (host === undefined || !this.#options.isOwnHost(host)) return refuse(421, hostWords);
    const origin = request.headers.get("origin");
    if (origin !== null && !this.#options.origins.has(origin)) return refuse(403, originWords);
    const headers = origin === null ? {} : crossOrigin(origin);
    if (request.method === "OPTIONS") return preflight(origin, headers);
    const { searchParams } = new URL(request.url);
    // addresses are logged and shared
    if ([...searchParams.keys()].some((name) => queryNames.test(name)))
      return refuse(400, queryWords, headers);
    const authorization = request.headers.get("authorization");
    const [, bearer] = /^Bearer +(\S+) *$/i.exec(authorization ?? "") ?? [];
    if (bearer !== undefined && this.#isToken(bearer)) return { headers };
    const protocol = isUpgrade ? ticketIn(request) : undefined;
    if (protocol !== undefined && this.#tickets.use(protocol.slice(ticketPrefix.length)))
      return { headers, protocol };
    // who offers nothing guesses nothing
    const isGuess = authorization !== null || protocol !== undefined;
    const seconds = isGuess ? this.#failures.add(address) : undefined;
    if (seconds !== undefined)
      return refuse(429, tooManyWords, { ...headers, "Retry-After": String(seconds) });
    const words = bearer === undefined ? noTokenWords : wrongTokenWords;
    return refuse(401, words, { ...headers, "WWW-Authenticate": 'Bearer realm="acp"' });
  }

  /** Answers the request for a ticket, whose sender was admitted. */
  ticket(request: Request): Response {
    if (request.method !== "POST") return refusal(405, "expected POST", { Allow: "POST" });
    const ticket = this.#tickets.issue();
    if (ticket === undefined)
      return refusal(503, "too many tickets wait to be used", { "Retry-After": "30" });
    const answer = { ticket, protocol: `${ticketPrefix}${ticket}`, expiresInMs: ticketMs };
    return Response.json(answer, { headers: { "Cache-Control": "no-store" } });
  }
}

/** The subprotocol that offers a ticket. */
function ticketIn(request: Request): string | undefined {
  const offered = (request.headers.get("sec-websocket-protocol") ?? "").split(",");
  return offered.map((each) => each.trim()).find((each) => each.startsWith(ticketPrefix));
}

function crossOrigin(origin: string): Record<string, string> {
  return {
    "Access-Control-Allow-Origin": origin,
    // cookies prove nothing here; load balancers route by them
    "Access-Control-Allow-Credentials": "true",
    "Access-Control-Expose-Headers": "Acp-Connection-Id, Acp-Session-Id, Parley-Resume, Retry-After",
    Vary: "Origin",
  };
}

function preflight(origin: string | null, headers: Readonly<Record<string, string>>): Response {
  if (origin === null) return refusal(405, "expected POST, GET or DELETE", { Allow: "GET, POST, DELETE" });
  return new Response(null, {
    status: 204,
    headers: {
      ...headers,
      "Access-Control-Allow-Methods": "GET, POST, DELETE",
      "Access-Control-Allow-Headers":
        "Authorization, Content-Type, Acp-Connection-Id, Acp-Session-Id, Acp-Protocol-Version, Last-Event-ID, Parley-Message, Parley-Heartbeat",
      "Access-Control-Max-Age": "600",
    },
  });
}
