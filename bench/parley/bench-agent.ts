// The agent of the benchmarks on agent(): turns and a session store.

import { agent, type OutgoingUpdate, type Turn } from "@parley/acp";
import { workOf } from "../agent-work.ts";
import { usage } from "../usage.ts";

type WireUpdate = ReturnType<ReturnType<typeof workOf>["params"]>["update"];

export function benchAgent(more: Partial<Parameters<typeof agent>[0]> = {}) {
  return agent({
    name: "bench-agent",
    version: "1.0.0",
    promptCapabilities: { image: true },
    extensions: { requests: { "_bench/usage": () => usage() } },
    async prompt(turn) {
      const { params, count } = workOf(turn.prompt);
      for (let i = 0; i < count; i += 1) {
        const sent = say(turn, params(i).update);
        // an await for each would be a fifth of what is measured; a slow client is waited for all the same
        if (i % 64 === 63) await sent;
      }
    },
    ...more,
  });
}

/** Says through the turn what the other entrants send as v1's updates. */
function say(turn: Turn, update: WireUpdate): Promise<void> {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
      return turn.say(update.content);
    case "agent_thought_chunk":
      return turn.think(update.content);
    case "plan":
      return turn.plan(update.entries);
    case "usage_update":
      return turn.usage(update);
    case "available_commands_update": {
      const availableCommands = update.availableCommands.map(({ name, description }) => {
        return { type: "command" as const, name, description };
      });
      return turn.update({ sessionUpdate: "available_commands_update", availableCommands });
    }
    default: {
      const content = update.content.map((item) =>
        item.type === "diff"
          ? { ...item, changes: [{ operation: "modify" as const, path: item.path }] }
          : item,
      );
      // one shape for the announcement and the change of a tool call
      return turn.update({ ...update, sessionUpdate: "tool_call_update", content } as OutgoingUpdate);
    }
  }
}
