// Answers requests about the login and the model providers of an agent.

import { optional } from "../../base/objects.ts";
import { expiresAtKey } from "../../base/parley-extensions.ts";
import type { AgentOpResult, SessionOp } from "../../edition/agent-edition.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { AuthStatus, Provider, ProviderSetting } from "../../model/agent-status.ts";
import type { AgentDefinition, ProviderHandlers } from "./agent-definition.ts";
import { HandledOp } from "./handled-request.ts";
import { logIn } from "./request-rules.ts";

export type AccountOp = Extract<SessionOp, { op: "login" | "logout" | "pass" }>;

/** A request that passes through is about the agent's account, unless it names a session. */
export function isAccountOp(op: SessionOp): op is AccountOp {
  return op.op === "login" || op.op === "logout" || (op.op === "pass" && op.sessionId === undefined);
}

export async function runAccountOp(definition: AgentDefinition, op: AccountOp): Promise<AgentOpResult> {
  const { auth } = definition;
  const handled = new HandledOp(op);
  switch (op.op) {
    case "login": {
      const { credentials } = op;
      const request = Object.assign(handled, optional({ credentials }));
      const { expiresAt } = await logIn(definition, op.methodId, request);
      if (expiresAt !== undefined) handled.resultMeta = { ...handled.resultMeta, [expiresAtKey]: expiresAt };
      return handled.none;
    }
    case "logout":
      if (auth?.logout === undefined) throw RequestError.methodNotFound("logout");
      await auth.logout(handled);
      return handled.none;
    case "pass":
      if (op.method === "auth/status") return handled.value(await authStatus(definition, handled));
      return handled.value(await configureProviders(definition, op, handled));
  }
}

async function configureProviders(
  { providers: handlers }: AgentDefinition,
  { method, params }: Extract<SessionOp, { op: "pass" }>,
  handled: HandledOp,
): Promise<object> {
  if (handlers === undefined) throw RequestError.methodNotFound(method);
  const setting = params as ProviderSetting; // validated by the method's row
  const { providerId, apiType, baseUrl, headers, _meta } = setting;
  switch (method) {
    case "providers/list":
      return { providers: [...(await handlers.list(handled))] };
    case "providers/set": {
      const provider = await find(handlers, setting);
      if (provider === undefined)
        throw RequestError.invalidParams(`there is no provider ${quoted(providerId)}`, "/providerId");
      if (!provider.supported.includes(apiType)) {
        const supported = provider.supported.map((each) => quoted(String(each))).join(", ");
        throw RequestError.invalidParams(
          `the provider supports ${supported || "no protocol"}, got ${quoted(String(apiType))}`,
          "/apiType",
        );
      }
      if (!URL.canParse(baseUrl)) throw RequestError.invalidParams("baseUrl must be a URL", "/baseUrl");
      await handlers.set({ providerId, apiType, baseUrl, ...optional({ headers, _meta }) }, handled);
      return {};
    }
    case "providers/disable": {
      const provider = await find(handlers, setting);
      // what is not there is disabled (A121)
      if (provider === undefined) return {};
      if (provider.required)
        throw RequestError.invalidParams("this provider is required: it cannot be disabled", "/providerId");
      await handlers.disable(providerId, handled);
      return {};
    }
    default:
      throw RequestError.methodNotFound(method);
  }
}

/** The login of the agent. */
export async function authStatus(
  { auth = {} }: AgentDefinition,
  request: HandledOp = new HandledOp({}),
): Promise<AuthStatus> {
  if (auth.status !== undefined) {
    try {
      return await auth.status(request);
    } catch (error) {
      // who asks wants to learn whether a login is needed, so that is never an error (A114)
      if (error instanceof RequestError && error.kind === "auth_required")
        return { state: "unauthenticated" };
      throw error;
    }
  }
  if (auth.isLoggedIn !== undefined)
    return { state: auth.isLoggedIn() ? "authenticated" : "unauthenticated" };
  return { state: auth.methods?.length ? "unknown" : "not_required" };
}

/** What `list` sets for its answer is not part of the answer to another request. */
async function find(providers: ProviderHandlers, setting: ProviderSetting): Promise<Provider | undefined> {
  const listed = await providers.list(new HandledOp(setting));
  return listed.find((each) => each.providerId === setting.providerId);
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
