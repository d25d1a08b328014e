// Opens a session: checks its folders, sets its options and commands, and starts its MCP servers.

import type { AgentSession, OpenRequest } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import type { SessionStore } from "@parley/acp/store";
import { questionsOf } from "../mcp/elicitation.ts";
import type { McpSources } from "../mcp/sources.ts";
import type { LastingGrants } from "../permissions/lasting-grants.ts";
import { isMode } from "../permissions/modes.ts";
import { projectFolders } from "../skills/project-folders.ts";
import { ownNames } from "./commands.ts";
import { isEffort, modeOf, type OptionDefaults, sessionOptions, setModel } from "./options.ts";
import { CodingSessionState, checkRoots } from "./session-state.ts";

interface OpenOptions {
  readonly store: SessionStore;
  readonly version: string;
  defaults(): OptionDefaults;
  /** Finds more models. */
  readonly discover: (() => Promise<void>) | undefined;
  readonly privateHosts: readonly string[];
  readonly userFolder?: string | undefined;
  readonly undoFolder: string | undefined;
  readonly lastingGrants?: LastingGrants | undefined;
  readonly mcp: McpSources;
}

export async function openSession(
  session: AgentSession,
  origin: OpenRequest["origin"],
  {
    store,
    version,
    defaults,
    discover,
    privateHosts,
    mcp,
    userFolder,
    undoFolder,
    lastingGrants,
  }: OpenOptions,
): Promise<CodingSessionState> {
  // a stored session can still be read when its folder is gone
  if (origin === "new" || origin === "fork") await checkRoots(session.roots);
  const state = new CodingSessionState(
    {
      version,
      changed: () => session.setAvailableCommands(state.commands(modeOf(session))),
      questions: questionsOf(session),
      privateHosts,
      sources: mcp,
    },
    { session, folder: undoFolder },
    lastingGrants,
  );
  const { sessionId } = session;
  // the library restores the stored options after this; commands depend on the mode, and efforts on the model
  const stored = origin === "new" ? undefined : (await store.get(sessionId))?.config;
  const hasModel = (id: unknown) => defaults().models.some(({ facts }) => facts.id === id);
  const discovered = discover?.();
  // its server may not have been found yet
  if (stored?.["model"] !== undefined && !hasModel(stored["model"])) await discovered;
  const { model, mode: chosen, effort } = stored ?? {};
  const initial = { ...defaults(), ...(typeof model === "string" && hasModel(model) && { model }) };
  state.effort = isEffort(effort) ? effort : initial.effort;
  state.hasHistory = origin !== "new";
  session.setConfigOptions(sessionOptions({ ...initial, effort: state.effort }));
  await state.custom.refresh(
    { projectFolders: projectFolders(session.roots), ...optional({ userFolder }) },
    ownNames,
  );
  session.setAvailableCommands(state.commands(isMode(chosen) ? chosen : initial.mode));
  void discovered?.then(() => {
    if (state.isClosed) return;
    const id = session.configOption("model");
    setModel(session, defaults().models, typeof id === "string" ? id : initial.model, state.effort);
  });
  // starts the servers while the user writes the first prompt
  state.mcp.sync(session);
  return state;
}
