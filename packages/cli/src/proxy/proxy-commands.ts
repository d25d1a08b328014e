// The table of `parley proxy`, and the options of every command that takes a chain.

import { type Command, flag, option } from "../command/command.ts";
import { editionNames } from "../settings/edition-choice.ts";

type Options = NonNullable<Command["options"]>;

/** Those of `shippedProxies`, which would be loaded for every command. */
export const proxyNames = ["budget", "redact", "context", "tools", "route", "tap", "notify"] as const;

export const chainOptions: Options = {
  proxy: option(
    "PROXY",
    'Put this in front of the agent: a proxy that parley proxy lists, as in "budget --tokens 200000", or a command',
    { multiple: true, completes: proxyNames },
  ),
  chain: option("NAME", "Put this chain of the config file in front of the agent, before those of --proxy"),
};

export const proxyCommands: readonly Command[] = [
  {
    name: "proxy",
    summary: "Put proxies in front of an agent, or list those that there are",
    details:
      "Enter this command as the agent in your editor's settings. Each PROXY is a proxy that comes with Parley, with its options in " +
      "the same quotes, or the command of another one. The first one is next to the editor. AGENT is the name of an agent, or its " +
      "command with arguments.\n\n" +
      "Without --, it is a component for another conductor, which starts it and puts an agent behind it. Without a PROXY, it lists " +
      "those that come with Parley, and their options. docs/proxies.md shows how to write your own.",
    positionals: "[PROXY...] [-- AGENT]",
    completes: proxyNames,
    options: {
      chain: option("NAME", "Begin with this chain of the config file"),
      "on-exit": option(
        "WHAT",
        "What happens when the program of a PROXY has gone: restart, bypass or fail",
        {
          default: "restart",
          completes: ["restart", "bypass", "fail"],
        },
      ),
      edition: option("NAME", "Edition that the agent speaks, if the editor speaks another one", {
        completes: editionNames,
      }),
      sandbox: flag("Run the agent in a sandbox, where it writes only to its working directory"),
      record: option(
        "FILE",
        "Record what passes between all of them; parley trace show FILE --hops reads it",
        {
          completes: "file",
        },
      ),
      setup: option("EDITOR", "Print the settings for zed, jetbrains, neovim, emacs or vscode and exit", {
        completes: ["zed", "jetbrains", "neovim", "emacs", "vscode"],
      }),
      reset: flag("Forget what this proxy keeps, such as what a budget has spent, and exit"),
    },
    json: true,
    ownsOutput: true,
    examples: [
      "parley proxy",
      'parley proxy "budget --tokens 200000" -- claude',
      'parley proxy redact "my-proxy --strict" -- my-agent --acp',
      'parley proxy --setup zed "context --file NOTES.md" -- claude',
      "parley proxy redact",
      "parley proxy --reset budget",
    ],
    load: async () => (await import("./proxy.ts")).run,
  },
];
