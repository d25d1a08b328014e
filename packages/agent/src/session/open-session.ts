// Opens a session: checks its folders, sets its options and commands, and starts its MCP servers.

import type { AgentSession, OpenInfo } from "@parley/acp";
import { optional } from "@parley/acp/internal";
import type { SessionStore } from "@parley/acp/store";
import { questionsOf } from "../mcp/elicitation.ts";
import { isMode } from "../permissions/modes.ts";
import { ownNames } from "./commands.ts";
import { projectFolders } from "./house-rules.ts";
import { modeOf, type OptionDefaults, sessionOptions } from "./options.ts";
import { checkRoots, SessionState } from "./session-state.ts";

interface OpenOptions {
  readonly store: SessionStore;
  readonly version: string;
  readonly defaults: OptionDefaults;
  readonly privateHosts: readonly string[];
  readonly userFolder?: string | undefined;
  readonly undoFolder: string | undefined;
}

export async function openSession(
  session: AgentSession,
  origin: OpenInfo["origin"],
  { store, version, defaults, privateHosts, userFolder, undoFolder }: OpenOptions,
): Promise<SessionState> {
  // a stored session can still be read when its folder is gone
  if (origin === "new" || origin === "fork") await checkRoots(session.roots);
  const state = new SessionState(
    {
      version,
      changed: () => session.setAvailableCommands(state.commands(modeOf(session))),
      questions: questionsOf(session),
      privateHosts,
    },
    { session, folder: undoFolder },
  );
  const { sessionId } = session;
  // the library restores the stored options after this; the commands depend on the mode
  const chosen = origin === "new" ? undefined : (await store.get(sessionId))?.config["mode"];
  state.hasHistory = origin !== "new";
  session.setConfigOptions(sessionOptions(defaults));
  await state.custom.refresh(
    { projectFolders: projectFolders(session.roots), ...optional({ userFolder }) },
    ownNames,
  );
  session.setAvailableCommands(state.commands(isMode(chosen) ? chosen : defaults.mode));
  // starts the servers while the user writes the first prompt
  state.mcp.sync(session);
  return state;
}
