// Scenarios for state that a connection holds between messages, and that no other scenario has.

import type { AgentScenario, AgentStep, ClientScenario, ClientStep } from "@parley/conformance/testing";

export interface Scenario {
  readonly agent: AgentScenario;
  readonly client: ClientScenario;
}

function scenario(
  steps: readonly AgentStep[],
  does: readonly ClientStep[],
  more: Pick<ClientScenario, "permissions"> = {},
): Scenario {
  return {
    agent: { parley: "agent-scenario", version: 1, otherwise: steps },
    client: { parley: "client-scenario", version: 1, steps: [{ open: "/project" }, ...does], ...more },
  };
}

/** A chunk in wire form; version 1 may leave the id of its message out. */
function chunk(sessionUpdate: string, text: string): AgentStep {
  return { rawUpdate: { sessionUpdate, content: { type: "text", text } } };
}

const state = (name: string): AgentStep => ({
  rawUpdate: {
    sessionUpdate: "state_update",
    state: name,
    ...(name === "idle" && { stopReason: "end_turn" }),
  },
});

/** For both editions. */
export const moreScenarios: Readonly<Record<string, Scenario>> = {
  "several prompts at once": scenario(
    [{ say: "one " }, { say: "answer to {{prompt}}" }],
    [
      { prompt: "first", wait: false },
      { prompt: "second", wait: false },
      { prompt: "third", wait: false },
      { settle: true },
      { prompt: "fourth" },
    ],
  ),
  "prompts withdrawn and cancelled": scenario(
    [{ ask: "May I?", on: { allowed: [{ say: "thanks" }], cancelled: [{ say: "no answer" }] } }],
    [
      { prompt: "asks", cancel: "at-permission" },
      { prompt: "runs", wait: false },
      { prompt: "is withdrawn", cancel: "at-once", wait: false },
      { settle: true },
      { prompt: "asks again" },
    ],
  ),
  "messages without ids": scenario(
    [
      chunk("agent_message_chunk", "a "),
      chunk("agent_message_chunk", "message "),
      chunk("agent_thought_chunk", "a "),
      chunk("agent_thought_chunk", "thought"),
      chunk("agent_message_chunk", "and "),
      chunk("agent_message_chunk", "another"),
    ],
    [{ prompt: "hello" }, { prompt: "again" }],
  ),
  "the prompt echoed in pieces": scenario(
    [
      chunk("user_message_chunk", "hello "),
      chunk("user_message_chunk", "to "),
      chunk("user_message_chunk", "you"),
      chunk("agent_message_chunk", "hello"),
    ],
    [{ prompt: "hello to you" }],
  ),
  "an echo that is none": scenario(
    [
      chunk("user_message_chunk", "hello "),
      chunk("user_message_chunk", "to "),
      chunk("user_message_chunk", "others"),
      chunk("agent_message_chunk", "hello"),
    ],
    [{ prompt: "hello to you" }],
  ),
  "states said twice": scenario(
    [{ say: "text" }, { later: [state("idle"), state("running"), state("idle"), state("idle")] }],
    [{ prompt: "one" }, { prompt: "two" }],
  ),
};
