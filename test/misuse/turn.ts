// biome-ignore-all lint/nursery: every line here is a mistake on purpose

// Mistakes in a turn, with a tool call and with a session's data: none of them compiles (see README.md).

import {
  type AgentConnection,
  type AgentSession,
  agent,
  type DisplayTerminal,
  type Inbox,
  type PermissionOption,
  type TerminalHandle,
  type ToolCallHandle,
  type Turn,
  type TurnClient,
} from "@parley/acp";

declare const turn: Turn;
declare const tool: ToolCallHandle;
declare const session: AgentSession;
declare const shown: DisplayTerminal;
declare const handle: TerminalHandle;
declare const options: PermissionOption[];
const who = { name: "me", version: "1" };

// ---- permission

// @ts-expect-error the answer is the option, or nothing: it is no object with a field to look at
void turn.requestPermission("Delete it?").then(({ allowed }) => allowed);

// @ts-expect-error nothing is a no: it has no id
void turn.requestPermission("Delete it?").then((option) => option.optionId);

// @ts-expect-error the options have a name
void tool.requestPermission(options);
void tool.requestPermission({ options });

// @ts-expect-error a title is for the turn: the call has one
void tool.requestPermission("Delete it?");

void turn.tool({ title: "T", permission: Math.random() > 0.5 }, () => undefined);

// @ts-expect-error the question has options, not an answer
void turn.tool({ title: "T", permission: "allow_once" }, () => undefined);
void turn.tool({ title: "T", permission: { options, description: "why" } }, () => undefined);
void session.runInBackground({ title: "T", permission: true }, () => undefined);

// ---- tool calls

// @ts-expect-error the parts of a change have names
void tool.diff("/a.txt", "new", "old");

// @ts-expect-error a change has a new text
void tool.diff({ path: "/a.txt", oldText: "old" });
void tool.diff({ path: "/a.txt", oldText: "old", newText: "new" });

// @ts-expect-error it makes a terminal: one that exists is added
tool.terminal(shown);

// @ts-expect-error the same for a terminal of the client
tool.terminal(handle);
void tool.add({ type: "terminal", terminalId: handle.terminalId });

// @ts-expect-error a call needs a function that does the work
void turn.tool({ title: "T" });

// ---- what is gone

// @ts-expect-error return { stopReason, usage } instead
turn.setTokens({ totalTokens: 1, inputTokens: 1, outputTokens: 0 });

// @ts-expect-error a title belongs to the session
turn.title("T");
turn.session.setTitle("T");

// @ts-expect-error commands belong to the session
turn.commands([]);
turn.session.setAvailableCommands([]);

// @ts-expect-error the client's custom data is with its capabilities
void turn.client._meta;
void turn.client.capabilities._meta;

// @ts-expect-error a signal is an option
void turn.client.request("_acme/x", {}, turn.signal);
void turn.client.request("_acme/x", {}, { signal: turn.signal });

// @ts-expect-error a request outside the protocol begins with an underscore
void turn.client.request("acme/x");

// ---- the data of a session

agent({
  ...who,
  session: { open: () => ({ count: 0 }) },
  prompt(its) {
    its.session.data.count++;
    // @ts-expect-error there is no such field
    its.session.data.cuont++;
  },
});

agent({
  ...who,
  session: {
    async open(its, { origin }) {
      // @ts-expect-error nothing is kept with it yet
      void its.data.count;
      return { origin, id: its.sessionId };
    },
    close: (its) => void its.data.id.trim(),
    setConfigOption: (its) => void its.data.id.trim(),
  },
  prompt(its) {
    const origin: "new" | "load" | "resume" | "fork" = its.session.data.origin;
    return its.say(origin);
  },
});

agent<{ count: number }>({
  ...who,
  prompt(its) {
    its.session.data.count++;
  },
  // @ts-expect-error it returns other data
  session: { open: () => ({ cuont: 0 }) },
});

