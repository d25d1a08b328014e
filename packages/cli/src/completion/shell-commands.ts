// What shells and the documentation ask of the tables.

import type { Command } from "../command/command.ts";

const shells = ["bash", "zsh", "fish"];

export const shellCommands: readonly Command[] = [
  {
    name: "completion",
    summary: "print what makes a shell complete parley's commands and options",
    details:
      "bash: add to ~/.bashrc: source <(parley completion bash)\n" +
      "zsh: add to ~/.zshrc, after compinit: source <(parley completion zsh)\n" +
      "fish: parley completion fish > ~/.config/fish/completions/parley.fish",
    positionals: "SHELL",
    completes: shells,
    options: {},
    load: () => import("./completion.ts"),
  },
  {
    name: "completion-words",
    summary: "the names that a shell completes: agents or sessions",
    positionals: "WHAT",
    options: {},
    internal: true,
    load: () => import("./completion-words.ts"),
  },
  {
    name: "cli-page",
    summary: "docs/cli.md, from the tables",
    options: {},
    internal: true,
    load: () => import("../command/cli-page.ts"),
  },
];
