// Connects a client written with client() to an agent's process and records what it receives.

import {
  type ClientConnection,
  type ClientSession,
  client,
  type Editions,
  httpTransport,
  type PromptResult,
  RequestError,
  type SessionOptions,
  type SessionUpdate,
  webSocketTransport,
} from "@parley/acp";
import type { ExitStatus } from "@parley/acp/model";
import { type LocalFiles, localFiles, localTerminals, spawnTransport } from "@parley/acp/node";
import { startServer } from "./server-process.ts";
import { meta } from "./v1-samples.ts";
import { EventLog } from "./wire-script.ts";

export interface AppClient {
  readonly agent: ClientConnection;
  /** Opens a session, after a login where the agent wants one. */
  open(place: SessionOptions): Promise<ClientSession>;
  /** Permission asks, elicitations, logins, and the notifications of extensions. */
  readonly log: EventLog;
  readonly exited: Promise<ExitStatus>;
  complaints(): string;
  close(): Promise<ExitStatus>;
}

/** How the agent's program is reached: it is one end of a pipe, or a server that prints its address. */
export type Way = "stdio" | "HTTP" | "WebSocket";

export async function connectApp(
  command: readonly [string, string[]],
  editions: Editions = ["v2", "v1"],
  way: Way = "stdio",
): Promise<AppClient> {
  const log = new EventLog();
  const warnings: string[] = [];
  const opened: LocalFiles[] = [];
  const { transport, process } =
    way === "stdio" ? localTransport(command) : await remoteTransport(command, way);
  const agent = await client({
    name: "app-client",
    version: "1.0.0",
    _meta: meta,
    editions,
    unstable: ["fork"],
    requestPermission(ask, { signal }) {
      log.add("permission", ask);
      if (ask.title === "hang") {
        void agent.notify("_parley.test/asked", {});
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            log.add("aborted", ask.title);
            // late, and nobody waits for it any more
            resolve(ask.options[0]?.optionId);
          });
        });
      }
      return ask.title === "never mind" ? undefined : ask.options[0]?.optionId;
    },
    elicit(ask) {
      log.add("elicit", ask);
      if (ask.mode === "url") return { action: "decline" };
      return { action: "accept", content: { name: "ann", age: 3, happy: false, tags: ["a"] } };
    },
    files: (session) => {
      const files = localFiles({ roots: [session.cwd] });
      opened.push(files);
      return files;
    },
    terminals: (session) => localTerminals({ cwd: session.cwd }),
    auth: { terminal: true },
    extensions: {
      requests: { "_parley.test/echo": (params) => params },
      notifications: { "_parley.test/note": (params) => log.add("_parley.test/note", params) },
    },
    log: (level, message, details) => {
      if (level === "warn" || level === "error") warnings.push(`${message} ${JSON.stringify(details)}`);
    },
  }).connect(transport);
  return {
    agent,
    log,
    async open(place) {
      try {
        return await agent.newSession(place);
      } catch (error) {
        if (!(error instanceof RequestError) || error.kind !== "auth_required") throw error;
        log.add("authenticate", agent.authMethods);
        await agent.login(agent.authMethods.find(({ type }) => type === "agent")?.methodId ?? "");
        return agent.newSession(place);
      }
    },
    exited: process.exited,
    complaints: () => warnings.join("\n") + process.stderrTail(),
    close: async () => {
      await agent.close();
      await Promise.all(opened.map((files) => files.close()));
      if ("end" in process) process.end();
      return process.exited;
    },
  };
}

function localTransport(command: readonly [string, string[]]) {
  const transport = spawnTransport(...command);
  return { transport, process: transport };
}

async function remoteTransport(command: readonly [string, string[]], way: "HTTP" | "WebSocket") {
  const server = await startServer(command);
  const transport =
    way === "HTTP"
      ? httpTransport(server.url)
      : webSocketTransport((protocols) => new WebSocket(server.url.replace("http", "ws"), protocols));
  return { transport, process: server };
}

export interface FinishedTurn {
  readonly messageId: string;
  readonly outcome: PromptResult;
  /** Everything between the prompt and its end, as `onUpdate` saw it. */
  readonly updates: readonly SessionUpdate[];
  /** The same as the prompt's iterator saw it. */
  readonly iterated: readonly SessionUpdate[];
  /** What the agent says that it learnt. */
  readonly learnt: unknown;
}

export async function prompted(
  session: ClientSession,
  content: Parameters<ClientSession["prompt"]>[0],
): Promise<FinishedTurn> {
  const updates: SessionUpdate[] = [];
  // what came before is not of this turn
  session.onUpdate(() => undefined)();
  const stop = session.onUpdate((update) => updates.push(update));
  const prompt = session.prompt(content);
  const iterated: SessionUpdate[] = [];
  const iteration = (async () => {
    for await (const update of prompt) iterated.push(update);
  })();
  const outcome = await prompt.result;
  await iteration;
  stop();
  return { messageId: await prompt.accepted, outcome, updates, iterated, learnt: learntFrom(updates) };
}

function learntFrom(updates: readonly SessionUpdate[]): unknown {
  for (const update of updates.toReversed()) {
    if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") {
      const text = textFrom(update.content.text);
      if (text !== undefined) return JSON.parse(text);
    }
    if (update.sessionUpdate === "state_update") {
      const { answers } = (update._meta ?? {}) as { answers?: unknown };
      if (answers != null) return answers;
    }
  }
  return undefined;
}

function textFrom(text: string): string | undefined {
  return text.startsWith("learnt: ") ? text.slice("learnt: ".length) : undefined;
}
