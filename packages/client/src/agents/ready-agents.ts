// Lists the agents that need no configuration.

import type { CommandEntry, SandboxNeeds } from "./agent-spec.ts";
import { sandboxNeeds } from "./sandbox-needs.ts";

/** Keys of the providers that agents of many providers use. */
const providerKeys = `ANTHROPIC_API_KEY ANTHROPIC_BASE_URL OPENAI_API_KEY OPENAI_BASE_URL GEMINI_API_KEY GOOGLE_API_KEY
  GOOGLE_GENERATIVE_AI_API_KEY OPENROUTER_API_KEY GROQ_API_KEY MISTRAL_API_KEY DEEPSEEK_API_KEY XAI_API_KEY OLLAMA_HOST`;
const cloudAccounts = "AWS_* GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_* CLOUD_ML_REGION";
const parleyVariables = `PARLEY_HOME PARLEY_MODEL PARLEY_MODE PARLEY_RECORD ANTHROPIC_AUTH_TOKEN GOOGLE_VERTEX_*
  CLOUDSDK_CONFIG AZURE_API_KEY AZURE_RESOURCE_NAME AZURE_OPENAI_*`;
const claudeVariables = `ANTHROPIC_* CLAUDE_CONFIG_DIR CLAUDE_CODE_USE_* CLAUDE_CODE_SKIP_* CLAUDE_CODE_DISABLE_*
  CLAUDE_CODE_OAUTH_TOKEN DISABLE_AUTOUPDATER DISABLE_ERROR_REPORTING DISABLE_TELEMETRY IS_SANDBOX MAX_THINKING_TOKENS`;

/** Seen to answer a prompt before the last of its text. */
const lateText = { lateMs: 500 } as const;
/** Sends all of its text before it ends a turn, so that nothing is waited for. */
const noLateText = { lateMs: 0 } as const;

/** Name, title, command, the variables that it gets, its npm package or how else to install it, and its peculiarities. */
type Row = readonly [
  name: string,
  title: string,
  command: string,
  passes: string,
  install: string,
  more?: Pick<CommandEntry, "env" | "traits"> & {
    /** What it calls itself, if its traits count however it is started. */
    readonly info?: string;
  },
];

// none is fetched from a registry when it is started: that would be slow, and would not work offline
const known: readonly Row[] = [
  [
    "claude",
    "Claude Code",
    "claude-agent-acp",
    `${claudeVariables} ${cloudAccounts}`,
    "@agentclientprotocol/claude-agent-acp",
    { traits: noLateText },
  ],
  // it takes two to three seconds to exit
  [
    "codex",
    "Codex",
    "codex-acp",
    "OPENAI_* CODEX_*",
    "@agentclientprotocol/codex-acp",
    { traits: { graceMs: 5_000 } },
  ],
  // it takes the answer that a file does not exist for a failure, and then cannot create the file
  [
    "gemini",
    "Gemini CLI",
    "gemini --acp",
    "GEMINI_* GOOGLE_*",
    "@google/gemini-cli",
    { info: "gemini-cli", traits: { ownFiles: true, exactTitles: true, ...lateText } },
  ],
  [
    "opencode",
    "OpenCode",
    "opencode acp",
    `OPENCODE_* ${providerKeys} ${cloudAccounts}`,
    "opencode-ai",
    { traits: lateText },
  ],
  [
    "goose",
    "Goose",
    "goose acp",
    `GOOSE_* ${providerKeys} ${cloudAccounts}`,
    "see https://github.com/aaif-goose/goose, then goose configure",
  ],
  ["qwen", "Qwen Code", "qwen --acp", "QWEN_* DASHSCOPE_* OPENAI_*", "@qwen-code/qwen-code"],
  [
    "copilot",
    "GitHub Copilot",
    "copilot --acp",
    "COPILOT_* GH_TOKEN GITHUB_TOKEN GH_HOST",
    "@github/copilot",
  ],
  ["cline", "Cline", "cline --acp", `CLINE_* ${providerKeys}`, "cline", { traits: lateText }],
  ["pi", "pi", "pi-acp", `PI_* ${providerKeys}`, "pi-acp", { info: "pi-acp", traits: { neverAsks: true } }],
  ["kimi", "Kimi", "kimi acp", "KIMI_* MOONSHOT_*", "see https://github.com/MoonshotAI/kimi-cli"],
  ["vibe", "Mistral Vibe", "vibe-acp", "VIBE_* MISTRAL_*", "see https://github.com/mistralai/mistral-vibe"],
  [
    "auggie",
    "Auggie",
    "auggie --acp",
    "AUGMENT_*",
    "@augmentcode/auggie",
    { env: { AUGMENT_DISABLE_AUTO_UPDATE: "1" } },
  ],
  ["junie", "Junie", "junie --acp=true", "JUNIE_*", "@jetbrains/junie-cli"],
  ["droid", "Factory Droid", "droid exec --output-format acp", "FACTORY_*", "see https://factory.ai"],
];

