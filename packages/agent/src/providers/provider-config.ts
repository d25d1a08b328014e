// Reads the provider configuration from the config file and the environment, with built-in defaults.

import { optional } from "@parley/acp/internal";
import { ownKeyVariables, tokenVariable } from "../model/key-variables.ts";
import { ModelError, type ModelFacts } from "../model/model.ts";

/** The API of a provider. `openai` is the Responses API, `compatible` any Chat Completions server. */
export type ProviderKind = "anthropic" | "openai" | "openai-chat" | "google" | "compatible";

/** Facts from the config that replace what is known of a model. */
export type ModelOverrides = Partial<Omit<ModelFacts, "id">>;

export interface ProviderConfig {
  /** Default: that of the built-in provider with this name, else `compatible`. */
  readonly kind?: ProviderKind;
  /** Including the version: `http://127.0.0.1:8000/v1`. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** The environment variable with the key. */
  readonly apiKeyEnv?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly models?: Readonly<Record<string, ModelOverrides>>;
}

export interface ModelConfig {
  /** `provider/name`, or `offline`. */
  readonly model?: string;
  readonly providers?: Readonly<Record<string, ProviderConfig>>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Endpoint {
  /** `anthropic`: the first half of a model's id. */
  readonly id: string;
  /** The name shown to users. */
  readonly label: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly needsKey: boolean;
  /** The environment variable with the key, if any. */
  readonly variable: string | undefined;
  /** Tells the user how to set the key. */
  readonly keyHint: string;
  /** Read for every request, so that a login takes effect at once. */
  key(): Key | undefined;
  readonly models: Readonly<Record<string, ModelOverrides>>;
  /** Used when only the provider was named. `auto` takes the first model that the server lists. */
  readonly defaultModel: string;
}

export interface Key {
  readonly value: string;
  /** Anthropic gateways accept a bearer token instead of a key. */
  readonly isBearer: boolean;
}

export type Credentials = (provider: string) => string | undefined;

interface Builtin {
  readonly label: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly keys: readonly string[];
  readonly defaultModel: string;
}

const builtins: Readonly<Record<string, Builtin>> = {
  anthropic: {
    label: "Anthropic",
    kind: "anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    keys: ownKeyVariables.anthropic,
    defaultModel: "claude-sonnet-5-5",
  },
  openai: {
    label: "OpenAI",
    kind: "openai",
    baseUrl: "https://api.openai.com/v1",
    keys: ownKeyVariables.openai,
    defaultModel: "gpt-6.1-sol",
  },
  google: {
    label: "Google",
    kind: "google",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    keys: ownKeyVariables.google,
    defaultModel: "gemini-4-argon",
  },
  ollama: local("Ollama", "http://127.0.0.1:11434/v1"),
  lmstudio: local("LM Studio", "http://127.0.0.1:1234/v1"),
  vllm: local("vLLM", "http://127.0.0.1:8000/v1"),
};

function local(label: string, baseUrl: string): Builtin {
  return { label, kind: "compatible", baseUrl, keys: [], defaultModel: "auto" };
}

export function providerIds(config: ModelConfig): readonly string[] {
  return [...new Set([...Object.keys(builtins), ...Object.keys(config.providers ?? {})])];
}

export function endpointOf(
  id: string,
  config: ModelConfig,
  env: Environment,
  credentials: Credentials,
): Endpoint {
  const given = config.providers?.[id] ?? {};
  const builtin = builtins[id];
  const own = { ...builtin, ...fromEnvironment(id, env), ...optional(given) };
  const kind = own.kind ?? "compatible";
  if (own.baseUrl === undefined) {
    throw badConfig(
      `The provider "${id}" has no address. Set its baseUrl in the config, for example http://127.0.0.1:8000/v1.`,
    );
  }
  const label = builtin?.label ?? id;
  const variables = given.apiKeyEnv === undefined ? (builtin?.keys ?? []) : [given.apiKeyEnv];
  const needsKey = kind !== "compatible" || given.apiKeyEnv !== undefined;
  return {
    id,
    label,
    kind,
    baseUrl: checkedUrl(own.baseUrl, id),
    headers: given.headers ?? {},
    needsKey,
    variable: variables[0],
    keyHint: `Set ${variables[0] ?? `providers.${id}.apiKey in the config`} or run: parley agent login ${id}`,
    key: () => keyOf(id, given.apiKey, variables, env, credentials),
    models: given.models ?? {},
    defaultModel:
      Object.keys(given.models ?? {})[0] ?? (kind === builtin?.kind ? builtin.defaultModel : "auto"),
  };
}

export function isConfiguredBy(id: string, env: Environment): boolean {
  if (id === "ollama") return filled(env["OLLAMA_HOST"]) !== undefined;
  if (id === "anthropic" && filled(env[tokenVariable]) !== undefined) return true;
  if (id === "openai" && filled(env["OPENAI_BASE_URL"]) !== undefined) return true;
  return builtins[id]?.keys.some((name) => filled(env[name]) !== undefined) ?? false;
}

export function missingKey({ label, keyHint }: Endpoint): ModelError {
  return new ModelError("auth", `${label} needs an API key. ${keyHint}`);
}

function keyOf(
  id: string,
  given: string | undefined,
  variables: readonly string[],
  env: Environment,
  credentials: Credentials,
): Key | undefined {
  const fromVariable = variables.map((name) => filled(env[name])).find((value) => value !== undefined);
  const value = filled(given) ?? fromVariable;
  if (value !== undefined) return { value, isBearer: false };
  const token = id === "anthropic" ? filled(env[tokenVariable]) : undefined;
  if (token !== undefined) return { value: token, isBearer: true };
  const stored = filled(credentials(id));
  return stored === undefined ? undefined : { value: stored, isBearer: false };
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

/** Treats an empty variable as unset. */
function filled(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === "" ? undefined : trimmed;
}
