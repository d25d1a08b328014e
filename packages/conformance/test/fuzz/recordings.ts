// Records what the two sides of a session with every feature say, as the material of the fuzzer.

import type { ProtocolVersion } from "@parley/acp/internal";
import { memoryPair } from "@parley/acp/transport";
import { everyFeature } from "@parley/conformance";
import { scriptedAgent, scriptedClient } from "@parley/conformance/testing";

export type Side = "client" | "agent";

export interface Recording {
  /** The messages of each side, in order, as text. Session ids are `{session 1}`, `{session 2}` and so on. */
  readonly said: Readonly<Record<Side, readonly string[]>>;
  /** A result for each method that the side was asked, as JSON. */
  readonly results: Readonly<Record<Side, ReadonlyMap<string, string>>>;
}

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: unknown;
}

export const placeholder = (number: number): string => `{session ${number}}`;

/** A clock that never waits. */
export const noWaiting = { sleep: async () => undefined };

export async function record(version: ProtocolVersion): Promise<Recording> {
  const texts: Record<Side, string[]> = { client: [], agent: [] };
  const asked: Record<Side, Map<unknown, string>> = { client: new Map(), agent: new Map() };
  const results: Record<Side, Map<string, string>> = { client: new Map(), agent: new Map() };
  const sessions: string[] = [];
  const [near, far] = memoryPair();
  const said = (from: Side, text: string): void => {
    texts[from].push(text);
    const { id, method, result } = JSON.parse(text) as Message; // our own peers send valid messages
    const other = from === "client" ? "agent" : "client";
    if (method !== undefined) {
      if (id !== undefined) asked[other].set(id, method);
    } else if (result !== undefined) {
      results[from].set(asked[from].get(id) ?? "", JSON.stringify(result));
      const { sessionId } = (result ?? {}) as { sessionId?: unknown };
      if (typeof sessionId === "string" && !sessions.includes(sessionId)) sessions.push(sessionId);
    }
  };
  const agent = scriptedAgent(
    { ...everyFeature.agent, editions: [`v${version}`] },
    {
      clock: noWaiting,
      connection: { tap: (direction, text) => said(direction === "in" ? "client" : "agent", text) },
    },
  );
  const served = agent.connect(far);
  await scriptedClient({ ...everyFeature.client, editions: [`v${version}`] }).run(near);
  await served.closed;
  const named = (text: string): string =>
    sessions.reduce((now, session, i) => now.replaceAll(session, placeholder(i + 1)), text);
  const renamed = (map: ReadonlyMap<string, string>) =>
    new Map(Array.from(map, ([method, text]) => [method, named(text)]));
  return {
    said: { client: texts.client.map(named), agent: texts.agent.map(named) },
    results: { client: renamed(results.client), agent: renamed(results.agent) },
  };
}
