// Builds the client definition of a managed agent from its gate and asker.

import {
  type ClientDefinition,
  type ClientSession,
  type ElicitationRequest,
  type ElicitationResponse,
  type Extensions,
  type RequestContext,
  RequestError,
} from "@parley/acp";
import { vetoKey, vetoMethod, vetoSession } from "../gate/veto.ts";
import type { Asker } from "./asker.ts";
import type { ConnectAgentOptions, LiveGate } from "./live-options.ts";

/** Some agents send the output of their own commands to clients with this capability. */
const terminalOutput = { terminal_output: true };

/** `sessionOf` finds a session by its id. */
export function clientDefinition(
  { client, gate, asker = {}, onEvent }: ConnectAgentOptions,
  sessionOf: (sessionId: string) => ClientSession | undefined,
): ClientDefinition {
  const warn = (message: string) => onEvent?.({ kind: "warning", message });
  const runsLogins = asker.terminalLogin !== undefined;
  const visits = new Map<string, AbortController>();
  const meta = {
    ...terminalOutput,
    ...(runsLogins && { "terminal-auth": true }),
    ...(gate?.veto && { [vetoKey]: true }),
  };
  return {
    ...client,
    elicitationCompleted(elicitationId) {
      visits.get(elicitationId)?.abort();
      client.elicitationCompleted?.(elicitationId);
    },
    _meta: { ...meta, ...client._meta },
    ...(gate === undefined ? {} : { requestPermission: gate.permission, ...services(gate) }),
    ...(gate?.veto === undefined
      ? {}
      : {
          extensions: {
            ...client.extensions,
            requests: { ...vetoes(gate, sessionOf), ...client.extensions?.requests },
          },
        }),
    ...(asker.elicit === undefined
      ? {}
      : {
          elicit: (ask: ElicitationRequest, context: RequestContext) =>
            elicit(asker, ask, context, { warn, visits }),
        }),
    auth: { terminal: runsLogins },
  };
}

function vetoes(
  gate: LiveGate,
  sessionOf: (sessionId: string) => ClientSession | undefined,
): NonNullable<Extensions["requests"]> {
  return {
    [vetoMethod]: (params, { signal }) => {
      const session = sessionOf(vetoSession(params));
      if (session === undefined)
        throw new RequestError("session_not_found", `${vetoMethod}: there is no such session`);
      return gate.veto?.(session, params, signal);
    },
  };
}

/** Files and terminals come from one call per session. */
function services(gate: LiveGate): Pick<ClientDefinition, "files" | "terminals"> {
  if (gate.services === undefined) return {};
  const made = new WeakMap<ClientSession, ReturnType<NonNullable<LiveGate["services"]>>>();
  const of = (session: ClientSession) => {
    const known = made.get(session) ?? gate.services?.(session);
    if (known === undefined) throw new TypeError("the gate gives no services");
    made.set(session, known);
    return known;
  };
  return { files: (session) => of(session).files, terminals: (session) => of(session).terminals };
}

/** Shows an address with its real host, and declines addresses that a browser should not open. */
async function elicit(
  asker: Asker,
  ask: ElicitationRequest,
  context: RequestContext,
  {
    warn,
    visits,
  }: { readonly warn: (message: string) => void; readonly visits: Map<string, AbortController> },
): Promise<ElicitationResponse> {
  const { elicit: answer } = asker;
  if (answer === undefined) return { action: "decline" };
  if (ask.mode === "form") return answer.call(asker, ask, context);
  const host = visitableHost(ask.url);
  if (host !== undefined) {
    const visit = new AbortController();
    visits.set(ask.elicitationId, visit);
    try {
      return await answer.call(asker, { ...ask, host, completed: visit.signal }, context);
    } finally {
      visits.delete(ask.elicitationId);
    }
  }
  warn("the agent asked to visit an address that is neither https nor on this machine; it was declined");
  return { action: "decline" };
}

function visitableHost(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, host, hostname, username, password } = new URL(address);
  // a user name in an address is used to imitate a host
  if (username !== "" || password !== "") return undefined;
  const isHere = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  return protocol === "https:" || (protocol === "http:" && isHere) ? host : undefined;
}
