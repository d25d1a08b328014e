// Builds the client definition of a managed agent from its gate and asker.

import {
  type AskContext,
  type ClientDefinition,
  type ClientSession,
  type ElicitationAnswer,
  type ElicitationAsk,
  errorCodes,
  RequestError,
} from "@parley/acp";
import { vetoKey, vetoMethod, vetoSession } from "../gate/veto.ts";
import type { Asker } from "./asker.ts";
import type { LiveGate, LiveOptions } from "./live-options.ts";

/** Agents that run commands by themselves show what these print to those who say so; others do not know the word. */
const terminalOutput = { terminal_output: true };

/** `sessionOf` gives the session that an agent names. */
export function clientDefinition(
  { client, gate, asker = {}, onEvent }: LiveOptions,
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
    meta: { ...meta, ...client.meta },
    ...(gate === undefined ? {} : { permission: gate.permission, ...services(gate) }),
    ...(gate?.veto === undefined ? {} : { requests: { ...vetoes(gate, sessionOf), ...client.requests } }),
    ...(asker.elicit === undefined
      ? {}
      : {
          elicit: (ask: ElicitationAsk, context: AskContext) => elicit(asker, ask, context, { warn, visits }),
        }),
    terminalAuth: runsLogins,
  };
}

function vetoes(
  gate: LiveGate,
  sessionOf: (sessionId: string) => ClientSession | undefined,
): NonNullable<ClientDefinition["requests"]> {
  return {
    [vetoMethod]: (params, { signal }) => {
      const session = sessionOf(vetoSession(params));
      if (session === undefined)
        throw new RequestError(errorCodes.notFound, `${vetoMethod}: there is no such session`);
      return gate.veto?.(session, params, signal);
    },
  };
}

/** Both from one call for each session. */
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

/** An address is shown with the host that it really leads to; what no browser should be sent to is declined unseen. */
async function elicit(
  asker: Asker,
  ask: ElicitationAsk,
  context: AskContext,
  {
    warn,
    visits,
  }: { readonly warn: (message: string) => void; readonly visits: Map<string, AbortController> },
): Promise<ElicitationAnswer> {
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
  // a name in front of the host is there to look like one
  if (username !== "" || password !== "") return undefined;
  const isHere = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  return protocol === "https:" || (protocol === "http:" && isHere) ? host : undefined;
}
