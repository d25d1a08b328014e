// The providers that need no entry in the config: their APIs, addresses and key variables.

import { ownKeyVariables } from "../model/key-variables.ts";

/**
 * The API of a provider. `openai` is the Responses API, `compatible` any Chat Completions server, `azure` OpenAI's API as Azure
 * serves it.
 *
 * @inline
 */
export type ProviderKind =
  | "anthropic"
  | "openai"
  | "openai-chat"
  | "google"
  | "compatible"
  | "bedrock"
  | "vertex"
  | "azure";

export interface Builtin {
  readonly label: string;
  readonly kind: ProviderKind;
  /** Undefined where it depends on an account or a region. */
  readonly baseUrl: string | undefined;
  readonly keys: readonly string[];
  /** Whether it runs on the user's machine. */
  readonly isLocal: boolean;
}

/** The names are those of models.dev, so that its registry can be used. The first one with a key is chosen. */
export const builtins: Readonly<Record<string, Builtin>> = {
  anthropic: hosted("anthropic", "Anthropic", "https://api.anthropic.com/v1", "anthropic"),
  openai: hosted("openai", "OpenAI", "https://api.openai.com/v1", "openai"),
  google: hosted("google", "Google", "https://generativelanguage.googleapis.com/v1beta", "google"),
  openrouter: hosted("openrouter", "OpenRouter", "https://openrouter.ai/api/v1"),
  deepseek: hosted("deepseek", "DeepSeek", "https://api.deepseek.com/v1"),
  xai: hosted("xai", "xAI", "https://api.x.ai/v1"),
  mistral: hosted("mistral", "Mistral", "https://api.mistral.ai/v1"),
  groq: hosted("groq", "Groq", "https://api.groq.com/openai/v1"),
  togetherai: hosted("togetherai", "Together AI", "https://api.together.xyz/v1"),
  "fireworks-ai": hosted("fireworks-ai", "Fireworks AI", "https://api.fireworks.ai/inference/v1"),
  cerebras: hosted("cerebras", "Cerebras", "https://api.cerebras.ai/v1"),
  moonshotai: hosted("moonshotai", "Moonshot AI", "https://api.moonshot.ai/v1"),
  zai: hosted("zai", "Z.ai", "https://api.z.ai/api/paas/v4"),
  minimax: hosted("minimax", "MiniMax", "https://api.minimax.io/anthropic/v1", "anthropic"),
  "amazon-bedrock": hosted("amazon-bedrock", "Amazon Bedrock", undefined, "bedrock"),
  "google-vertex": hosted("google-vertex", "Google Vertex AI", undefined, "vertex"),
  azure: hosted("azure", "Azure OpenAI", undefined, "azure"),
  ollama: local("Ollama", "http://127.0.0.1:11434/v1"),
  lmstudio: local("LM Studio", "http://127.0.0.1:1234/v1"),
  llamacpp: local("llama.cpp", "http://127.0.0.1:8080/v1"),
  vllm: local("vLLM", "http://127.0.0.1:8000/v1"),
};

/** Of servers on the user's machine. */
export const localProviderIds = Object.keys(builtins).filter((id) => builtins[id]?.isLocal);

function hosted(
  id: keyof typeof ownKeyVariables,
  label: string,
  baseUrl: string | undefined,
  kind: ProviderKind = "compatible",
): Builtin {
  return { label, kind, baseUrl, keys: ownKeyVariables[id], isLocal: false };
}

function local(label: string, baseUrl: string): Builtin {
  return { label, kind: "compatible", baseUrl, keys: [], isLocal: true };
}
