// The tables of `parley agent`, the coding agent.

import { type Command, flag, option } from "../command/command.ts";
import { editionNames } from "../settings/edition-choice.ts";
import { sandboxChoices } from "../settings/sandbox-choice.ts";

const provider = option(
  "PROVIDER",
  "A provider in docs/models.md, such as anthropic, openai or google, or in the config file (default: that of the configured model)",
);

export const agentCommands: readonly Command[] = [
  {
    name: "agent",
    summary: "Serve Parley's coding agent on stdin and stdout, for any ACP editor",
    details:
      "Editors start this command; --setup prints the settings to paste into yours. Without a configured model, the agent works " +
      "offline and understands a few commands: read FILE, list [FOLDER], search TEXT [in FOLDER], create FILE with TEXT, " +
      'replace A with B in FILE, delete FILE, move A to B, run COMMAND, fetch URL, and several of these joined with "then". ' +
      "docs/offline.md describes them. " +
      "To use a real model, set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY or the key variable of another " +
      "provider, store a key with parley agent login, or start a local server such as Ollama. parley agent models lists the models " +
      "that you can use. Sessions are stored in the data directory and can be loaded again. Settings are in parley/config.json in " +
      "the config directory (config/config.json in PARLEY_HOME); options and environment variables override them.",
    options: {
      mode: option(
        "MODE",
        "Initial mode: ask, code, architect or chat (default: PARLEY_MODE, then the config file, then ask)",
        { completes: ["ask", "code", "architect", "chat"] },
      ),
      model: option(
        "ID",
        "PROVIDER/NAME, or offline (default: PARLEY_MODEL, then the config file, then the first provider with a key)",
      ),
      edition: option(
        "LIST",
        "Editions of the protocol to speak, separated by commas: v2, v1, pharo, scoped (default: v2,v1); see docs/editions.md",
        { completes: editionNames },
      ),
      sandbox: option("PROFILE", "Sandbox for commands: workspace (default), read-only, strict or off", {
        completes: sandboxChoices,
      }),
      "no-history": flag("Keep sessions in memory only; they end with the process"),
      "no-notice": flag("Do not show the daily notice that the model is offline"),
      login: option(
        "PROVIDER",
        "Ask for the provider's key, store it and exit (for editors with terminal logins)",
      ),
      setup: option("EDITOR", "Print the settings for zed, jetbrains, neovim, emacs or vscode and exit", {
        completes: ["zed", "jetbrains", "neovim", "emacs", "vscode"],
      }),
    },
    ownsOutput: true,
    examples: ["parley agent --setup zed", "parley agent --model ollama/qwen3 --mode code"],
    load: async () => (await import("./agent-command.ts")).run,
  },
  {
    name: "agent models",
    summary: "List the models that can be used now",
    details:
      "Shows each model with its context window, its maximum number of output tokens, its price in US dollars per million tokens of " +
      "input and output, its levels of effort, the content that it accepts besides text, and where its key was found. Asks Ollama, " +
      "LM Studio, llama.cpp and vLLM on this machine for their models, and contacts nobody else. With --refresh, it first fetches " +
      "facts about models from models.dev, or from agent.registry in the config file, and stores them in the data directory; " +
      "invalid data is rejected.",
    options: { refresh: flag("Fetch facts about models first, from models.dev or agent.registry") },
    json: true,
    examples: ["parley agent models", "parley agent models --refresh"],
    load: async () => (await import("./agent-models.ts")).models,
  },
  {
    name: "agent login",
    summary: "Store a provider's API key for the coding agent",
    details:
      "Asks for the key without showing it, or reads the first line of a pipe. Stores the key in the data directory, readable only " +
      "by you. Running agents use it at once.",
    positionals: "[PROVIDER]",
    options: {
      provider,
      check: flag("Verify the key with the provider before storing it"),
    },
    json: true,
    examples: ["parley agent login anthropic", "parley agent login openai --check < key.txt"],
    load: async () => (await import("./agent-login.ts")).login,
  },
  {
    name: "agent logout",
    summary: "Delete a stored API key",
    positionals: "[PROVIDER]",
    options: { provider },
    json: true,
    examples: ["parley agent logout anthropic"],
    load: async () => (await import("./agent-login.ts")).logout,
  },
  {
    name: "agent mcp",
    summary: "List the MCP servers of the coding agent, log in to one, or log out",
    details:
      "The servers are those in agent.mcpServers of the config file and in .mcp.json of the current folder. `list` (the default) " +
      "starts each server that is allowed to start, and counts its tools. `login` opens the login page of a server and stores the " +
      "login in the data directory, readable only by you; running sessions use it from their next turn. `logout` deletes it. To log " +
      "in to a server that only an editor knows, give its address. See docs/mcp.md.",
    positionals: "[list | login NAME|URL | logout NAME|URL]",
    completes: ["list", "login", "logout"],
    json: true,
    examples: [
      "parley agent mcp",
      "parley agent mcp login tracker",
      "parley agent mcp logout https://mcp.example.com/mcp",
    ],
    load: async () => (await import("./agent-mcp.ts")).mcp,
  },
];
