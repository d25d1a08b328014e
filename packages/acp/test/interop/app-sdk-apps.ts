// The test agent of either version on the official SDK: it requires a login, and the text of a prompt names what it does.

import { type AnyMessage, RequestError } from "@agentclientprotocol/sdk";
import { register, senderOf } from "./sdk-app.ts";
import { type V1ClientSender, v1Agent, v1UnstableAgent } from "./v1-agent.ts";
import * as v1 from "./v1-samples.ts";
import { type V2ClientSender, v2Agent, v2UnstableAgent } from "./v2-agent.ts";
import * as v2 from "./v2-samples.ts";
import { outcomeOf } from "./wire-script.ts";

const { sessionId } = v1;
let isLoggedIn = process.argv.includes("logged-in");
const refuse = (code: number, message: string, data?: unknown) => new RequestError(code, message, data);

type Handlers = Record<string, (params: never, call: { readonly signal: AbortSignal }) => unknown>;

function textOf(params: unknown): string {
  const { prompt } = params as { prompt: { type: string; text?: string }[] };
  return prompt.length === 1 ? (prompt[0]?.text ?? "") : "";
}

/** Refuses sessions until somebody has logged in. */
function guarded(requests: Handlers, login: string, logout: string): Handlers {
  const needsLogin = ["session/new", "session/load", "session/resume", "session/fork", "session/list"];
  const guardedOnes = needsLogin.flatMap((method): [string, Handlers[string]][] => {
    const handler = requests[method];
    if (handler === undefined) return [];
    return [
      [
        method,
        (params, call) => {
          if (!isLoggedIn) throw refuse(-32000, "Authentication required");
          return handler(params, call);
        },
      ],
    ];
  });
  const loggedIn = (is: boolean) => () => {
    isLoggedIn = is;
    return {};
  };
  return {
    ...requests,
    ...Object.fromEntries(guardedOnes),
    [login]: loggedIn(true),
    [logout]: loggedIn(false),
  };
}

/** Files and terminals that are really there. */
async function useMachine(client: V1ClientSender, cwd: string): Promise<unknown> {
  const path = `${cwd}/deep/b.txt`;
  await client.request("fs/write_text_file", { sessionId, path, content: "one\ntwo\nthree\n" });
  const read = await client.request("fs/read_text_file", { sessionId, path, line: 2, limit: 1 });
  const missing = await outcomeOf(client.request("fs/read_text_file", { sessionId, path: `${cwd}/missing` }));
  const { terminalId } = await client.request("terminal/create", {
    sessionId,
    command: process.execPath,
    args: ["-e", "console.log(process.env.WHO)"],
    env: [{ name: "WHO", value: "agent" }],
  });
  const which = { sessionId, terminalId };
  const exit = await client.request("terminal/wait_for_exit", which);
  const output = await client.request("terminal/output", which);
  await client.request("terminal/kill", which);
  await client.request("terminal/release", which);
  return { read, missing, exit, output, gone: await outcomeOf(client.request("terminal/output", which)) };
}

/** What the SDK passes around for a connection. */
interface Streams {
  readonly readable: ReadableStream<AnyMessage>;
  readonly writable: WritableStream<AnyMessage>;
}

/** As the SDK's own server wants it; it has an option for `connect` that is not in the types. */
export type Connector = (streams: Streams, options?: object) => { readonly closed: Promise<void> };

async function v1Connector(): Promise<Connector> {
  const sdk = await import("@agentclientprotocol/sdk/unstable");
  return (streams, options) => connectV1(sdk, streams, options);
}

function connectV1(
  sdk: typeof import("@agentclientprotocol/sdk/unstable"),
  streams: Streams,
  options: object | undefined,
): ReturnType<Connector> {
  const wire = { peer: (): V1ClientSender => sender, refuse };
  const script = v1Agent(wire);
  const unstable = v1UnstableAgent(wire);
  const requests = { ...unstable.requests, ...script.requests } as Handlers;
  const turns = new Set(["every update", "ask twice", "ask and give up", "until cancelled", "elicit"]);
  turns.add("use extensions").add("bad updates").add("20 updates");
  let cwd = "";
  const withText: Handlers = {
    ...requests,
    initialize: () => ({
      ...v1.initializeResponse,
      agentCapabilities: {
        ...v1.initializeResponse.agentCapabilities,
        sessionCapabilities: {
          ...v1.initializeResponse.agentCapabilities?.sessionCapabilities,
          fork: {},
        },
      },
    }),
    "session/new": (params: { cwd: string }) => {
      cwd = params.cwd;
      return { ...v1.newSessionResponse, _meta: { saw: params } };
    },
    "session/prompt": async (params, call) => {
      const text = textOf(params);
      if (text === "machine") {
        await learnt(await useMachine(sender, cwd));
        return { stopReason: "end_turn" };
      }
      const saw: object = params;
      const named = turns.has(text) ? { ...saw, _meta: { turn: text } } : saw;
      const result = (await requests["session/prompt"]?.(named as never, call)) as {
        _meta?: { answers?: unknown };
      };
      if (result._meta?.answers !== undefined) await learnt(result._meta.answers);
      return result;
    },
  };
  const learnt = (answers: unknown) =>
    sender.notify("session/update", {
      sessionId,
      update: {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: `learnt: ${JSON.stringify(answers)}` },
      },
    });
  const app = sdk.agent({ name: "interop-agent" });
  register(app, {
    requests: guarded(withText, "authenticate", "logout"),
    notifications: { ...unstable.notifications, ...script.notifications },
  });
  const connection = Reflect.apply(app.connect, app, [streams, options]) as ReturnType<typeof app.connect>;
  const sender = senderOf<V1ClientSender>(connection.client);
  return connection;
}

async function v2Connector(): Promise<Connector> {
  const sdk = await import("@agentclientprotocol/sdk/experimental/v2/unstable");
  return (streams, options) => connectV2(sdk, streams, options);
}

function connectV2(
  sdk: typeof import("@agentclientprotocol/sdk/experimental/v2/unstable"),
  streams: Streams,
  options: object | undefined,
): ReturnType<Connector> {
  const wire = { peer: (): V2ClientSender => sender, refuse };
  const script = v2Agent(wire);
  const unstable = v2UnstableAgent(wire);
  const requests = { ...unstable.requests, ...script.requests } as Handlers;
  const turns = new Set(["every update", "ask twice", "ask and give up", "until cancelled", "elicit"]);
  turns.add("use extensions").add("every future update").add("held");
  const withText: Handlers = {
    ...requests,
    initialize: () => ({
      ...v2.initializeResponse,
      capabilities: {
        ...v2.initializeResponse.capabilities,
        session: { ...v2.initializeResponse.capabilities?.session, fork: {} },
      },
    }),
    "session/prompt": (params, call) => {
      const text = textOf(params);
      const saw: object = params;
      const named = turns.has(text) ? { ...saw, _meta: { turn: text } } : saw;
      return requests["session/prompt"]?.(named as never, call);
    },
  };
  const app = sdk.agent({ name: "interop-agent" });
  register(app, {
    requests: guarded(withText, "auth/login", "auth/logout"),
    notifications: { ...unstable.notifications, ...script.notifications },
  });
  const connection = Reflect.apply(app.connect, app, [streams, options]) as ReturnType<typeof app.connect>;
  const sender = senderOf<V2ClientSender>(connection.client);
  return connection;
}

export function connectorOf(version: string | undefined): Promise<Connector> {
  return version === "v2" ? v2Connector() : v1Connector();
}