agent<{ count: number }>({
  ...who,
  // @ts-expect-error it forgets to return the data
  session: { async open() {} },
  prompt: (its) => its.say(String(its.session.data.count)),
});

agent({
  ...who,
  prompt(its) {
    const none: undefined = its.session.data;
    // @ts-expect-error without open there is no data
    its.session.data.count++;
    return none;
  },
});

// an open without data needs no return, wherever it stands
agent({ ...who, prompt: (its) => its.say("x"), session: { open: (its) => its.setTitle("T") } });
agent({ ...who, session: { open: (its) => its.setTitle("T") }, prompt: (its) => withAny(its) });

/** A function for the turns of every agent. */
function withAny(its: Turn): Promise<void> {
  return its.say(its.text);
}

function withCount({ session: its }: Turn<{ count: number }>): void {
  its.data.count++;
}

agent({ ...who, session: { open: () => ({ count: 0, more: "" }) }, prompt: (its) => withCount(its) });
// @ts-expect-error the data of this agent has no count
agent({ ...who, session: { open: () => ({ more: "" }) }, prompt: (its) => withCount(its) });

// ---- a fake of each, for the tests of one's own code: nothing but what is public has to be written

const done = Promise.resolve();

export const fakeTerminal: DisplayTerminal = { terminalId: "t", write: () => done, exit: () => undefined };

export const fakeTool: ToolCallHandle = {
  toolCallId: "c",
  signal: new AbortController().signal,
  start: () => undefined,
  update: () => done,
  add: () => done,
  diff: () => done,
  terminal: () => fakeTerminal,
  requestPermission: async () => undefined,
  finish: () => done,
};

export const fakeInbox: Inbox = {
  size: 0,
  take: () => undefined,
  async *[Symbol.asyncIterator]() {},
};

const fakeCapabilities = {
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  terminalAuth: false,
  elicitationForm: false,
  elicitationUrl: false,
  booleanOptions: false,
  notices: false,
  compaction: false,
  plans: false,
  subagents: false,
  terminalOutput: false,
};

export const fakeClient: TurnClient = {
  info: undefined,
  capabilities: fakeCapabilities,
  request: async () => undefined,
};

export const fakeSession: AgentSession<{ count: number }> = {
  sessionId: "s",
  data: { count: 0 },
  principal: undefined,
  cwd: "/",
  roots: ["/"],
  mcpServers: [],
  systemPrompt: undefined,
  _meta: undefined,
  clientCapabilities: fakeCapabilities,
  configOptions: [],
  availableCommands: [],
  turn: undefined,
  configOption: () => undefined,
  setConfigOptions: () => undefined,
  setAvailableCommands: () => undefined,
  setTitle: () => undefined,
  completeElicitation: () => undefined,
  update: () => done,
  runInBackground: async (_start, run) => run(fakeTool),
  setBackgroundWork: () => undefined,
  terminal: () => fakeTerminal,
  runTurn: async () => ({ stopReason: "end_turn" }),
  async *history() {},
};

export const fakeTurn: Turn<{ count: number }> = {
  session: fakeSession,
  author: undefined,
  prompt: [],
  text: "",
  messageId: "m",
  _meta: undefined,
  client: fakeClient,
  inbox: fakeInbox,
  successor: undefined,
  signal: new AbortController().signal,
  say: () => done,
  think: () => done,
  plan: () => done,
  tool: async (_start, run) => run(fakeTool),
  announce: () => "c",
  terminal: () => fakeTerminal,
  requestPermission: async () => undefined,
  elicit: async () => ({ action: "cancel" }),
  notice: () => done,
  usage: () => done,
  update: () => done,
};

export const fakeConnection: AgentConnection = {
  edition: "v2",
  clientInfo: undefined,
  clientMeta: undefined,
  clientCapabilities: fakeCapabilities,
  closed: new Promise(() => undefined),
  request: async () => undefined,
  notify: () => done,
  close: () => done,
  [Symbol.asyncDispose]: () => done,
};
