// Builds the client definition of a managed agent.

import type {
  ClientDefinition,
  ClientPolicy,
  ClientSession,
  ElicitationRequest,
  ElicitationResponse,
  Extensions,
  RequestContext,
} from "@parley/acp";
import { takenMethod } from "@parley/acp/extensions";
import { isObject, optional } from "@parley/acp/jsonrpc";
import type { ManageAgentOptions } from "./managed-options.ts";

/** Some agents send the output of their own commands to clients with this capability. */
const terminalOutput = { terminal_output: true };

/** Finds sessions for the handlers of a definition. */
export interface SessionLookup {
  /** Who the agent is, for a gate. */
  agent(): { readonly agent: string; readonly exactTitles: boolean };
  /** The session that the app has, for the session of a process. */
  managed(session: ClientSession): ClientSession;
  /** Another client has the session now. */
  taken(sessionId: string): void;
}

/** `policy` returns the policy of the options, once it has been made. */
export function clientDefinition(
  options: ManageAgentOptions,
  sessions: SessionLookup,
  policy: () => ClientPolicy | undefined,
): ClientDefinition {
  const { asker = {}, elicit, onEvent } = options;
  const warn = (message: string) => onEvent?.({ kind: "warning", message });
  const runsLogins = asker.terminalLogin !== undefined;
  const visits = new Map<string, AbortController>();
  const own = ownPart(options);
  const meta = {
    ...terminalOutput,
    ...(runsLogins && { "terminal-auth": true }),
  };
  return {
    ...own,
    ...handlers(options, sessions, policy),
    elicitationCompleted(elicitationId, notice) {
      visits.get(elicitationId)?.abort();
      own.elicitationCompleted?.(elicitationId, notice);
    },
    _meta: { ...meta, ...own._meta },
    extensions: {
      ...own.extensions,
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
  { requestPermission, files, terminals, policy: given }: ManageAgentOptions,
  sessions: SessionLookup,
  policy: () => ClientPolicy | undefined,
): Pick<ClientDefinition, "requestPermission" | "files" | "terminals" | "policy"> {
  const { managed } = sessions;
  return optional({
    requestPermission:
      requestPermission &&
      ((...[request, context]: Parameters<typeof requestPermission>) =>
        requestPermission(request, withManaged(context, sessions))),
    files: typeof files === "function" ? (session: ClientSession) => files(managed(session)) : files,
    terminals:
      typeof terminals === "function" ? (session: ClientSession) => terminals(managed(session)) : terminals,
    policy: given && managedPolicy(given, sessions, policy),
  });
}

/** Passes each call to the policy of the options, with the sessions that the app has. It is made before a session is opened. */
function managedPolicy(
  given: NonNullable<ManageAgentOptions["policy"]>,
  sessions: SessionLookup,
  policy: () => ClientPolicy | undefined,
): ClientPolicy {
  const { managed } = sessions;
  const there = (): ClientPolicy => {
    const found = policy();
    if (found === undefined) throw new Error("the agent asked before a session was open");
    return found;
  };
  // adds the facts about the agent, which a gate needs
  const known = <Context extends object>(context: Context) => ({ ...context, ...sessions.agent() });
  const has = (what: "services" | "veto") => typeof given === "function" || given[what] !== undefined;
  return {
    decide: (request, context) => there().decide(request, known(withManaged(context, sessions))),
    ...(has("services") && {
      services(session, context) {
        const made = there().services?.(managed(session), known(context));
        if (made === undefined) throw new TypeError("the policy gives no services");
        return made;
      },
    }),
    ...(has("veto") && {
      veto: async (params, context) =>
        there().veto?.(params, known(withManaged(context, sessions))) ??
        Promise.reject(new TypeError("the policy takes no announcements")),
    }),
    observe: (session, update) => policy()?.observe?.(managed(session), update),
    prompted: (session, context) => policy()?.prompted?.(managed(session), known(context)),
    cancel: (session) => policy()?.cancel?.(managed(session)),
  };
}

function withManaged<Context extends { readonly session: ClientSession | undefined }>(
  context: Context,
  { managed }: SessionLookup,
): Context {
  const { session } = context;
  return session === undefined ? context : { ...context, session: managed(session) };
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
