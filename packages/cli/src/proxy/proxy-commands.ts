// The table of `parley proxy`, and the options of every command that takes a chain.

import { type Command, flag, option } from "../command/command.ts";
import { editionNames } from "../settings/edition-choice.ts";

type Options = NonNullable<Command["options"]>;

/** Those of `shippedProxies`, which would be loaded for every command. */
export const proxyNames = [
  "budget",
  "redact",
  "context",
  "tools",
  "route",
  "tap",
  "notify",
  "policy",
] as const;

export const chainOptions: Options = {
  proxy: option(
    "PROXY",
    'Put this proxy in front of the agent: one that parley proxy lists, as in "budget --tokens 200000", or a command; none leaves out those of a session that is continued',
    { multiple: true, completes: proxyNames },
  ),
  chain: option(
    "NAME",
    "Put this chain from the config file in front of the agent; --proxy adds more, nearer to the agent",
  ),
};

export const proxyCommands: readonly Command[] = [
  {
    name: "proxy",
    summary: "Put proxies in front of an agent, or list the proxies that come with Parley",
    details:
      "Enter this command as the agent in your editor's settings. Each PROXY is one argument: the name of a proxy that comes with " +
      "Parley and its options, or the command of another proxy. The first one is next to the editor. AGENT is the name of an " +
      "agent, or its command with arguments.\n\n" +
      "Without -- and AGENT, the command serves the proxies to another conductor, which starts it and puts an agent behind it. " +
      "Without arguments, it lists the proxies that come with Parley, and their options. docs/proxies.md shows how to write your " +
      "own.",
    positionals: "[PROXY...] [-- AGENT]",
    completes: proxyNames,
    options: {
      chain: option("NAME", "Start with this chain from the config file"),
      "on-exit": option(
        "WHAT",
        "What to do when the process of a PROXY ends: restart it, bypass it or fail",
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
        "Record the messages between all components; read them with parley trace show --hops FILE",
        {
          completes: "file",
        },
      ),
      setup: option("EDITOR", "Print the settings for zed, jetbrains, neovim, emacs or vscode and exit", {
        completes: ["zed", "jetbrains", "neovim", "emacs", "vscode"],
      }),
      reset: flag("Delete the stored data of this PROXY, such as what a budget has spent, and exit"),
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
    meant: async () => (await import("./unquoted-proxy.ts")).unquotedProxy,
  },
];
