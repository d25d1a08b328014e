// The places whose custom data cannot survive, with the reason, and how the relay reports it.

export interface Exception {
  /** Not for a client that shows the output of terminals (`terminal_output`). */
  readonly onlyForClientsWithoutTerminals?: boolean;
  /** Matches the names of the places. */
  readonly places: RegExp;
  readonly reason: string;
  /** What the relay says that it lost, if it must say it. */
  readonly lost?: string;
}

const capability = (path: string, reason: string, message = "initialize result"): Exception => ({
  places: new RegExp(
    `${message}\\..*apabilities\\.${path.replaceAll(".", "\\.").replace("session", "session(?:Capabilities)?")}$`,
  ),
  reason,
  lost: `the metadata of the capability ${path}`,
});

/** From an agent of version 2 to a client of version 1. */
export const toVersion1: readonly Exception[] = [
  ...["image", "audio", "embeddedContext"].map((name) =>
    capability(`session.prompt.${name}`, "version 1 has a boolean there"),
  ),
  ...["stdio", "http"].map((name) => capability(`session.mcp.${name}`, "version 1 has a boolean there")),
  capability("session.mcp.acp", "MCP over the connection does not pass a relay"),
  {
    places: /authMethods\[\]\[terminal\]\.env\[\]/,
    reason: "the variables of a login are a map of texts in version 1",
    lost: "the metadata of variables of a login method",
  },
  {
    places: /\[(?:state_update\]|subagent_update\]\.state)\[\w+\]\.background\[\]/,
    reason: "version 1 has no background work",
    lost: "work in the background",
  },
  ...["running", "requires_action", "unknown"].map((state) => ({
    places: new RegExp(`\\[state_update\\]\\[${state}\\](?:#\\d+)?$`),
    reason:
      "version 1 has no states: the last one becomes the answer to the prompt, the others have no message",
    lost: `the metadata of the state ${state}`,
  })),
  {
    places: /session\/status result\.state/,
    reason: "version 1 has no states",
    lost: "the state in the status of a session",
  },
  {
    places: /\[diff\]\.(?:changes\[\]|patch)/,
    reason: "version 1 shows the texts of a file, not changes and a patch",
    lost: "the metadata of a change and its patch",
  },
  {
    places: /\[tool_call_update\]\.capabilities/,
    reason: "version 1 cannot cancel one tool call",
    lost: "the metadata of what a tool call can do",
  },
  {
    places: /request_permission\.subject\[tool_call\]\.toolCall\.capabilities/,
    reason: "version 1 cannot cancel one tool call",
    lost: "the metadata of what a tool call can do",
  },
  {
    places: /\[(?:terminal_update|terminal_output_chunk)\]/,
    reason: "a terminal of the agent is text in its tool call in version 1",
    lost: "the metadata of a terminal, which is shown as text",
  },
  {
    places: /\[tool_call_\w+\]\.content(?:\[\])?\[terminal\]/,
    onlyForClientsWithoutTerminals: true,
    reason: "a terminal without output is not shown in version 1",
    lost: "the metadata of a terminal without output",
  },
  {
    places: /request_permission\.subject\[tool_call\]\.toolCall\.content\[\]/,
    reason: "a question about a call with a terminal does not repeat the content of the call",
    lost: "the metadata of the content of a call with a terminal",
  },
  {
    // of the notifications of those updates that have no message
    places: /^(?:agent )?session\/update#\d+$/,
    reason: "an update that is not sent has no notification",
  },
];

/** From an agent of version 1 to a client of version 2. */
export const toVersion2: readonly Exception[] = [
  ...["list", "resume", "close"].map((name) =>
    capability(`session.${name}`, "a client of version 2 has it without a declaration"),
  ),
  capability("auth.logout", "a client of version 2 has it without a declaration"),
];

/** From a client of version 2 to an agent of version 1. */
export const fromVersion2: readonly Exception[] = [
  { places: /session\/resume\.replayFrom/, reason: "version 1 has a method of its own for that" },
  capability("auth.terminal", "version 1 has a boolean there", "initialize"),
];

/** From a client of version 1 to an agent of version 2. */
export const fromVersion1: readonly Exception[] = [
  "fs",
  "session",
  "session.configOptions",
  "session.configOptions.boolean",
  "subagents",
  "plan",
].map((path) => capability(path, "clients of version 2 do not declare it", "initialize"));

/** Messages whose custom data an app cannot set or cannot read, by the beginning of their name. */
export const notSpoken: Readonly<Record<string, string>> = {
  "session/cancel": "a client can set it, but no handler of an agent is told of a cancel",
  "tool_call/cancel":
    "a client can set it, but no handler of an agent answers it: the signal of the call aborts",
  "terminal/cancel": "as tool_call/cancel",
  "session/set_mode": "a mode of our agents is an option, and is set as one",
  "fs/read_text_file result": "`Files` give plain texts",
  "fs/write_text_file result": "`Files` give nothing",
  "terminal/create result": "`Terminals` give a handle",
  "terminal/output": "a handle takes no options; its result has custom data",
  "terminal/wait_for_exit": "as terminal/output",
  "terminal/kill": "a handle takes no options and gives nothing",
  "terminal/release": "as terminal/kill",
  "session/update": "tested by its updates",
  "proxy/initialize": "proxies are for the raw peers",
  "proxy/successor": "as proxy/initialize",
  "mcp/message": "MCP over the connection is for the raw peers",
};
