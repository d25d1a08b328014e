// The tables of `parley completion` and of what its scripts call.

import type { Command } from "../command/command.ts";

const shells = ["bash", "zsh", "fish"];

export const completionCommands: readonly Command[] = [
  {
    name: "completion",
    summary: "Print a shell completion script",
    details:
      "bash: add to ~/.bashrc: source <(parley completion bash)\n" +
      "zsh: add to ~/.zshrc, after compinit: source <(parley completion zsh)\n" +
      "fish: parley completion fish > ~/.config/fish/completions/parley.fish",
    positionals: "SHELL",
    completes: shells,
    load: async () => (await import("./completion.ts")).run,
  },
  {
    name: "completion-words",
    summary: "Print the names of agents or sessions, for completion scripts",
    positionals: "WHAT",
    internal: true,
    load: async () => (await import("./completion-words.ts")).run,
  },
];
