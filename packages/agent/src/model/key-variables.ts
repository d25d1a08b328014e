// The environment variables with the keys of model providers: for the agent itself, never for what it runs.

/** Those that the agent reads, by provider. */
export const ownKeyVariables = {
  anthropic: ["ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  google: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
} as const;

/** The bearer token of an Anthropic gateway. */
export const tokenVariable = "ANTHROPIC_AUTH_TOKEN";

const ofOthers = ["OPENROUTER", "DEEPSEEK", "XAI", "MISTRAL", "GROQ", "AZURE_OPENAI", "GOOGLE"];

/** All of them, and those of other common providers. */
export const keyVariables: readonly string[] = [
  ...Object.values(ownKeyVariables).flat(),
  tokenVariable,
  ...ofOthers.map((provider) => `${provider}_API_KEY`),
];
