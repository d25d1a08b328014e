// Reads the provider configuration from the config file and the environment, with built-in defaults.

import { tokenVariables } from "../model/key-variables.ts";
import { ModelError } from "../model/model.ts";
import { proxyFor } from "../network/proxy.ts";
import { builtins, localProviderIds, type ProviderKind } from "./builtin-providers.ts";
import { azure, bedrock, type CloudConfig, type CloudSettings, vertex } from "./cloud-address.ts";
import { type Environment, filled } from "./environment.ts";
import type { LocalAddress } from "./local/local-servers.ts";
import type { KnownFacts } from "./registry/registry.ts";

/**
 * Facts from the config that replace what is known of a model.
 *
 * @inline
 */
export type ModelOverrides = KnownFacts;

/** One provider of the config. */
export interface ProviderConfig extends CloudConfig {
  /** Default: that of the built-in provider with this name, else `compatible`. */
  readonly kind?: ProviderKind;
  /** Including the version: `http://127.0.0.1:8000/v1`. */
  readonly baseUrl?: string;
  /** The key itself. Prefer `apiKeyEnv` or a login, which keep it out of the file. */
  readonly apiKey?: string;
  /** The environment variable with the key. */
  readonly apiKeyEnv?: string;
  /** Headers of every request to the provider. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How many seconds the server may be silent. */
  readonly timeout?: number;
  /** What is known of its models, by name. */
  readonly models?: Readonly<Record<string, ModelOverrides>>;
}

/** The models and providers of the config. */
export interface ModelConfig {
  /** `provider/name`, or `offline`. */
  readonly model?: string;
  /** Providers by id. */
  readonly providers?: Readonly<Record<string, ProviderConfig>>;
  /** Whether to look for servers on this machine. Default true. */
  readonly localServers?: boolean;
  /** Where `parley agent models --refresh` gets its facts. */
  readonly registry?: string;
}

/** How a provider is reached. */
export interface Endpoint {
  /** `anthropic`: the first half of a model's id. */
  readonly id: string;
  /** The name shown to users. */
  readonly label: string;
  /** The API that it speaks. */
  readonly kind: ProviderKind;
  /** The address of its API. */
  readonly baseUrl: string;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it answers only with a key. */
  readonly needsKey: boolean;
  /** Whether it is a server of the user, which may be slow. */
  readonly isOwn: boolean;
  /** How long the server may be silent, before and in an answer. */
  readonly timeoutMs: number | undefined;
  /** The environment variable with the key, if any. */
  readonly variable: string | undefined;
  /** Tells the user how to set the key. */
  readonly keyHint: string;
  /** Read for every request, so that a login takes effect at once. */
  key(): Key | undefined;
  /** The proxy of a request, from the environment. */
  proxy(url: URL): string | undefined;
  /** Region, project and location of Bedrock and Vertex. */
  readonly cloud: CloudSettings | undefined;
  /** The API version of an Azure deployment in the old form. */
  readonly apiVersion: string | undefined;
  /** What the config knows of its models. */
  readonly models: Readonly<Record<string, ModelOverrides>>;
  /** Whether the first model that it lists is used when only the provider was named. */
  readonly listsModels: boolean;
}

/**
 * The key of a provider.
 *
 * @inline
 */
export interface Key {
  readonly value: string;
  /** Gateways of Anthropic, and Vertex, accept a bearer token instead of a key. */
  readonly isBearer: boolean;
  /** The secret is that of an AWS account, which signs requests. */
  readonly account?: { readonly accessKeyId: string; readonly sessionToken: string | undefined };
  /** `ANTHROPIC_API_KEY`, "config" or "login". */
  readonly from: string;
}

/** The key of a login, by provider. */
export interface Credentials {
  /** Returns the key of a provider. */
  (provider: string): string | undefined;
  /** The key that the client has logged in with: it counts before all others. */
  readonly said?: (provider: string) => string | undefined;
}

export function providerIds(config: ModelConfig): readonly string[] {
  return [...new Set([...Object.keys(builtins), ...Object.keys(config.providers ?? {})])];
}

/** Where to look for servers on this machine, unless the config or the environment names another place. */
export function localAddresses(config: ModelConfig, env: Environment): readonly LocalAddress[] {
  return localProviderIds.map((id) => {
    const { baseUrl } = endpointOf(id, config, env, () => undefined);
    return { id, baseUrl };
  });
}

export function endpointOf(
  id: string,
  config: ModelConfig,
  env: Environment,
  credentials: Credentials,
): Endpoint {
  const given = config.providers?.[id] ?? {};
  const builtin = builtins[id];
  const found = fromEnvironment(id, env);
  const kind = given.kind ?? found.kind ?? builtin?.kind ?? "compatible";
  const variables = given.apiKeyEnv === undefined ? (builtin?.keys ?? []) : [given.apiKeyEnv];
  const key = () => keyOf({ id, kind, given: given.apiKey, variables }, env, credentials);
  const cloud = cloudOf(kind, given, env, key()?.isBearer === false);
  const baseUrl = given.baseUrl ?? found.baseUrl ?? builtin?.baseUrl ?? cloud?.baseUrl;
  if (baseUrl === undefined) {
    const missing = cloud?.missing ?? "Set its baseUrl in the config, for example http://127.0.0.1:8000/v1.";
    throw badConfig(`The provider "${id}" has no address. ${missing}`);
  }
  const isHosted = builtin?.isLocal === false && baseUrl === builtin.baseUrl;
  return {
    id,
    label: builtin?.label ?? id,
    kind,
    baseUrl: checkedUrl(baseUrl, id),
    headers: given.headers ?? {},
    // Vertex finds the user's Google account by itself
    needsKey: kind === "compatible" ? given.apiKeyEnv !== undefined || isHosted : kind !== "vertex",
    isOwn: kind === "compatible" && !isHosted,
    timeoutMs: given.timeout === undefined ? undefined : given.timeout * 1000,
    variable: variables[0],
    keyHint: `Set ${variables[0] ?? `providers.${id}.apiKey in the config`} or run: parley agent login ${id}`,
    key,
    proxy: (url) => proxyFor(url, env),
    cloud,
    apiVersion: given.apiVersion,
    models: given.models ?? {},
    listsModels: builtin === undefined || builtin.isLocal || kind !== builtin.kind,
  };
}

