// Facts about known models, as published in autumn 2026; the config overrides them, and unknown models get defaults.

import type { ModelFacts, Price } from "../model/model.ts";
import type { ModelOverrides, ProviderKind } from "./provider-config.ts";

const million = 1_000_000;

/** Cache reads cost a tenth, cache writes a quarter more. */
function anthropicPrice(input: number, output: number): Price {
  return { input, output, cachedInput: input / 10, cacheWrite: input * 1.25 };
}

/** Requests above 272,000 input tokens cost more. */
function openaiPrice(input: number, output: number, cachedInput: number): Price {
  return { input, output, cachedInput, long: { above: 272_000, input: 2, output: 1.5 } };
}

/** The models of one provider differ in their output limit by age, and so by window. */
function textModel(name: string, contextWindow: number, price?: Price): ModelOverrides {
  const maxOutput = contextWindow > 200_000 ? 128_000 : 64_000;
  return { name, contextWindow, maxOutput, takesImages: true, thinks: true, ...(price && { price }) };
}

function gemini(name: string, price?: Price): ModelOverrides {
  return { ...textModel(name, 1_048_576, price), maxOutput: 65_536, takesAudio: true };
}

/** The first model of each provider is its default. */
const known: Readonly<Record<"anthropic" | "openai" | "google", Readonly<Record<string, ModelOverrides>>>> = {
  anthropic: {
    "claude-sonnet-5-5": textModel("Claude Sonnet 5.5", million, anthropicPrice(2, 10)),
    "claude-opus-5-5": textModel("Claude Opus 5.5", million, anthropicPrice(4, 20)),
    "claude-fable-5-1": textModel("Claude Fable 5.1", million, anthropicPrice(10, 50)),
    // its price has steps that this table cannot express
    "claude-haiku-5-5": textModel("Claude Haiku 5.5", million),
    "claude-opus-5": textModel("Claude Opus 5", million, anthropicPrice(5, 25)),
    "claude-sonnet-5": textModel("Claude Sonnet 5", million, anthropicPrice(2, 10)),
    "claude-opus-4-5": textModel("Claude Opus 4.5", 200_000, anthropicPrice(5, 25)),
    "claude-sonnet-4-5": textModel("Claude Sonnet 4.5", 200_000, anthropicPrice(3, 15)),
    "claude-haiku-4-5": textModel("Claude Haiku 4.5", 200_000, anthropicPrice(1, 5)),
  },
  openai: {
    "gpt-6.1-sol": textModel("GPT-6.1 Sol", 1_050_000, openaiPrice(2, 10, 0.1)),
    "gpt-6-astra": textModel("GPT-6 Astra", 1_050_000, openaiPrice(10, 50, 1)),
    "gpt-6-sol": textModel("GPT-6 Sol", 1_050_000, openaiPrice(2, 10, 0.2)),
    "gpt-6-luna": textModel("GPT-6 Luna", 1_050_000, openaiPrice(0.1, 0.5, 0.01)),
    "gpt-5.5": textModel("GPT-5.5", 1_050_000, openaiPrice(5, 30, 0.5)),
    "gpt-5.2": textModel("GPT-5.2", 400_000, { input: 1.75, output: 14, cachedInput: 0.175 }),
    "gpt-5.1-codex": textModel("GPT-5.1 Codex", 400_000, { input: 1.25, output: 10, cachedInput: 0.125 }),
  },
  google: {
    // the price from December 2026; until then half
    "gemini-4-argon": gemini("Gemini 4 Argon", { input: 4, output: 20, cachedInput: 0.2 }),
    "gemini-3.8-flash": gemini("Gemini 3.8 Flash"),
    "gemini-2.5-pro": gemini("Gemini 2.5 Pro", {
      input: 1.25,
      output: 10,
      cachedInput: 0.125,
      long: { above: 200_000, input: 2, output: 1.5 },
    }),
    "gemini-2.5-flash": gemini("Gemini 2.5 Flash", { input: 0.3, output: 2.5, cachedInput: 0.03 }),
  },
};

const textOnly = { takesImages: false, takesAudio: false, takesDocuments: false };
const pages = { ...textOnly, takesImages: true, takesDocuments: true };

const defaults: Readonly<Record<ProviderKind, Omit<ModelFacts, "id" | "name">>> = {
  // the API demands a limit, and servers with other models than Claude allow at least this
  anthropic: { contextWindow: 200_000, maxOutput: 32_000, ...pages, thinks: true },
  openai: { contextWindow: 128_000, ...pages, thinks: true },
  "openai-chat": { contextWindow: 128_000, ...pages, thinks: false },
  google: { contextWindow: 1_048_576, ...pages, takesAudio: true, thinks: true },
  compatible: { contextWindow: 32_768, ...textOnly, thinks: false },
};

type Family = keyof typeof known;

function familyOf(kind: ProviderKind): Family | undefined {
  if (kind === "openai-chat") return "openai";
  return kind === "compatible" ? undefined : kind;
}

export function knownNames(kind: ProviderKind): readonly string[] {
  const family = familyOf(kind);
  return family === undefined ? [] : Object.keys(known[family]);
}

/** Guesses the provider of a bare model name. */
export function providerOfName(name: string): Family | undefined {
  if (/^claude-/.test(name)) return "anthropic";
  if (/^(?:gpt-|o\d|codex-)/.test(name)) return "openai";
  return /^gemini-/.test(name) ? "google" : undefined;
}

/** A dated name such as claude-sonnet-4-5-20250929 has the facts of the undated one. */
export function factsOf(
  provider: string,
  kind: ProviderKind,
  name: string,
  overrides: ModelOverrides = {},
): ModelFacts {
  const family = familyOf(kind);
  const undated = name.replace(/[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
  const entry = family && (known[family][name] ?? known[family][undated]);
  const facts = { name, ...defaults[kind], ...entry, ...overrides, id: `${provider}/${name}` };
  // servers count the limit as used: a conversation must fit beside it
  const most =
    overrides.maxOutput ?? Math.min(facts.maxOutput ?? Infinity, Math.floor(facts.contextWindow / 3));
  return facts.maxOutput === undefined ? facts : { ...facts, maxOutput: most };
}
