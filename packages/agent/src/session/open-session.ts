// Opens a session: checks its folders, sets its options and commands, and starts its MCP servers.

import type { AgentSession, OpenInfo } from "@parley/acp";
import type { SessionStore } from "@parley/acp/store";
import { questionsOf } from "../mcp/elicitation.ts";
import type { McpSources } from "../mcp/sources.ts";
import { isMode } from "../permissions/modes.ts";
import { modeOf, type OptionDefaults, sessionOptions } from "./options.ts";
import { checkRoots, SessionState } from "./session-state.ts";

interface OpenOptions {
  readonly store: SessionStore;
  readonly version: string;
  readonly defaults: OptionDefaults;
  readonly privateHosts: readonly string[];
  readonly mcp: McpSources;
}

export async function openSession(
  session: AgentSession,
  origin: OpenInfo["origin"],
  { store, version, defaults, privateHosts, mcp }: OpenOptions,
): Promise<SessionState> {
  // a stored session can still be read when its folder is gone
  if (origin === "new" || origin === "fork") await checkRoots(session.roots);
  const state = new SessionState({
    version,
    changed: () => session.setAvailableCommands(state.commands(modeOf(session))),
    questions: questionsOf(session),
    privateHosts,
    sources: mcp,
  });
  const { sessionId } = session;
  // the library restores the stored options after this; the commands depend on the mode
  const chosen = origin === "new" ? undefined : (await store.get(sessionId))?.config["mode"];
  state.hasHistory = origin !== "new";
  session.setConfigOptions(sessionOptions(defaults));
  session.setAvailableCommands(state.commands(isMode(chosen) ? chosen : defaults.mode));
  // starts the servers while the user writes the first prompt
  state.mcp.sync(session);
  return state;
}