function cloudOf(
  kind: ProviderKind,
  given: ProviderConfig,
  env: Environment,
  hasKey: boolean,
): CloudSettings | undefined {
  if (kind === "bedrock") return bedrock(given, env);
  if (kind === "vertex") return vertex(given, env, hasKey);
  return kind === "azure" ? azure(given, env) : undefined;
}

/** Whether the environment alone says that the user wants this provider. An AWS account says nothing about Bedrock. */
export function isConfiguredBy(id: string, env: Environment): boolean {
  if (id === "ollama") return filled(env["OLLAMA_HOST"]) !== undefined;
  if (id === "anthropic" && filled(env[tokenVariables.anthropic]) !== undefined) return true;
  if (id === "openai" && filled(env["OPENAI_BASE_URL"]) !== undefined) return true;
  if (id === "google-vertex" && filled(env["GOOGLE_VERTEX_PROJECT"]) !== undefined) return true;
  if (id === "azure" && azure({}, env).baseUrl === undefined) return false;
  return builtins[id]?.keys.some((name) => filled(env[name]) !== undefined) ?? false;
}

export function missingKey({ label, keyHint }: Endpoint): ModelError {
  return new ModelError("auth", `${label} needs an API key. ${keyHint}`);
}

interface KeyFacts {
  readonly id: string;
  readonly kind: ProviderKind;
  readonly given: string | undefined;
  readonly variables: readonly string[];
}

function keyOf(
  { id, kind, given, variables }: KeyFacts,
  env: Environment,
  credentials: Credentials,
): Key | undefined {
  const said = filled(credentials.said?.(id));
  if (said !== undefined) return { value: said, isBearer: false, from: "login" };
  const own = filled(given);
  if (own !== undefined) return { value: own, isBearer: false, from: "config" };
  for (const from of variables) {
    const value = filled(env[from]);
    if (value !== undefined) return { value, isBearer: false, from };
  }
  for (const [provider, from] of Object.entries(tokenVariables)) {
    const value = provider === id ? filled(env[from]) : undefined;
    if (value !== undefined) return { value, isBearer: true, from };
  }
  const stored = filled(credentials(id));
  if (stored !== undefined) return { value: stored, isBearer: false, from: "login" };
  return kind === "bedrock" ? accountKey(env) : undefined;
}

function accountKey(env: Environment): Key | undefined {
  const accessKeyId = filled(env["AWS_ACCESS_KEY_ID"]);
  const value = filled(env["AWS_SECRET_ACCESS_KEY"]);
  if (accessKeyId === undefined || value === undefined) return undefined;
  const account = { accessKeyId, sessionToken: filled(env["AWS_SESSION_TOKEN"]) };
  return { value, isBearer: false, account, from: "AWS_ACCESS_KEY_ID" };
}

function fromEnvironment(id: string, env: Environment): { baseUrl?: string; kind?: ProviderKind } {
  if (id === "ollama") {
    const host = filled(env["OLLAMA_HOST"]);
    return host === undefined ? {} : { baseUrl: ollamaUrl(host) };
  }
  if (id === "anthropic") {
    const url = filled(env["ANTHROPIC_BASE_URL"]);
    // Anthropic's own tools use it without the version
    return url === undefined
      ? {}
      : { baseUrl: /\/v\d+\/?$/.test(url) ? url : `${url.replace(/\/$/, "")}/v1` };
  }
  const url = id === "openai" ? filled(env["OPENAI_BASE_URL"]) : undefined;
  if (url === undefined) return {};
  // only OpenAI itself is sure to have the Responses API
  return /^https:\/\/api\.openai\.com\//.test(url) ? { baseUrl: url } : { baseUrl: url, kind: "compatible" };
}

/** OLLAMA_HOST is also the listen address of its server: it may lack a scheme or port, or be 0.0.0.0. */
function ollamaUrl(host: string): string {
  const full = /^https?:\/\//.test(host) ? host : `http://${host}`;
  const url = new URL(/^https?:\/\/:/.test(full) ? full.replace("://:", "://127.0.0.1:") : full);
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  if (url.port === "" && url.protocol === "http:" && !/:80\b/.test(full)) url.port = "11434";
  return `${url.origin}${url.pathname.replace(/\/$/, "").replace(/\/v1$/, "")}/v1`;
}

/** The message does not repeat the address, which may contain a password. */
function checkedUrl(text: string, id: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw badConfig(
      `The address of the provider "${id}" is not an http or https URL. It should look like http://127.0.0.1:8000/v1.`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw badConfig(
      `The address of the provider "${id}" contains a user name, which is not supported. Use headers in the config.`,
    );
  }
  return text.replace(/\/+$/, "");
}

function badConfig(message: string): ModelError {
  return new ModelError("bad_request", message);
}
