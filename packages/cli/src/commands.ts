// The commands of `parley`, one table each: help, argument parsing and the list of commands all come
// from here. Nothing but types is imported, and a command's code is loaded only when it runs.

/** One option of a command, as `node:util` parseArgs takes it, plus what help says about it. */
export interface Option {
  readonly type: "boolean" | "string";
  readonly short?: string;
  readonly multiple?: boolean;
  readonly default?: string | boolean;
  /** The placeholder in help: `--cwd DIR`. */
  readonly value?: string;
  readonly summary: string;
}

/** What a command gets: its arguments, parsed by its own table. */
export interface Invocation {
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
  readonly positionals: readonly string[];
  /** The user asked for `{"v":1,"data":…}` on stdout instead of prose. */
  readonly json: boolean;
}

/** Runs a command; the number is the exit code, nothing means 0. */
export type Run = (invocation: Invocation) => Promise<number | undefined> | number | undefined;

/** The table of one command. */
export interface Command {
  /** One word, or two: `trace show`. */
  readonly name: string;
  /** One line, no full stop. */
  readonly summary: string;
  /** Longer text for `parley help NAME`. */
  readonly details?: string;
  /** The positional arguments as help shows them, `FILE...`. Absent: the command takes none. */
  readonly positionals?: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Started by other commands and not by people: help does not list it. */
  readonly internal?: boolean;
  /** Whether the command can answer in JSON; `--json` is refused otherwise. */
  readonly json?: boolean;
  readonly load: () => Promise<{ readonly run: Run }>;
}

const pace: Option = {
  type: "string",
  value: "MS",
  default: "0",
  summary: "pause between the agent's updates, in milliseconds",
};

const provider: Option = {
  type: "string",
  value: "PROVIDER",
  summary: "anthropic, openai, google or one of the config (default: that of the configured model)",
};

/** In the order in which help lists them. */
export const commands: readonly Command[] = [
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
        summary: "how sessions begin: ask, code, architect or chat (default: PARLEY_MODE, the config, ask)",
      },
      model: {
        type: "string",
        value: "ID",
        summary:
          "provider/name, or offline (default: PARLEY_MODEL, the config, the first provider with a key)",
      },
      login: {
        type: "string",
        value: "PROVIDER",
        summary: "ask for the provider's key, store it, and exit: for editors that log in in a terminal",
      },
      setup: {
        type: "string",
        value: "EDITOR",
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
  {
    name: "demo",
    summary: "watch a client and an agent talk to each other, offline",
    details:
      "Starts an agent as a second process, plays a short conversation over its stdio in a throw-away\n" +
      'folder, and shows every message as it crosses. With --json: one line per message, the last is "end".',
    options: { pace },
    json: true,
    load: () => import("./demo.ts"),
  },
  {
    name: "demo-agent",
    summary: "serve a small scripted agent on stdin and stdout, for any ACP client",
    details:
      "Speaks ACP as lines of JSON-RPC. It is meant to be started by a client, such as an editor;\n" +
      "typed in a shell it waits for a client's first message and exits when its input ends.",
    options: { pace },
    load: () => import("./demo-agent.ts"),
  },
  {
    name: "tap",
    summary: "run an agent and record everything that crosses between it and its client",
    details:
      "Put it in front of the agent's command where your client (an editor) has it, and use the client as\n" +
      "always: every byte is passed on as it came, and so are signals and the exit code. The trace is a file\n" +
      "that only you can read; it holds everything, secrets too: see parley help trace redact.",
    positionals: "-- COMMAND [ARGUMENTS]",
    options: {
      out: {
        type: "string",
        value: "FILE",
        summary:
          "where to write the trace; a name that is taken gets a number (default: the state directory)",
      },
      "max-bytes": {
        type: "string",
        value: "SIZE",
        default: "1g",
        summary: "how large the trace may become",
      },
      "max-line": {
        type: "string",
        value: "SIZE",
        default: "8m",
        summary: "of a longer message only the beginning is kept",
      },
      queue: {
        type: "string",
        value: "SIZE",
        default: "64m",
        summary: "how much may wait for a slow disk before records are dropped",
      },
    },
    load: () => import("./tap.ts"),
  },
  {
    name: "trace show",
    summary: "print a trace, one line per message and event",
    details:
      "Every line has the number of its record, the time since the start, who sent it and what it is;\n" +
      'answers have the time that they took. With --json: one object per line, the last is "end".',
    positionals: "FILE",
    options: {
      follow: { type: "boolean", short: "f", summary: "go on with what a running tap adds, up to its end" },
    },
    json: true,
    load: () => import("./trace-show.ts"),
  },
  {
    name: "trace redact",
    summary: "copy a trace without its secrets, to share it",
    details:
      "Replaces what looks like a secret by its key (token, password, env, headers and so on) or by its form\n" +
      "(API keys, bearer tokens, private keys), and the names of users and their homes. Ids and order stay,\n" +
      "so that the copy can be replayed. The original is not touched. Read the copy before you share it.",
    positionals: "FILE",
    options: {
      out: { type: "string", value: "FILE", summary: "where to write the copy (default: stdout)" },
      contents: {
        type: "boolean",
        summary: "also hide the text of messages, files and prompts; lengths stay",
      },
    },
    json: true,
    load: () => import("./trace-redact.ts"),
  },
  {
    name: "trace replay",
    summary: "play one side of a trace to a live peer",
    details:
      "--as agent serves the recorded agent on stdin and stdout: give it to a client as its agent's command.\n" +
      "--as client starts an agent and does to it what the recorded client did. Exits with 3, and says where,\n" +
      "when the live peer does something else than the recorded one.",
    positionals: "FILE [-- COMMAND [ARGUMENTS]]",
    options: {
      as: { type: "string", value: "SIDE", summary: "agent or client: who is played" },
      pace: {
        type: "string",
        value: "HOW",
        default: "fast",
        summary: "fast, or recorded: with the recorded pauses",
      },
    },
    json: true,
    load: () => import("./trace-replay.ts"),
  },
  {
    name: "bridge",
    summary: "put an agent of one version of the protocol behind an editor of the other",
    details:
      "Put it in front of the agent's command where your editor has it. --as is the version that the editor\n" +
      "speaks; the agent may speak either. What the editor's version cannot say is said as nearly as possible\n" +
      "and told once on stderr; docs/bridge.md has the list.",
    positionals: "-- COMMAND [ARGUMENTS]",
    options: {
      as: { type: "string", value: "v1|v2", summary: "the version that the editor speaks" },
      strict: {
        type: "boolean",
        summary: "leave out, or refuse, what the other version cannot say, instead of nearly saying it",
      },
      log: {
        type: "string",
        value: "FILE",
        summary: "append everything that happens to a file; - is stderr (default: losses, on stderr)",
      },
    },
    load: () => import("./bridge.ts"),
  },
  {
    name: "bridge-mcp",
    summary: "the MCP server that a bridge gives to an agent",
    options: {},
    internal: true,
    load: () => import("./bridge-mcp.ts"),
  },
];
