// Answers requests about the login and the model providers of an agent.

import { optional } from "../../base/objects.ts";
import { expiresAtKey } from "../../base/parley-extensions.ts";
import type { AgentOpResult, SessionOp } from "../../edition/agent-edition.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { AuthStatus, Provider } from "../../model/agent-status.ts";
import type { Meta } from "../../model/content.ts";
import type { AgentDefinition, ProviderHandlers } from "./agent-definition.ts";
import { HandledOp } from "./handled-request.ts";
import { logIn } from "./request-rules.ts";

export type AccountOp = Extract<
  SessionOp,
  { op: "login" | "logout" | "auth_status" | "list_providers" | "set_provider" | "disable_provider" }
>;

const accountOps: ReadonlySet<string> = new Set<AccountOp["op"]>([
  "login",
  "logout",
  "auth_status",
  "list_providers",
  "set_provider",
  "disable_provider",
]);

export function isAccountOp(op: SessionOp): op is AccountOp {
  return accountOps.has(op.op);
}

export async function runAccountOp(definition: AgentDefinition, op: AccountOp): Promise<AgentOpResult> {
  const { auth, providers } = definition;
  const handled = new HandledOp(op.op === "set_provider" ? op.setting : op);
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
    case "auth_status":
      return handled.value(await authStatus(definition, handled));
    case "list_providers":
      return handled.value({ providers: [...(await offered(providers, "list").list(handled))] });
    case "set_provider": {
      const { providerId, apiType, baseUrl, headers, _meta } = op.setting;
      const handlers = offered(providers, "set");
      const provider = await find(handlers, providerId, op.setting);
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
      return handled.none;
    }
    case "disable_provider": {
      const handlers = offered(providers, "disable");
      const provider = await find(handlers, op.providerId, op);
      // what is not there is disabled (A121)
      if (provider === undefined) return handled.none;
      if (provider.required)
        throw RequestError.invalidParams("this provider is required: it cannot be disabled", "/providerId");
      await handlers.disable(op.providerId, handled);
      return handled.none;
    }
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

function offered(providers: ProviderHandlers | undefined, what: string): ProviderHandlers {
  if (providers === undefined) throw RequestError.methodNotFound(`providers/${what}`);
  return providers;
}

/** What `list` sets for its answer is not part of the answer to another request. */
async function find(
  providers: ProviderHandlers,
  providerId: string,
  request: { readonly _meta?: Meta },
): Promise<Provider | undefined> {
  const listed = await providers.list(new HandledOp(request));
  return listed.find((each) => each.providerId === providerId);
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
