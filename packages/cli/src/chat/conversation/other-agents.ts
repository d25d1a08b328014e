// The sessions of agents that do not run here: each is started, asked for its list, and ended.

import type { SessionInfo } from "@parley/acp";
import { allSessions } from "@parley/client/internal";
import { withAgent } from "../../agents/with-agent.ts";
import { chooseAgent } from "../../settings/named-agent.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import { agentChoices } from "./agent-choices.ts";

const mostListed = 200;
/** An agent that takes longer to start is left out. */
const patienceMs = 30_000;

/** By agent. */
export type AgentLists = ReadonlyMap<string, readonly SessionInfo[]>;

export interface AskedAgents {
  readonly lists: AgentLists;
  /** Why agents have no list, one sentence each. */
  readonly problems: readonly string[];
}

/** Asks the agents that are installed, without those that run already. */
export async function askOtherAgents(
  running: ReadonlySet<string>,
  warn: (text: string) => void,
): Promise<AskedAgents> {
  const names = agentChoices(warn)
    .filter(({ name, isInstalled }) => isInstalled && !running.has(name))
    .map(({ name }) => name);
  const lists = new Map<string, readonly SessionInfo[]>();
  const problems: string[] = [];
  await Promise.all(
    names.map(async (name) => {
      try {
        const sessions = await sessionsOf(name, warn);
        if (sessions === undefined) problems.push(`${name} does not list its sessions`);
        else lists.set(name, sessions);
      } catch (error) {
        const [first = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
        problems.push(safeLine(`${name} cannot be asked: ${first}`));
      }
    }),
  );
  return { lists, problems };
}

/** Undefined if it has no list, or cannot open a session again. */
async function sessionsOf(
  name: string,
  warn: (text: string) => void,
): Promise<readonly SessionInfo[] | undefined> {
  const chosen = chooseAgent(name, [], undefined, undefined, warn);
  return withAgent(
    chosen,
    async (running) => {
      const { list, load, resume } = running.capabilities;
      if (!list || !(load || resume)) return undefined;
      return (await allSessions(running, { limit: mostListed })).sessions;
    },
    { signal: AbortSignal.timeout(patienceMs) },
  );
}
