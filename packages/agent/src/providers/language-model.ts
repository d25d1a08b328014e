// Loads AI SDK models on first use, so that startup does not pay for them.

import type { AnthropicProvider } from "@ai-sdk/anthropic";
import type { GoogleVertexProviderSettings } from "@ai-sdk/google-vertex";
import type { ProviderKind } from "./builtin-providers.ts";
import type { Endpoint, Key } from "./provider-config.ts";

export type LanguageModel = ReturnType<AnthropicProvider["languageModel"]>;
export type CallOptions = Parameters<LanguageModel["doStream"]>[0];
export type StreamPart =
  Awaited<ReturnType<LanguageModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;
export type PromptMessage = CallOptions["prompt"][number];
export type ProviderOptions = NonNullable<PromptMessage["providerOptions"]>;

type AuthClient = NonNullable<NonNullable<GoogleVertexProviderSettings["googleAuthOptions"]>["authClient"]>;

const optionsNames: Readonly<Record<ProviderKind, string>> = {
  anthropic: "anthropic",
  openai: "openai",
  "openai-chat": "openai",
  azure: "openai",
  google: "google",
  vertex: "vertex",
  bedrock: "bedrock",
  compatible: "compatible",
};

/** The key of provider-specific options in the SDK. */
export function optionsName({ kind }: Endpoint): string {
  return optionsNames[kind];
}

/** Passes every setting explicitly, since the SDK reads missing ones from the environment. */
export async function loadLanguageModel(
  endpoint: Endpoint,
  name: string,
  key: Key | undefined,
  fetch: typeof globalThis.fetch,
): Promise<LanguageModel> {
  const settings = { baseURL: endpoint.baseUrl, headers: { ...endpoint.headers }, fetch };
  const apiKey = key?.value ?? "";
  switch (endpoint.kind) {
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ ...settings, ...(key?.isBearer ? { authToken: apiKey } : { apiKey }) })(name);
    }
    case "openai":
    case "openai-chat": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      const provider = createOpenAI({ ...settings, apiKey });
      return endpoint.kind === "openai" ? provider.responses(name) : provider.chat(name);
    }
    // the same API at another address, with another header for the key
    case "azure": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      const { baseUrl, apiVersion } = endpoint;
      const headers = { ...settings.headers, "api-key": apiKey };
      if (apiVersion === undefined) return createOpenAI({ ...settings, headers, apiKey }).responses(name);
      const baseURL = `${baseUrl}/deployments/${encodeURIComponent(name)}`;
      return createOpenAI({ ...settings, baseURL, headers, apiKey }).chat(name);
    }
    case "bedrock": {
      const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
      const { accessKeyId, sessionToken } = key?.account ?? {};
      const region = endpoint.cloud?.region ?? "";
      const bedrock = { ...settings, region };
      if (accessKeyId === undefined) return createAmazonBedrock({ ...bedrock, apiKey })(name);
      // an empty key keeps it from looking for one
      const account = { accessKeyId, secretAccessKey: apiKey, ...(sessionToken && { sessionToken }) };
      return createAmazonBedrock({ ...bedrock, apiKey: "", ...account })(name);
    }
    case "vertex": {
      const { createGoogleVertex } = await import("@ai-sdk/google-vertex");
      const { project, location } = endpoint.cloud ?? {};
      const vertex = { ...settings, ...(project && { project }), ...(location && { location }) };
      if (key?.isBearer === false) return createGoogleVertex({ ...vertex, apiKey })(name);
      // as: all that it uses of a client
      const authClient = { getAccessToken: async () => ({ token: apiKey }) } as unknown as AuthClient;
      return createGoogleVertex({ ...vertex, apiKey: "", ...(key && { googleAuthOptions: { authClient } }) })(
        name,
      );
    }
    case "google": {
      const { createGoogle } = await import("@ai-sdk/google");
      return createGoogle({ ...settings, apiKey })(name);
    }
    case "compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const provider = createOpenAICompatible({
        ...settings,
        name: "compatible",
        includeUsage: true,
        ...(key && { apiKey }),
      });
      return provider.chatModel(name);
    }
  }
}
