// The shape of the config file, from which its JSON Schema for editors is made.

import { type ObjectShape, problemsOf, type ShapePath } from "@parley/acp/internal";
import { isObject } from "@parley/acp/jsonrpc";

const texts = { type: "object", additionalProperties: { type: "string" } } as const;
const words = { type: "array", items: { type: "string" } } as const;
const options = {
  type: "object",
  description: "Other options that its sessions begin with, by id, category or name",
  additionalProperties: { type: "string" },
} as const;

const agents = {
  type: "object",
  description: "Agents of your own by their names, and what you want otherwise of those that are known",
  additionalProperties: {
    type: "object",
    properties: {
      title: { type: "string", minLength: 1, description: "As users see it" },
      transport: {
        type: "string",
        enum: ["stdio", "websocket", "http"],
        description: "Default: stdio with a command; with a url what its beginning says",
      },
      command: {
        type: "string",
        minLength: 1,
        description: "A program, never a shell line; its arguments are in args",
      },
      args: words,
      env: { ...texts, description: "Added to its environment" },
      pass: {
        ...words,
        description:
          "The variables that it gets beside those that every program needs; NAME_* are several. Default: all",
      },
      url: {
        type: "string",
        minLength: 1,
        description: "Where it is: https://agents.example.com/acp, or wss:// for a WebSocket",
      },
      headers: { ...texts, description: "Sent to that address with every request, and never shown" },
      allowPlainText: {
        type: "boolean",
        description:
          "Lets http:// and ws:// go to other machines, where anybody on the way can read and change what is said. Default: false",
      },
      sandbox: {
        type: "boolean",
        description: "Whether its process runs in a sandbox, as with --sandbox agent. Default: false",
      },
      state: {
        ...words,
        description:
          "Folders that it can write to in a sandbox beside its workspace: absolute, or ~/ and a path",
      },
      hosts: {
        ...words,
        description:
          "The hosts that it reaches in a sandbox, with those of its provider if it is a known agent. Default: all",
      },
      mode: { type: "string", minLength: 1, description: "The mode that its sessions begin in" },
      model: { type: "string", minLength: 1, description: "The model that its sessions begin with" },
      options,
      edition: {
        type: "string",
        enum: ["v1", "v2", "pharo", "scoped"],
        description:
          "The edition of the protocol that it speaks; the dialects pharo and scoped must be named. Default: v2 or v1, as it answers",
      },
      handshakeTimeoutMs: {
        type: "integer",
        minimum: 1,
        description: "How long it may take to start. Default 60000",
      },
    },
    additionalProperties: false,
  },
} as const satisfies ObjectShape;

const mcpServers = {
  type: "object",
  description: "MCP servers that every agent is given, by their names",
  additionalProperties: {
    type: "object",
    properties: {
      type: { type: "string", enum: ["stdio", "http", "sse"] },
      command: { type: "string", minLength: 1 },
      args: words,
      env: texts,
      url: { type: "string", minLength: 1 },
      headers: texts,
    },
    additionalProperties: false,
  },
} as const satisfies ObjectShape;

const client = {
  type: "object",
  description: "What parley does when it is the client: parley run",
  properties: {
    agent: {
      type: "string",
      minLength: 1,
      description: "The agent that is used when none is named. Default: parley",
    },
    sandbox: {
      type: "string",
      enum: ["workspace", "read-only", "strict", "off"],
      description: "The sandbox that commands of agents run in. Default: workspace",
    },
    reviewer: {
      type: "string",
      minLength: 1,
      description:
        "A command that is asked before you are: it gets a permission question as JSON and prints allow, deny or ask",
    },
    mcpServers,
  },
  additionalProperties: false,
} as const satisfies ObjectShape;

const component = {
  type: "object",
  title: "a text, or an object with either proxy or command",
  properties: {
    proxy: { type: "string", minLength: 1, description: "The name of a proxy that comes with Parley" },
    command: { type: "string", minLength: 1, description: "A program, without arguments" },
    args: { ...words, description: "The options of the proxy, or the arguments of the program" },
    env: { ...texts, description: "Variables that are added to the environment of the program" },
    onExit: {
      type: "string",
      enum: ["restart", "bypass", "fail"],
      description:
        "What happens when the program has gone: it is started again, the chain goes on without it, or the chain ends. Default: restart",
    },
    errors: {
      type: "string",
      enum: ["open", "closed"],
      description:
        "What an error of the proxy means: the message passes, or it is refused. Default: as the proxy says",
    },
    policy: {
      type: "boolean",
      description: "It decides what is allowed: it is never bypassed, and its errors are closed",
    },
  },
  additionalProperties: false,
} as const satisfies ObjectShape;

/** Its members are listed for editors; a shape cannot say "one of these two". */
const componentOrText = {
  title: component.title,
  anyOf: [{ type: "string", minLength: 1 }, component],
  check(value: unknown, path: ShapePath) {
    if (typeof value === "string" && value !== "") return [];
    const isOne = isObject(value) && (value["proxy"] === undefined) !== (value["command"] === undefined);
    const whole = [{ path, kind: "wrong", wanted: component.title, value }] as const;
    return isOne ? problemsOf(value, component, path) : whole;
  },
};

const chains = {
  type: "object",
  description: "Chains of proxies by their names, for --chain: each is a list, from the client to the agent",
  additionalProperties: { type: "array", items: componentOrText },
} as const satisfies ObjectShape;

const chat = {
  type: "object",
  description: "How parley chat looks and behaves",
  properties: {
    theme: {
      type: "string",
      enum: ["terminal", "dark", "light", "colour-blind", "mono"],
      description: "The colours. Default: terminal, which are those of the terminal",
    },
    plain: {
      type: "boolean",
      description: "Append only, for screen readers, as with --plain. Default: false",
    },
    mouse: {
      type: "boolean",
      description:
        "The wheel scrolls the whole transcript, the review and the help; Shift selects text there. Default: false",
    },
    animations: { type: "boolean", description: "Moves what stands for work. Default: true" },
    notify: {
      type: "boolean",
      description: "Tells the desktop when a turn has ended or a question waits. Default: true",
    },
    editor: {
      type: "string",
      minLength: 1,
      description: "The editor for long prompts and files. Default: VISUAL, otherwise EDITOR",
    },
  },
  additionalProperties: false,
} as const satisfies ObjectShape;

/** A section that is not checked. */
export const anySection: ObjectShape = {
  type: "object",
  additionalProperties: { title: "anything", check: () => [] },
};

/** The whole file; the section `agent` is that of our own agent, which this package does not know. */
export function configShape(agent: object): ObjectShape {
  return {
    type: "object",
    properties: {
      $schema: { type: "string", description: "Where this schema is, for editors" },
      // as: schemas of sections are written in the part of JSON Schema that shapes have
      agent: agent as ObjectShape,
      agents,
      client,
      chains,
      chat,
    },
    additionalProperties: false,
  };
}
