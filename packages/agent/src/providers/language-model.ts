// Loads AI SDK models on first use, so that startup does not pay for them.

import type { AnthropicProvider } from "@ai-sdk/anthropic";
import type { Endpoint, Key } from "./provider-config.ts";

export type LanguageModel = ReturnType<AnthropicProvider["languageModel"]>;
export type CallOptions = Parameters<LanguageModel["doStream"]>[0];
export type StreamPart =
  Awaited<ReturnType<LanguageModel["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;
export type PromptMessage = CallOptions["prompt"][number];
export type ProviderOptions = NonNullable<PromptMessage["providerOptions"]>;

/** The key of provider-specific options in the SDK. */
export function optionsName(endpoint: Endpoint): string {
  return endpoint.kind === "openai-chat" ? "openai" : endpoint.kind;
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
