// Lists the agents that need no configuration.

import type { CommandEntry, Quirks } from "./agent-entry.ts";

/** Seen to answer a prompt before the last of its text. */
const talksOn: Quirks = { lateMs: 500 };

/** Keys of the providers that agents of many providers use. */
const providerKeys = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "OPENROUTER_API_KEY",
  "GROQ_API_KEY",
  "MISTRAL_API_KEY",
  "DEEPSEEK_API_KEY",
  "XAI_API_KEY",
  "OLLAMA_HOST",
];
const cloudAccounts = ["AWS_*", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_*", "CLOUD_ML_REGION"];

type Known = Pick<CommandEntry, "name" | "title" | "command" | "args" | "passes" | "install" | "env"> & {
  readonly quirks?: Quirks;
};

const known: readonly Known[] = [
  {
    name: "claude",
    title: "Claude Code",
    command: "claude-agent-acp",
    args: [],
    passes: [
      "ANTHROPIC_*",
      "CLAUDE_CONFIG_DIR",
      "CLAUDE_CODE_USE_*",
      "CLAUDE_CODE_SKIP_*",
      "CLAUDE_CODE_DISABLE_*",
      "CLAUDE_CODE_OAUTH_TOKEN",
      "DISABLE_AUTOUPDATER",
      "DISABLE_ERROR_REPORTING",
      "DISABLE_TELEMETRY",
      "IS_SANDBOX",
      "MAX_THINKING_TOKENS",
      ...cloudAccounts,
    ],
    install: "npm install --global @agentclientprotocol/claude-agent-acp",
  },
  {
    name: "codex",
    title: "Codex",
    command: "codex-acp",
    args: [],
    passes: ["OPENAI_*", "CODEX_*"],
    install: "npm install --global @agentclientprotocol/codex-acp",
    // it takes two to three seconds to leave
    quirks: { graceMs: 5_000 },
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    command: "gemini",
    args: ["--acp"],
    passes: ["GEMINI_*", "GOOGLE_*"],
    install: "npm install --global @google/gemini-cli",
    // it takes the answer that a file is not there for a failure, and then cannot create the file
    quirks: { ownFiles: true, ...talksOn },
  },
  {
    name: "opencode",
    title: "OpenCode",
    command: "opencode",
    args: ["acp"],
    passes: ["OPENCODE_*", ...providerKeys, ...cloudAccounts],
    install: "npm install --global opencode-ai",
    quirks: talksOn,
  },
  {
    name: "goose",
    title: "Goose",
    command: "goose",
    args: ["acp"],
    passes: ["GOOSE_*", ...providerKeys, ...cloudAccounts],
    install: "see https://github.com/aaif-goose/goose, then goose configure",
  },
  {
    name: "qwen",
    title: "Qwen Code",
    command: "qwen",
    args: ["--acp"],
    passes: ["QWEN_*", "DASHSCOPE_*", "OPENAI_*"],
    install: "npm install --global @qwen-code/qwen-code",
  },
  {
    name: "copilot",
    title: "GitHub Copilot",
    command: "copilot",
    args: ["--acp"],
    passes: ["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"],
    install: "npm install --global @github/copilot",
  },
  {
    name: "cline",
    title: "Cline",
    command: "cline",
    args: ["--acp"],
    passes: ["CLINE_*", ...providerKeys],
    install: "npm install --global cline",
    quirks: talksOn,
  },
  {
    name: "pi",
    title: "pi",
    command: "pi-acp",
    args: [],
    passes: ["PI_*", ...providerKeys],
    install: "npm install --global pi-acp",
  },
  {
    name: "kimi",
    title: "Kimi",
    command: "kimi",
    args: ["acp"],
    passes: ["KIMI_*", "MOONSHOT_*"],
    install: "see https://github.com/MoonshotAI/kimi-cli",
  },
  {
    name: "vibe",
    title: "Mistral Vibe",
    command: "vibe-acp",
    args: [],
    passes: ["VIBE_*", "MISTRAL_*"],
    install: "see https://github.com/mistralai/mistral-vibe",
  },
  {
    name: "auggie",
    title: "Auggie",
    command: "auggie",
    args: ["--acp"],
    env: { AUGMENT_DISABLE_AUTO_UPDATE: "1" },
    passes: ["AUGMENT_*"],
    install: "npm install --global @augmentcode/auggie",
  },
  {
    name: "junie",
    title: "Junie",
    command: "junie",
    args: ["--acp=true"],
    passes: ["JUNIE_*"],
    install: "npm install --global @jetbrains/junie-cli",
  },
  {
    name: "droid",
    title: "Factory Droid",
    command: "droid",
    args: ["exec", "--output-format", "acp"],
    passes: ["FACTORY_*"],
    install: "see https://factory.ai",
  },
];

/** Variables of our own agent. */
const parleyVariables = [
  "PARLEY_HOME",
  "PARLEY_MODEL",
  "PARLEY_MODE",
  "PARLEY_RECORD",
  "ANTHROPIC_AUTH_TOKEN",
];

/** How our own agent is started: the command `parley` of this installation, and the variables that its config names. */
export interface OwnAgent {
  readonly command: string;
  readonly passes?: readonly string[];
}

/** Our own agent is first, where its command is given. */
export function readyAgents(own?: OwnAgent): readonly CommandEntry[] {
  const others = known.map((agent): CommandEntry => ({ ...agent, origin: "ready", transport: "stdio" }));
  if (own === undefined) return others;
  const ours: CommandEntry = {
    name: "parley",
    title: "Parley",
    origin: "ready",
    transport: "stdio",
    command: own.command,
    args: ["agent"],
    passes: [...parleyVariables, ...providerKeys, ...(own.passes ?? [])],
  };
  return [ours, ...others];
}
