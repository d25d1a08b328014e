// What the ready agents need when they run in a sandbox: the folders of their state, and the hosts of their providers.

import type { SandboxNeeds } from "./agent-spec.ts";

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const needs = (
  state: string,
  hosts = "",
  more: Omit<SandboxNeeds, "state" | "hosts"> = {},
): SandboxNeeds => ({
  state: words(state),
  ...(hosts === "" ? {} : { hosts: words(hosts) }),
  ...more,
});

/** By name. Hosts are only those of the provider itself: an agent of many providers has none. */
export const sandboxNeeds: Readonly<Record<string, SandboxNeeds>> = {
  // its settings hold our rules, which it must not change
  parley: needs("~/.local/share/parley ~/.local/state/parley", "", {
    read: ["~/.config/parley"],
    readOnly: ["~/.local/share/parley/permissions.ndjson", "~/.local/state/parley/trust"],
  }),
  claude: needs(
    "CLAUDE_CONFIG_DIR=~/.claude ~/.cache/claude-cli-nodejs",
    "api.anthropic.com claude.ai platform.claude.com console.anthropic.com",
    {
      // it saves the file only by renaming, which needs a folder
      read: ["CLAUDE_CONFIG_DIR=~/.claude.json"],
      // as root it offers its mode bypassPermissions only in a sandbox
      env: { IS_SANDBOX: "1" },
    },
  ),
  codex: needs("CODEX_HOME=~/.codex", "api.openai.com auth.openai.com chatgpt.com"),
  gemini: needs(
    "~/.gemini",
    "generativelanguage.googleapis.com cloudcode-pa.googleapis.com aiplatform.googleapis.com oauth2.googleapis.com",
  ),
  opencode: needs(
    "~/.config/opencode ~/.local/share/opencode ~/.local/state/opencode ~/.cache/opencode",
    "models.dev opencode.ai",
  ),
  goose: needs("~/.config/goose ~/.local/share/goose ~/.local/state/goose"),
  qwen: needs("~/.qwen", "dashscope.aliyuncs.com dashscope-intl.aliyuncs.com chat.qwen.ai portal.qwen.ai"),
  copilot: needs(
    "COPILOT_HOME=~/.copilot ~/.cache/copilot",
    "api.github.com github.com githubcopilot.com *.githubcopilot.com",
  ),
  cline: needs("~/.cline", "api.cline.bot"),
  pi: needs("~/.pi"),
  kimi: needs("~/.kimi", "api.kimi.com auth.kimi.com api.moonshot.ai api.moonshot.cn"),
  vibe: needs("VIBE_HOME=~/.vibe", "api.mistral.ai"),
  auggie: needs("~/.augment", "*.api.augmentcode.com auth.augmentcode.com"),
  junie: needs("~/.junie"),
  droid: needs("~/.factory", "api.factory.ai app.factory.ai"),
};
