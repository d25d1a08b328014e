// Lists all commands. Help, argument parsing, completion and docs/cli.md are derived from these tables.

import { agentCommands } from "./agent/agent-commands.ts";
import { agentsCommands } from "./agents/agents-commands.ts";
import { conversationCommands } from "./chat/conversation-commands.ts";
import { type Command, flag, option } from "./command/command.ts";
import { permissionsCommands } from "./permissions/permissions-commands.ts";
import { proxyCommands } from "./proxy/proxy-commands.ts";
import { runCommands } from "./run/run-commands.ts";
import { serveCommands } from "./serve/serve-commands.ts";
import { sessionsCommands } from "./sessions/sessions-commands.ts";
import { editionNames } from "./settings/edition-choice.ts";
import { traceCommands } from "./trace/trace-commands.ts";
import { trustCommands } from "./trust/trust-commands.ts";

/** In the order in which help lists them. */
export const commands: readonly Command[] = [
  ...conversationCommands,
  ...runCommands,
  {
    name: "demo",
    summary: "Try Parley's own agent offline in a temporary folder",
    details:
      "`npm start` runs this command. At a terminal it opens a conversation; otherwise it shows one complete turn.",
    json: true,
    examples: ["parley demo"],
    load: async () => (await import("./demo/demo.ts")).run,
  },
  ...sessionsCommands,
  ...permissionsCommands,
  ...trustCommands,
  ...agentsCommands,
  ...agentCommands,
  {
    name: "login",
    summary: "Show the two commands that log in",
    details:
      "One stores the key of a model's provider for Parley's own agent, the other logs in to another agent.",
    json: true,
    examples: ["parley login"],
    load: async () => (await import("./agents/login-commands.ts")).showLogins,
  },
  ...serveCommands,
  {
    name: "config show",
    summary: "Print the config file without its secrets",
    json: true,
    examples: ["parley config"],
    isDefault: true,
    load: async () => (await import("./config/config.ts")).show,
  },
  {
    name: "config get",
    summary: "Print one value of the config file",
    details: "Join names with dots: agent.mode. Exits with 1 if the value is not set. Secrets are hidden.",
    positionals: "NAME",
    json: true,
    examples: ["parley config get agent.model"],
    load: async () => (await import("./config/config.ts")).show,
  },
  {
    name: "config set",
    summary: "Set one value in the config file",
    details:
      "The value is parsed as JSON if possible, otherwise it is text. An invalid value is rejected and nothing is written. Comments " +
      "and order stay.",
    positionals: "NAME VALUE",
    json: true,
    examples: [
      "parley config set agent.model anthropic/claude-sonnet-5",
      "parley config set client.agent claude",
    ],
    load: async () => (await import("./config/config.ts")).set,
  },
  {
    name: "config unset",
    summary: "Remove one value from the config file",
    positionals: "NAME",
    json: true,
    examples: ["parley config unset agent.model"],
    load: async () => (await import("./config/config.ts")).unset,
  },
  {
    name: "config path",
    summary: "Print the path of the config file",
    json: true,
    examples: ["parley config path"],
    load: async () => (await import("./config/config.ts")).showPath,
  },
  {
    name: "config check",
    summary: "Validate the config file",
    details: "Exits with 2 if the file is invalid. Unknown names are reported as warnings.",
    json: true,
    examples: ["parley config check"],
    load: async () => (await import("./config/config.ts")).check,
  },
  {
    name: "config edit",
    summary: "Open the config file in your editor and validate it afterwards",
    details: "Uses VISUAL, otherwise EDITOR. Creates the file, with its JSON schema, if it does not exist.",
    examples: ["EDITOR=nano parley config edit"],
    load: async () => (await import("./config/config.ts")).edit,
  },
  {
    name: "doctor",
    summary: "Diagnose the installation and suggest fixes",
    details:
      "Checks Node, the data folders, the config file, the model of Parley's own agent, the settings of the current folder, every " +
      "installed agent, and the configured MCP servers. Each agent is started, opens a session in a temporary folder, and is given a tool; no login and no prompt is sent. Exits with 1 if " +
      "something is broken.",
    options: {
      agent: option("NAME", "Check only this agent", { short: "a" }),
      timeout: option("SECONDS", "Time limit for each check", { default: "30" }),
      "no-tools": flag("Give agents no tool, and do not wait for them to connect to it"),
    },
    json: true,
    examples: ["parley doctor", "parley doctor --agent claude"],
    load: async () => (await import("./doctor/doctor.ts")).run,
  },
  {
    name: "tap",
    summary: "Run an agent and record all traffic between it and its client",
    details:
      "Put it in front of the agent's command in your editor's settings and work as usual. Bytes, signals and the exit code " +
      "pass through unchanged. Only you can read the trace. It contains everything, including secrets; " +
      "only the credentials of a login are left out. Use `parley trace redact` " +
      "before you share it.",
    positionals: "-- COMMAND [ARGUMENTS]",
    options: {
      out: option(
        "FILE",
        "Trace file; a number is added if the name is taken (default: a file in the state directory)",
        { completes: "file" },
      ),
      "max-bytes": option("SIZE", "Maximum size of the trace", { default: "1g" }),
      "max-line": option("SIZE", "Keep only the beginning of messages longer than this", { default: "8m" }),
      queue: option("SIZE", "Drop records when more than this waits for a slow disk", { default: "64m" }),
    },
    ownsOutput: true,
    examples: ["parley tap -- claude-agent-acp", "parley tap --out session.trace -- my-agent --acp"],
    load: async () => (await import("./tap/tap.ts")).run,
  },
  ...proxyCommands,
  ...traceCommands,
  {
    name: "bridge",
    summary: "Bridge an editor and an agent of different editions of the protocol",
    details:
      "Put it in front of the agent's command in your editor's settings. The agent may speak version 1 or 2; for an agent that speaks " +
      "a dialect, name it with --edition. Content that the other edition cannot express is converted as closely as possible and " +
      "reported once on stderr; docs/bridge.md and docs/editions.md list the conversions.",
    positionals: "-- COMMAND [ARGUMENTS]",
    options: {
      as: option("NAME", "Edition that the editor speaks: v1, v2, pharo or scoped", {
        completes: editionNames,
      }),
      edition: option("NAME", "Edition that the agent speaks (default: v2, or v1 if the agent answers so)", {
        completes: editionNames,
      }),
      strict: flag(
        "Omit or reject content that the other version cannot express, instead of approximating it",
      ),
      log: option("FILE", "Append a full log to this file; - is stderr (default: only losses, on stderr)", {
        completes: "file",
      }),
    },
    ownsOutput: true,
    examples: [
      "parley bridge --as v1 -- my-v2-agent --acp",
      "parley bridge --as v2 --edition scoped -- my-agent",
    ],
    load: async () => (await import("./bridge/bridge.ts")).run,
  },
  {
    name: "completion",
    summary: "Print a shell completion script",
    details:
      "bash: add to ~/.bashrc: source <(parley completion bash)\n" +
      "zsh: add to ~/.zshrc, after compinit: source <(parley completion zsh)\n" +
      "fish: parley completion fish > ~/.config/fish/completions/parley.fish",
    positionals: "SHELL",
    completes: ["bash", "zsh", "fish"],
    examples: ["source <(parley completion bash)"],
    load: async () => (await import("./completion/completion.ts")).printScript,
  },
  {
    name: "completion-words",
    summary: "Print the names of agents or sessions, for completion scripts",
    positionals: "WHAT",
    internal: true,
    load: async () => (await import("./completion/completion.ts")).printWords,
  },
  {
    name: "cli-page",
    summary: "Print docs/cli.md",
    internal: true,
    load: async () => (await import("./command/help.ts")).printCliPage,
  },
  {
    name: "chat-keys-page",
    summary: "Print docs/chat-keys.md",
    internal: true,
    load: async () => (await import("./chat/keys-page.ts")).printKeysPage,
  },
];
