// Plays a scripted client against a scripted agent, and puts its connection down after some of the messages.

import { memoryPair } from "@parley/acp/transport";
import {
  type AgentScenario,
  type ClientRecord,
  type ClientScenario,
  scriptedAgent,
} from "@parley/conformance/testing";
import { StableIds } from "../../src/testing/client-record.ts";
import { scriptedClientBy } from "../../src/testing/scripted-client.ts";
import { RestoredApp } from "./restored-app.ts";

export interface Played {
  /** What the app has seen. */
  readonly record: ClientRecord;
  /** What passed on the wire, in order. */
  readonly wire: unknown;
  /** What the agent was asked and told. */
  readonly events: unknown;
  readonly messages: number;
  readonly restored: number;
}

export async function play(
  { agent, client }: { readonly agent: AgentScenario; readonly client: ClientScenario },
  cutsAfter: (count: number) => boolean,
): Promise<Played> {
  const [near, far] = memoryPair();
  const scripted = scriptedAgent(agent);
  const served = scripted.connect(far);
  let app: RestoredApp | undefined;
  const player = scriptedClientBy((definition, transport) => {
    app = new RestoredApp(definition, transport, cutsAfter);
    return app.connect();
  }, client);
  const record = await player.run(near);
  await served.close();
  const passed = app?.passed ?? [];
  const stable = (value: unknown): unknown => {
    const names = new Map<string, string>();
    const text = JSON.stringify(new StableIds().stable(value));
    // version 1 has ids of terminals in the custom data of tool calls
    const named = text.replaceAll(/(?<="terminal_id":")[^"]+/g, (id) => {
      const name = names.get(id) ?? `terminal-of-${names.size + 1}`;
      names.set(id, name);
      return name;
    });
    return JSON.parse(named);
  };
  return {
    record,
    wire: stable(passed),
    events: stable(scripted.events),
    messages: passed.length,
    restored: app?.restored ?? 0,
  };
}
