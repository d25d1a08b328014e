// biome-ignore-all lint/nursery: every line here is a mistake on purpose

// Mistakes of people who write a client: none of them compiles (see README.md).

import {
  type ClientConnection,
  type ClientPolicy,
  type ClientSession,
  client,
  type Prompt,
  type PromptResult,
} from "@parley/acp";
import type { McpChannel } from "@parley/acp/model";

const info = { name: "misuse", version: "1" };

declare const session: ClientSession;

client({ name: "me", version: "1" });

// @ts-expect-error the version is missing
client({ name: "me" });

// @ts-expect-error the name of the handler is misspelt
client({ name: "me", version: "1", requestPermision: () => "allow" });

// @ts-expect-error a client has no prompt handler
client({ name: "me", version: "1", prompt: () => undefined });

// @ts-expect-error an edition has a name, not a number
client({ name: "me", version: "1", editions: [2] });

// @ts-expect-error a prompt has content
void session.prompt();

// @ts-expect-error content is a text or a list of blocks
void session.prompt({ type: "text", text: "hello" });

export async function wrongListeners(session: ClientSession): Promise<void> {
  // @ts-expect-error an async listener: nothing waits for it
  session.onUpdate(async (update) => console.log(update));
  // @ts-expect-error a listener that returns a promise
  session.onEntry((entry) => Promise.resolve(entry));
  // @ts-expect-error a listener that sometimes returns a promise
  session.onUpdate((update) => (update.sessionUpdate === "notice" ? Promise.resolve() : undefined));
  // what a listener returns otherwise does not matter
  const updates: unknown[] = [];
  session.onUpdate((update) => updates.push(update));
  session.onUpdate((update) => void updates.push(update));
  session.onUpdate((update) => {
    updates.push(update);
  });
}

export function asyncCallbacks(): void {
  // @ts-expect-error nothing waits for a log
  client({ ...info, log: async () => undefined });
  // @ts-expect-error nothing waits for what is told of an elicitation
  client({ ...info, elicitationCompleted: async () => undefined });
  const lines: unknown[] = [];
  client({ ...info, log: (level, message) => lines.push(level, message) });
  client({ ...info, log: (...line) => console.error(...line), elicitationCompleted: (id) => lines.push(id) });
}

export async function wrongPrompts(session: ClientSession): Promise<void> {
  // @ts-expect-error the result of a prompt is no text
  const text: string = await session.prompt("x");
  // @ts-expect-error a prompt has a result, and no outcome
  await session.prompt("x").outcome;
  // @ts-expect-error a controller is no signal
  await session.prompt("x", { signal: new AbortController() });
  // @ts-expect-error the option of an earlier release
  await session.prompt("x", { keepUpdates: false });
  // an async function that returns a prompt gives its result
  const result: Promise<PromptResult> = (async () => session.prompt(text))();
  // @ts-expect-error and never the prompt
  const prompt: Promise<Prompt> = (async () => session.prompt(text))();
  await Promise.all([result, prompt]);
}

export async function wrongSessions(connection: ClientConnection): Promise<void> {
  // @ts-expect-error a session needs its working directory
  await connection.newSession({});
  // @ts-expect-error the words of ACP: newSession
  await connection.open({ cwd: "/project" });
  // @ts-expect-error the id comes first
  await connection.loadSession({ cwd: "/project" });
  // @ts-expect-error for a relay alone
  await connection.newSession({ cwd: "/project", sent: () => undefined });
  // @ts-expect-error a method outside the protocol begins with `_`
  await connection.request("session/list");
}

export function wrongAnswers(): void {
  // @ts-expect-error true is no answer: it does not say which option
  client({ ...info, requestPermission: () => true });
  // @ts-expect-error an option without its outcome
  client({ ...info, requestPermission: ({ options }) => options[0] });
  // @ts-expect-error an outcome that does not exist
  client({ ...info, requestPermission: () => ({ outcome: "allowed" }) });
  client({ ...info, requestPermission: ({ options }) => options[0]?.optionId });
  // the official SDK's answer
  client({ ...info, requestPermission: () => ({ outcome: { outcome: "selected", optionId: "yes" } }) });
}

export const wrongPolicies: readonly ClientPolicy[] = [
  // @ts-expect-error a policy decides
  {},
  // @ts-expect-error true is no decision
  { decide: () => true },
  // @ts-expect-error asking has no reason for the agent
  { decide: () => ({ decision: "ask" }) },
  // @ts-expect-error a permission has no path
  { decide: (request) => (request.type === "permission" && request.path ? "allow" : "deny") },
  {
    decide: async (request) =>
      request.type === "read" ? "allow" : { decision: "deny", reason: "read only" },
  },
];

/** A connection is an interface: a test can write its own. */
export const fake: ClientConnection = {
  info: undefined,
  capabilities: {} as ClientConnection["capabilities"],
  authMethods: [],
  edition: "v2",
  _meta: undefined,
  counters: {} as ClientConnection["counters"],
  closed: new Promise(() => undefined),
  newSession: async () => fakeSession,
  loadSession: async () => fakeSession,
  resumeSession: async () => fakeSession,
  forkSession: async () => fakeSession,
  listSessions: async () => ({ sessions: [] }),
  deleteSession: async () => ({}),
  archiveSession: async () => ({}),
  unarchiveSession: async () => ({}),
  sessionStatus: async () => ({ status: "saved" }),
  setSessionTitle: async (_id, title) => ({ title }),
  authStatus: async () => ({ state: "not_required" }),
  onAuthStatus: () => () => undefined,
  listProviders: async () => ({ providers: [] }),
  setProvider: async () => ({}),
  disableProvider: async () => ({}),
  login: async () => ({}),
  logout: async () => ({}),
  mcpServers: [],
  mcp: () => fakeChannel,
  request: async () => undefined,
  notify: async () => undefined,
  sessions: [],
  snapshot: () => ({ parley: "connection-snapshot", version: 1, edition: "v2", state: {} }),
  pending: () => undefined,
  close: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
};

const fakeChannel: McpChannel = {
  request: async () => undefined,
  close: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
};

const fakeSession: ClientSession = {
  sessionId: "s1",
  cwd: "/project",
  roots: ["/project"],
  configOptions: [],
  availableCommands: [],
  state: "idle",
  prompts: [],
  closed: Promise.resolve({ reason: "closed" }),
  _meta: undefined,
  data: undefined,
  onUpdate: () => () => undefined,
  onEntry: () => () => undefined,
  prompt: () => fakePrompt,
  steer: () => fakePrompt,
  cancel: () => undefined,
  cancelToolCall: async () => ({}),
  cancelTerminal: async () => ({}),
  setConfigOption: async () => ({}),
  setMode: async () => ({}),
  setTitle: async (title) => ({ title }),
  close: async () => ({}),
  [Symbol.asyncDispose]: async () => undefined,
};

const result = Promise.resolve<PromptResult>({ stopReason: "end_turn" });
const fakePrompt: Prompt = {
  accepted: Promise.resolve("m1"),
  result,
  // biome-ignore lint/suspicious/noThenProperty: a prompt is awaited for its result
  then: (...given) => result.then(...given),
  catch: (onRejected) => result.catch(onRejected),
  finally: (onFinally) => result.finally(onFinally),
  text: async () => "done",
  cancel: () => undefined,
  async *[Symbol.asyncIterator]() {},
};
