// The environment variables with the keys of model providers: for the agent itself, never for what it runs.

/** Those that the agent reads, by provider; the first that is set counts. */
export const ownKeyVariables = {
  anthropic: ["ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  google: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
  openrouter: ["OPENROUTER_API_KEY"],
  deepseek: ["DEEPSEEK_API_KEY"],
  xai: ["XAI_API_KEY"],
  mistral: ["MISTRAL_API_KEY"],
  groq: ["GROQ_API_KEY"],
  togetherai: ["TOGETHER_API_KEY"],
  "fireworks-ai": ["FIREWORKS_API_KEY"],
  cerebras: ["CEREBRAS_API_KEY"],
  moonshotai: ["MOONSHOT_API_KEY"],
  zai: ["ZAI_API_KEY", "ZHIPU_API_KEY"],
  minimax: ["MINIMAX_API_KEY"],
  "amazon-bedrock": ["AWS_BEARER_TOKEN_BEDROCK"],
  "google-vertex": ["GOOGLE_VERTEX_API_KEY"],
  azure: ["AZURE_API_KEY", "AZURE_OPENAI_API_KEY"],
} as const;

/** Variables with a bearer token instead of a key, by provider. */
export const tokenVariables = {
  anthropic: "ANTHROPIC_AUTH_TOKEN",
  "google-vertex": "CLOUDSDK_AUTH_ACCESS_TOKEN",
} as const;

const ofOthers = ["GOOGLE_API_KEY"];

/**
 * The environment variables with keys of model providers. Those of an AWS account are not among them: Bedrock can use them,
 * but they are there for the user's own commands.
 */
export const keyVariables: readonly string[] = [
  ...Object.values(ownKeyVariables).flat(),
  ...Object.values(tokenVariables),
  ...ofOthers,
];

/** For the environment of what we run: its output goes to the model, so it must not see the keys that pay for it. */
export const withoutKeys: Readonly<Record<string, undefined>> = Object.fromEntries(
  keyVariables.map((name) => [name, undefined]),
);
