// The options of every command with an agent and a session, as help and completion show them.

import { type Command, flag, option } from "../command/command.ts";
import { chainOptions } from "../proxy/proxy-commands.ts";
import { editionNames } from "../settings/edition-choice.ts";
import { sandboxWords } from "../settings/sandbox-choice.ts";

type Options = NonNullable<Command["options"]>;

/** Which agent, directory and session. */
export const placeOptions: Options = {
  agent: option("NAME", "Agent to use (default: parley)", { short: "a", completes: "agent" }),
  url: option("URL", "Address of a remote agent; its token is taken from PARLEY_TOKEN"),
  "token-file": option("FILE", "File with the token of the address, instead of PARLEY_TOKEN", {
    completes: "file",
  }),
  "plain-post": flag("The address accepts only POST: one request per message, and no event streams"),
  takeover: flag(
    "Take over the session if another client of that address uses it, or another process (of Parley's own agent)",
  ),
  header: option("NAME=VALUE", "HTTP header to send to the address", { multiple: true }),
  edition: option(
    "NAME",
    "Edition of the protocol that the agent speaks: v1, v2, pharo or scoped (default: v2, or v1 if the agent answers so)",
    { completes: editionNames },
  ),
  cwd: option("DIR", "Working directory (default: current directory)", {
    short: "C",
    completes: "directory",
  }),
  "add-dir": option("DIR", "Another directory that the agent may use", {
    completes: "directory",
    multiple: true,
  }),
  session: option(
    "NAME",
    "Continue the session with this name or id (the agent's own ids work too); a new name starts a session",
    { short: "s", completes: "session" },
  ),
  continue: flag("Continue the most recent session in this directory", { short: "c" }),
};

/** What the agent may do, and how its session begins. */
export const rightsOptions: Options = {
  policy: option("FILE", "Permission rules for this run", { completes: "file" }),
  allow: option("RULE", "Allow this without asking; see parley help permissions add", { multiple: true }),
  ask: option("RULE", "Ask about this every time", { multiple: true }),
  deny: option("RULE", "Never allow this", { multiple: true }),
  sandbox: option(
    "PROFILE",
    "Sandbox for commands: workspace (default), read-only, strict or off; agent runs the agent itself in one",
    { completes: sandboxWords, multiple: true },
  ),
  reviewer: option(
    "COMMAND",
    "Command that answers permission questions before you are asked: allow, deny or ask",
  ),
  mode: option("MODE", "Session mode of the agent"),
  model: option("MODEL", "Model of the agent"),
  set: option("OPTION=VALUE", "Set any other config option of the agent", { multiple: true }),
};

export const otherOptions: Options = {
  ...chainOptions,
  mcp: option("SERVER", "MCP server: NAME=URL, or a JSON file with mcpServers", {
    completes: "file",
    multiple: true,
  }),
  tools: option("FILE", "Tools for the agent: a module whose default export is a list of them", {
    completes: "file",
    multiple: true,
  }),
  "no-history": flag("Do not store this session; other agents may still store their own copy"),
  verbose: flag("Show the agent's stderr", { short: "v" }),
};