/** How Parley's own agent is started. */
export interface OwnAgent {
  /** The command `parley` of this installation. */
  readonly command: string;
  /** Further variables that it gets. */
  readonly pass?: readonly string[];
  /** What it needs in a sandbox. */
  readonly needs?: SandboxNeeds;
}

/**
 * Returns the agents that need no configuration.
 *
 * @param own - Lists Parley's own agent first. Default: it is left out.
 *
 * @example
 * import { readyAgents } from "@parley/client/launch";
 *
 * for (const { name, title } of readyAgents({ command: "parley" })) console.log(name, title);
 */
export function readyAgents(own?: OwnAgent): readonly CommandEntry[] {
  const others = known.map(
    ([name, title, command, passes, install, { info: _, ...more } = {}]): CommandEntry => {
      const how = install.startsWith("see ") ? install : `npm install --global ${install}`;
      const needs = sandboxNeeds[name] ?? {};
      return { ...entry(name, title, command.split(" "), passes), install: how, needs, ...more };
    },
  );
  if (own === undefined) return others;
  const ours = entry(
    "parley",
    "Parley",
    [own.command, "agent"],
    `${parleyVariables} ${providerKeys} ${cloudAccounts}`,
  );
  const needs = own.needs ?? sandboxNeeds["parley"] ?? {};
  return [{ ...ours, pass: [...(ours.pass ?? []), ...(own.pass ?? [])], needs }, ...others];
}

/** The traits of an agent that calls itself so. */
export function traitsOf(info: string | undefined): NonNullable<CommandEntry["traits"]> {
  const row = known.find(([, , , , , more]) => info !== undefined && more?.info === info);
  return row?.[5]?.traits ?? {};
}

/**
 * Whether the titles of an agent name a command or a tool exactly.
 *
 * @param info - The name in the agent's `info`.
 *
 * @example
 * import { hasExactTitles } from "@parley/client/launch";
 *
 * console.log(hasExactTitles({}, "gemini-cli"));
 */
export function hasExactTitles(
  agent: { readonly traits?: CommandEntry["traits"] },
  info: string | undefined,
): boolean {
  return agent.traits?.exactTitles ?? traitsOf(info).exactTitles ?? false;
}

/**
 * Whether an agent asks for permission, as far as Parley knows: false for one that never does, undefined for an unknown one.
 *
 * @param info - The name in the agent's `info`.
 *
 * @example
 * import { asksPermission } from "@parley/client/launch";
 *
 * console.log(asksPermission({}, "pi-acp"));
 */
export function asksPermission(
  agent: { readonly origin?: CommandEntry["origin"]; readonly traits?: CommandEntry["traits"] },
  info: string | undefined,
): boolean | undefined {
  if (agent.traits?.neverAsks ?? traitsOf(info).neverAsks) return false;
  return agent.origin === "ready" ||
    known.some(([, , , , , more]) => info !== undefined && more?.info === info)
    ? true
    : undefined;
}

function entry(
  name: string,
  title: string,
  [command = "", ...args]: readonly string[],
  passes: string,
): CommandEntry {
  return { name, title, origin: "ready", transport: "stdio", command, args, pass: passes.split(/\s+/) };
}
