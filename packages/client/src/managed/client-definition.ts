// Builds the client definition of a managed agent.

import {
  type ClientDefinition,
  type ClientPolicy,
  type ClientSession,
  type ElicitationRequest,
  type ElicitationResponse,
  type Extensions,
  type RequestContext,
  RequestError,
} from "@parley/acp";
import { takenMethod, vetoMethod } from "@parley/acp/extensions";
import { isObject, optional } from "@parley/acp/jsonrpc";
import { vetoSession } from "../gate/veto.ts";
import type { ManageAgentOptions, ManagedGate } from "./managed-options.ts";

/** Some agents send the output of their own commands to clients with this capability. */
const terminalOutput = { terminal_output: true };

/** Finds sessions for the handlers of a definition. */
export interface SessionLookup {
  /** The session of the running process, by its id. */
  current(sessionId: string): ClientSession | undefined;
  /** The session that the app has, for the session of a process. */
  managed(session: ClientSession): ClientSession;
  /** Another client has the session now. */
  taken(sessionId: string): void;
}

export function clientDefinition(options: ManageAgentOptions, sessions: SessionLookup): ClientDefinition {
  const { asker = {}, gate, elicit, onEvent } = options;
  const warn = (message: string) => onEvent?.({ kind: "warning", message });
  const runsLogins = asker.terminalLogin !== undefined;
  const visits = new Map<string, AbortController>();
  const own = ownPart(options);
  const meta = {
    ...terminalOutput,
    ...(runsLogins && { "terminal-auth": true }),
    ...(gate?.veto && { [vetoMethod]: true }),
  };
  return {
    ...own,
    ...(gate === undefined
      ? handlers(options, sessions)
      : { requestPermission: gate.permission, permitTool: gate.tool ?? refuseTool, ...services(gate) }),
    elicitationCompleted(elicitationId, notice) {
      visits.get(elicitationId)?.abort();
      own.elicitationCompleted?.(elicitationId, notice);
    },
    _meta: { ...meta, ...own._meta },
    extensions: {
      ...own.extensions,
      ...(gate?.veto && { requests: { ...vetoes(gate, sessions), ...own.extensions?.requests } }),
      notifications: { ...own.extensions?.notifications, ...takenNotice(options, sessions) },
    },
    ...(elicit === undefined
      ? {}
      : {
          elicit: (ask: ElicitationRequest, context: RequestContext) =>
            visit(elicit, ask, withManaged(context, sessions), { warn, visits }),
        }),
    auth: { terminal: runsLogins },
  };
}

/** A gate that knows no tools allows none. */
function refuseTool(): never {
  throw RequestError.permissionDenied("permission denied: nobody is there to decide about tools");
}

/** Tells of a session that another client has taken, also while nothing runs in it. */
function takenNotice(
  { extensions, onEvent }: ManageAgentOptions,
  { taken }: SessionLookup,
): NonNullable<Extensions["notifications"]> {
  return {
    [takenMethod](params, context) {
      const { sessionId } = isObject(params) ? params : {};
      taken(String(sessionId));
      onEvent?.({ kind: "session_taken", sessionId: String(sessionId) });
      return extensions?.notifications?.[takenMethod]?.(params, context);
    },
  };
}

/** The options that go to `client()` as they are. */
function ownPart(options: ManageAgentOptions): Omit<ClientDefinition, "auth" | "elicit"> {
  const { name, version, title, elicitationCompleted, strict, extensions, editions, unstable } = options;
  const { log, connection, mcp, mcpReceipt, _meta } = options;
  return {
    name,
    version,
    ...optional({
      title,
      elicitationCompleted,
      strict,
      extensions,
      editions,
      unstable,
      log,
      connection,
      mcp,
      mcpReceipt,
      _meta,
    }),
  };
}

/** The handlers of the app, which gets its own sessions. */
function handlers(
  { requestPermission, permitTool, files, terminals, policy }: ManageAgentOptions,
  sessions: SessionLookup,
): Pick<ClientDefinition, "requestPermission" | "permitTool" | "files" | "terminals"> {
  const { managed } = sessions;
  const given = {
    requestPermission:
      requestPermission &&
      ((...[request, context]: Parameters<typeof requestPermission>) =>
        requestPermission(request, withManaged(context, sessions))),
    permitTool:
      permitTool &&
      ((...[call, context]: Parameters<typeof permitTool>) =>
        permitTool(call, withManaged(context, sessions))),
    files: typeof files === "function" ? (session: ClientSession) => files(managed(session)) : files,
    terminals:
      typeof terminals === "function" ? (session: ClientSession) => terminals(managed(session)) : terminals,
    policy: policy && managedPolicy(policy, sessions),
  };
  return optional(given);
}

function managedPolicy(policy: ClientPolicy, sessions: SessionLookup): ClientPolicy {
  return {
    decide: (request, context) => policy.decide(request, withManaged(context, sessions)),
    remember: (request, option, context) =>
      policy.remember?.(request, option, withManaged(context, sessions)),
    cancel: (session) => policy.cancel?.(sessions.managed(session)),
  };
}

function withManaged(context: RequestContext, { managed }: SessionLookup): RequestContext {
  const { session } = context;
  return session === undefined ? context : { ...context, session: managed(session) };
}

function vetoes(gate: ManagedGate, sessions: SessionLookup): NonNullable<Extensions["requests"]> {
  return {
    [vetoMethod]: (params, { signal }) => {
      const session = sessions.current(vetoSession(params));
      if (session === undefined)
        throw new RequestError("session_not_found", `${vetoMethod}: there is no such session`);
      return gate.veto?.(session, params, signal);
    },
  };
}

/** Files and terminals come from one call per session. */
function services(gate: ManagedGate): Pick<ClientDefinition, "files" | "terminals"> {
  if (gate.services === undefined) return {};
  const made = new WeakMap<ClientSession, ReturnType<NonNullable<ManagedGate["services"]>>>();
  const of = (session: ClientSession) => {
    const known = made.get(session) ?? gate.services?.(session);
    if (known === undefined) throw new TypeError("the gate gives no services");
    made.set(session, known);
    return known;
  };
  return { files: (session) => of(session).files, terminals: (session) => of(session).terminals };
}

/** Shows an address with its real host, and declines addresses that a browser should not open. */
async function visit(
  answer: NonNullable<ManageAgentOptions["elicit"]>,
  ask: ElicitationRequest,
  context: RequestContext,
  {
    warn,
    visits,
  }: { readonly warn: (message: string) => void; readonly visits: Map<string, AbortController> },
): Promise<ElicitationResponse> {
  if (ask.mode === "form") return answer(ask, context);
  const host = visitableHost(ask.url);
  if (host !== undefined) {
    const visited = new AbortController();
    visits.set(ask.elicitationId, visited);
    try {
      return await answer({ ...ask, host, completed: visited.signal }, context);
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
