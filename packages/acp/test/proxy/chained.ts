// A client by hand, a chain, and an agent by hand at its end.

import type { Log } from "../../src/jsonrpc/connection-options.ts";
import type { Transport } from "../../src/jsonrpc/transport.ts";
import { type ChainPart, type ConductorOptions, conductor, type OnExit, proxy } from "../../src/proxy.ts";
import { memoryPair } from "../../src/transport/memory.ts";
import { type RawLinePeer, rawLinePeer, type Wire } from "../support/raw-line-peer.ts";

export const empty = (n: number) =>
  Array.from({ length: n }, (_, i) => proxy({ name: `p${i}`, version: "1" }));

/** A component whose far end is a peer by hand; each start makes another one. */
export function byHand(serve?: (message: Wire, peer: RawLinePeer) => void) {
  const peers: RawLinePeer[] = [];
  let next = Promise.withResolvers<RawLinePeer>();
  const start = (): Transport => {
    const [near, far] = memoryPair();
    const peer = rawLinePeer(far, serve);
    peers.push(peer);
    next.resolve(peer);
    next = Promise.withResolvers();
    return near;
  };
  return {
    start,
    peers,
    /** The one of this number, from 0, when it has been started. */
    async peer(at: number): Promise<RawLinePeer> {
      while (peers.length <= at) await next.promise;
      return peers[at] as RawLinePeer;
    },
  };
}

/** What was logged at a level above debug. */
export interface Logged {
  readonly log: Log;
  readonly lines: string[];
}

export function logged(): Logged {
  const lines: string[] = [];
  return { lines, log: (level, message) => void (level !== "debug" && lines.push(`${level}: ${message}`)) };
}

/** A client and a chain of these parts with nothing added at its end. */
export function served(parts: readonly ChainPart[], options?: ConductorOptions) {
  const [clientEnd, chainEnd] = memoryPair();
  const chain = conductor(parts, options);
  const connection = chain.connect(chainEnd);
  return { client: rawLinePeer(clientEnd), chain, connection };
}

interface ChainedOptions {
  readonly serve?: (message: Wire, peer: RawLinePeer) => void;
  readonly options?: ConductorOptions;
  /** What happens when the agent goes away. */
  readonly onExit?: OnExit;
}

/** A client, a chain of these parts, and an agent by hand at its end. */
export function chained(
  parts: readonly ChainPart[],
  { serve, options, onExit = "fail" }: ChainedOptions = {},
) {
  const agents = byHand(serve);
  const agent = { name: "the agent", start: agents.start, onExit };
  return { ...served([...parts, agent], options), agent: agents.peer(0), agents: agents.peers };
}

export const introductions = {
  1: { protocolVersion: 1, agentCapabilities: {} },
  2: { protocolVersion: 2, capabilities: { session: {} }, info: { name: "agent", version: "1" } },
} as const;

/** The same after the handshake, with the session "s". */
export async function opened(
  parts: readonly ChainPart[],
  { version = 1, ...options }: ChainedOptions & { version?: 1 | 2 } = {},
) {
  const made = chained(parts, options);
  const { client } = made;
  const agent = await handshake(client, made.agent, version);
  return { ...made, agent };
}

export async function handshake(
  client: RawLinePeer,
  starting: Promise<RawLinePeer>,
  version: 1 | 2 = 1,
): Promise<RawLinePeer> {
  client.request("hello", "initialize", hello[version]);
  const agent = await starting;
  agent.answer(await agent.asked("initialize"), introductions[version]);
  await client.answered("hello");
  await newSession(client, agent, "s");
  return agent;
}

export const hello = {
  1: { protocolVersion: 1, clientCapabilities: {} },
  2: { protocolVersion: 2, capabilities: {}, info: { name: "client", version: "1" } },
} as const;

export async function newSession(client: RawLinePeer, agent: RawLinePeer, sessionId: string): Promise<void> {
  client.request(`new ${sessionId}`, "session/new", { cwd: "/", mcpServers: [] });
  agent.answer(await agent.asked("session/new"), { sessionId });
  await client.answered(`new ${sessionId}`);
}

export const text = (words: string) => ({ type: "text", text: words });

export const said = (sessionId: string, words: string) => ({
  sessionId,
  update: { sessionUpdate: "agent_message_chunk", content: text(words) },
});

export const prompt = (sessionId: string, words: string) => ({ sessionId, prompt: [text(words)] });

/** What a message is about, for comparing orders. */
export function brief({ method, params, id, result, error }: Wire): string {
  if (method === undefined)
    return `${String(id)}: ${error === undefined ? JSON.stringify(result) : error.message}`;
  const { update, prompt: blocks } = (params ?? {}) as {
    update?: { content?: { text?: string } };
    prompt?: { text?: string }[];
  };
  const words = update?.content?.text ?? blocks?.map((block) => block.text).join("");
  return words === undefined ? method : `${method} ${words}`;
}
