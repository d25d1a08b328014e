// The tables of `parley serve` and `parley connect`.

import { type Command, flag, option } from "../command/command.ts";
import { chainOptions } from "../proxy/proxy-commands.ts";
import { editionNames } from "../settings/edition-choice.ts";

export const serveCommands: readonly Command[] = [
  {
    name: "serve",
    summary: "Serve an agent to other programs and machines over HTTP and WebSocket",
    details:
      "Each client gets an agent process of its own. A client that was cut off finds it again for ten minutes. The agent works on the " +
      "files of this machine, not on those of its clients. It is Parley's own " +
      "unless --agent names another or its command follows --.\n\n" +
      "Clients need the token: that of PARLEY_TOKEN or --token-file, otherwise a new one, which is printed. Only this machine can connect " +
      "unless --host says otherwise, which needs a certificate or an encrypting proxy in front. Web pages can connect only if " +
      "--allow-origin names them.\n\n" +
      "SIGTERM, Ctrl-C and a closed terminal: no new clients, open requests have 30 s to finish, then it exits with 0. A second signal ends it at once.",
    positionals: "[-- COMMAND [ARGUMENTS]]",
    options: {
      agent: option("NAME", "Agent to serve (default: parley)", { short: "a", completes: "agent" }),
      ...chainOptions,
      cwd: option("DIR", "Working directory of the agent (default: current directory)", {
        short: "C",
        completes: "directory",
      }),
      host: option("ADDRESS", "Address to listen on", { default: "127.0.0.1" }),
      port: option("PORT", "Port to listen on; 0 is any free one", { default: "0" }),
      "token-file": option("FILE", "File with the token; it is created if it does not exist", {
        completes: "file",
      }),
      "tls-cert": option("FILE", "Certificate as PEM", { completes: "file" }),
      "tls-key": option("FILE", "Key of the certificate as PEM", { completes: "file" }),
      "behind-proxy": flag("A proxy in front encrypts, and tells in X-Forwarded-For who calls"),
      "allow-origin": option("ORIGIN", "Web pages of this origin may connect", { multiple: true }),
      "allow-host": option("NAME", "Clients call this server by this name too", { multiple: true }),
      "plain-post": flag("Also serve clients that only POST and open no event streams"),
      edition: option(
        "NAME",
        "Edition that Parley's agent speaks: v1, v2, pharo, scoped, or several with commas (default: v2,v1)",
        { completes: editionNames },
      ),
      "client-files": flag("The agent may use the files and terminals of clients that offer them"),
      grace: option("TIME", "How long a client that was cut off finds its agent again", { default: "10m" }),
      "max-agents": option(
        "COUNT",
        "Agent processes at a time; at the limit, the client that has been away longest makes room",
        {
          default: "100",
        },
      ),
      "allow-commands": flag("Clients may name MCP servers that are commands of this machine"),
      sandbox: flag("Run the agent in a sandbox, where it writes only to its working directory"),
    },
    json: true,
    ownsOutput: true,
    examples: [
      "parley serve",
      "parley serve --agent claude --token-file token",
      "parley serve --host 0.0.0.0 --port 8443 --tls-cert cert.pem --tls-key key.pem --allow-host agents.example.org",
      "parley serve --plain-post --edition pharo",
      "parley serve --json -- my-agent --acp",
    ],
    load: async () => (await import("./serve.ts")).run,
  },
  {
    name: "connect",
    summary: "Use a remote agent as a local one, on stdin and stdout",
    details:
      "Enter this command as the agent in your editor's settings. The token is taken from PARLEY_TOKEN or --token-file. A short " +
      "interruption of the network goes unnoticed. When stdin ends, the agent goes on without us, for as long as its server waits; a later " +
      "connection can load its sessions. To end a session, the editor closes it.\n\n" +
      "--setup prints the settings to paste into an editor. --token-file counts more than PARLEY_TOKEN, and --header more than both.",
    positionals: "URL",
    options: {
      "token-file": option("FILE", "File with the token", { completes: "file" }),
      header: option("NAME=VALUE", "Another HTTP header to send", { multiple: true }),
      "plain-post": flag("The address accepts only POST: one request per message, and no event streams"),
      edition: option("NAME", "Edition that the agent speaks, if the editor speaks another one", {
        completes: editionNames,
      }),
      takeover: flag("Take sessions that are loaded from the clients that have them"),
      "drop-mcp-commands": flag("Leave out the editor's MCP servers that are commands, and say so on stderr"),
      setup: option("EDITOR", "Print the settings for zed, jetbrains, neovim, emacs or vscode and exit", {
        completes: ["zed", "jetbrains", "neovim", "emacs", "vscode"],
      }),
    },
    ownsOutput: true,
    examples: [
      "parley connect --token-file token http://127.0.0.1:8080/acp",
      "PARLEY_TOKEN=... parley connect wss://agents.example.org/acp",
      "parley connect --setup zed https://agents.example.org/acp",
    ],
    load: async () => (await import("./connect.ts")).run,
  },
];
