// The coding agent.

import type { Command, Option } from "../command/command.ts";

const provider: Option = {
  type: "string",
  value: "PROVIDER",
  summary: "anthropic, openai, google or one of the config (default: that of the configured model)",
};

export const agentCommands: readonly Command[] = [
  {
    name: "agent",
    summary: "serve a coding agent on stdin and stdout, for any ACP editor",
    details:
      "It is meant to be started by an editor: --setup prints what to paste there. Without a model that is\n" +
      'configured it works offline, by fixed rules: say look around, read FILE, replace "a" with "b" in FILE,\n' +
      "run the tests, or several of them as a list. Sessions are kept in the data directory, and can be loaded.\n" +
      "parley/config.json in the config directory (or config/config.json in PARLEY_HOME) has settings; flags and\n" +
      "the environment count for more.",
    options: {
      mode: {
        type: "string",
        value: "MODE",
        completes: ["ask", "code", "architect", "chat"],
        summary: "how sessions begin: ask, code, architect or chat (default: PARLEY_MODE, the config, ask)",
      },
      model: {
        type: "string",
        value: "ID",
        summary:
          "provider/name, or offline (default: PARLEY_MODEL, the config, the first provider with a key)",
      },
      "no-history": { type: "boolean", summary: "keep sessions in memory only; they end with the process" },
      login: {
        type: "string",
        value: "PROVIDER",
        summary: "ask for the provider's key, store it, and exit: for editors that log in in a terminal",
      },
      setup: {
        type: "string",
        value: "EDITOR",
        completes: ["zed", "jetbrains", "neovim", "emacs", "vscode"],
        summary: "print the settings of zed, jetbrains, neovim, emacs or vscode, and exit",
      },
    },
    load: () => import("./agent.ts"),
  },
  {
    name: "agent login",
    summary: "store a provider's key for the coding agent",
    details:
      "Asks for the key without showing it, or takes the first line of a pipe. It is stored in the data directory,\n" +
      "readable for you only, and counts at once, also for an agent that runs.",
    positionals: "[PROVIDER]",
    options: {
      provider,
      check: { type: "boolean", summary: "ask the provider whether it takes the key before it is stored" },
    },
    json: true,
    load: () => import("./agent-login.ts"),
  },
  {
    name: "agent logout",
    summary: "forget a key that was stored by a login",
    positionals: "[PROVIDER]",
    options: { provider },
    json: true,
    load: () => import("./agent-logout.ts"),
  },
];
