// Defines `agent.mcpServers` of the config file, as a type and as a schema.

/** One server, in the shape that most tools have in their settings. `${NAME}` stands for a variable of the environment. */
export interface McpServerConfig {
  /** Default: "stdio" with a command, "http" with a url. */
  readonly type?: "stdio" | "http" | "sse";
  /** The program, without arguments. Give either `command` or `url`. */
  readonly command?: string;
  /** The arguments of the program. */
  readonly args?: readonly string[];
  /** Variables that are added to its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its working directory. Default: that of the session. */
  readonly cwd?: string;
  /** The address of a server for "http" or "sse". */
  readonly url?: string;
  /** Headers of every request to the address. They are never shown. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Your own registration, for servers without automatic client registration. */
  readonly oauth?: {
    readonly clientId?: string;
    readonly clientSecret?: string;
    readonly scope?: string;
    readonly callbackPort?: number;
  };
  /** Milliseconds for its start and for each call. */
  readonly timeout?: number;
  /** The tools to use; a name may end with `*`. Default: all. */
  readonly tools?: readonly string[];
  /** True: the server is not started. */
  readonly disabled?: boolean;
}

const texts = { type: "object", additionalProperties: { type: "string" } } as const;
const words = { type: "array", items: { type: "string" } } as const;
const text = { type: "string", minLength: 1 } as const;

const oauth = {
  type: "object",
  description: "Your own registration, for servers without automatic client registration",
  properties: {
    clientId: text,
    clientSecret: text,
    scope: { ...text, description: "The scopes to request, separated by spaces" },
    callbackPort: {
      type: "integer",
      minimum: 1,
      maximum: 65_535,
      description: "The port of http://127.0.0.1:PORT/callback, if that was registered. Default: a free one",
    },
  },
  additionalProperties: false,
} as const;

export const mcpServersShape = {
  type: "object",
  description:
    "Your MCP servers for the coding agent in every editor, by name. A dollar sign and a name in braces stand for that environment variable",
  additionalProperties: {
    type: "object",
    properties: {
      type: {
        type: "string",
        enum: ["stdio", "http", "sse"],
        description: "Default: stdio with a command, http with a url",
      },
      command: { ...text, description: "A program, never a shell command line; its arguments are in args" },
      args: words,
      env: { ...texts, description: "Variables to add to its environment" },
      cwd: { ...text, description: "Default: the working directory of the session" },
      url: { ...text, description: "The address of an http or sse server" },
      headers: { ...texts, description: "Sent with every request, and never shown" },
      oauth,
      timeout: { type: "integer", minimum: 1, description: "Milliseconds for its start and for each call" },
      tools: { ...words, description: "Use only these tools; a name may end with *" },
      disabled: { type: "boolean", description: "Do not start it. Default: false" },
    },
    additionalProperties: false,
  },
} as const;
