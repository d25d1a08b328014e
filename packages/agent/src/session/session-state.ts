// Holds the state of one open session: transcript, remembered permissions, MCP servers, workspace and cost.

import { stat } from "node:fs/promises";
import { type AgentSession, RequestError, type Turn } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import type { AvailableCommand, Usage } from "@parley/acp/model";
import { McpServers, type McpServersOptions } from "../mcp/servers.ts";
import type { Effort, ModelFacts, ModelRequest, TokenUsage } from "../model/model.ts";
import { costOf } from "../model/tokens.ts";
import { Grants } from "../permissions/decide-by-mode.ts";
import type { LastingGrants } from "../permissions/lasting-grants.ts";
import type { Mode } from "../permissions/modes.ts";
import { CustomCommands } from "../skills/custom-commands.ts";
import type { ToolWorkspace, WorkspaceOptions } from "../tools/workspace.ts";
import { commandList } from "./commands.ts";
import { GitState } from "./git-state.ts";
import { choose, modeOf } from "./options.ts";
import { Transcript } from "./transcript.ts";
import { SessionUndo, type SessionUndoOptions } from "./undo.ts";

/** A turn of this agent: `turn.session.data` is the state of its session. */
export type CodingTurn = Turn<CodingSessionState>;

/** What every request begins with. A compaction sends the same, so that the provider's cache has it. */
export type Prefix = Pick<ModelRequest, "system" | "tools">;

export class CodingSessionState {
  readonly transcript = new Transcript();
  readonly grants = new Grants();
  readonly mcp: McpServers;
  readonly custom = new CustomCommands();
  readonly git = new GitState();
  readonly undo: SessionUndo;
  /** US dollars so far, if the model's price is known. */
  cost: number | undefined;
  /** Tokens of the last request as its provider counted them, and how many messages it had. */
  counted: { readonly tokens: number; readonly messages: number } | undefined;
  /** Tokens of the current turn. */
  turnTokens: Usage | undefined;
  /** What every request begins with. It stays until `renew`, or until `key` changes: the roots or the family of models. */
  prefix: (Prefix & { readonly key: string }) | undefined;
  /** The situation that the model was told last. */
  situation: string | undefined;
  /** Folders whose own rules the model was told of, or that have none. */
  readonly knownFolders = new Set<string>();
  /** The user was told that the tools of MCP servers are no longer those that the model knows. */
  hasToldOfTools = false;
  /** The model could not summarise the conversation in this turn: do not ask it before every request. */
  hasFailedToCompact = false;
  isTitled = false;
  /** Of the first prompt in the history, which names a session whose first turn was killed. */
  firstText: string | undefined;
  isClosed = false;
  /** The effort that the user wants, also while the model has none. */
  effort: Effort = "medium";
  /** The transcript still has to be rebuilt from the history. */
  hasHistory = false;
  /** Overrides the session's mode for the current turn (`/plan`). */
  turnMode: Mode | undefined;
  #lastTask: Promise<unknown> = Promise.resolve();
  #workspace: { readonly identity: string; readonly opened: ToolWorkspace } | undefined;

  readonly #lasting: LastingGrants | undefined;

  constructor(options: McpServersOptions, undo: SessionUndoOptions, lasting?: LastingGrants) {
    this.#lasting = lasting;
    this.mcp = new McpServers(options);
    this.undo = new SessionUndo(undo);
  }

  /** The user's answers that count for more than this session. Undefined while the client remembers answers. */
  get lastingGrants(): LastingGrants | undefined {
    return this.grants.isKept ? this.#lasting : undefined;
  }

  /** The workspace of the tools. Opened on first use, and again when the roots change. */
  async workspaceOf(
    { cwd, roots }: AgentSession,
    open: (options: WorkspaceOptions) => ToolWorkspace,
  ): Promise<ToolWorkspace> {
    const current = this.#workspace;
    const identity = (await Promise.all(roots.map(identityOf))).join("\n");
    if (current?.identity === identity) return current.opened;
    this.#workspace = undefined;
    await current?.opened.close();
    const opened = open({ cwd, additionalDirectories: roots.slice(1) });
    this.#workspace = { identity, opened };
    return opened;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const current = this.#workspace;
    this.#workspace = undefined;
    await Promise.all([current?.opened.close(), this.mcp.close(), this.undo.close()]);
  }

  /** Slash commands: our own, those of the project and the user, and the prompts of the MCP servers. */
  commands(mode: Mode): AvailableCommand[] {
    const own = commandList(mode, { hasUndo: this.undo.isOffered });
    return [...own, ...this.custom.list, ...this.mcp.commands];
  }

  /** Sets the mode and its commands, and notifies every client. */
  chooseMode(session: AgentSession, mode: Mode): void {
    this.turnMode = undefined;
    choose(session, "mode", mode);
    session.setAvailableCommands(this.commands(mode));
  }

  /** Call it when the conversation begins anew: nothing of it is in a provider's cache. */
  renew(): void {
    this.counted = undefined;
    this.prefix = undefined;
    this.hasToldOfTools = false;
    this.forgetNotes();
  }

  /** Call it when notes may have been taken from the conversation. */
  forgetNotes(): void {
    this.situation = undefined;
    this.knownFolders.clear();
  }

  modeNow(session: AgentSession): Mode {
    return this.turnMode ?? modeOf(session);
  }

  /** Runs one task after another: many clients can show only one question. */
  oneAtATime<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#lastTask.then(task);
    this.#lastTask = result.catch(() => undefined);
    return result;
  }

  spend(usage: TokenUsage, { price }: ModelFacts): void {
    const before = this.turnTokens ?? { totalTokens: 0, inputTokens: 0, outputTokens: 0 };
    this.turnTokens = {
      totalTokens: before.totalTokens + usage.input + usage.output,
      inputTokens: before.inputTokens + usage.input,
      outputTokens: before.outputTokens + usage.output,
      ...optional({
        thoughtTokens: sum(before.thoughtTokens, usage.thinking),
        cachedReadTokens: sum(before.cachedReadTokens, usage.cachedInput),
        cachedWriteTokens: sum(before.cachedWriteTokens, usage.cacheWrite),
      }),
    };
    const cost = costOf(price, usage);
    if (cost !== undefined) this.cost = (this.cost ?? 0) + cost;
  }
}

/** Undefined when no request reported it. */
function sum(before: number | undefined, more: number | undefined): number | undefined {
  return before === undefined && more === undefined ? undefined : (before ?? 0) + (more ?? 0);
}

/** Distinguishes a directory from one created later at the same path. */
async function identityOf(path: string): Promise<string> {
  const { dev, ino } = await stat(path).catch(() => ({ dev: 0, ino: 0 }));
  return `${dev} ${ino} ${path}`;
}

/** Throws -32602 for the first root that is not a directory. */
export async function checkRoots(roots: readonly string[]): Promise<void> {
  for (const [index, root] of roots.entries()) {
    const facts = await stat(root).catch((error: NodeJS.ErrnoException) => error.code ?? "");
    if (typeof facts !== "string" && facts.isDirectory()) continue;
    // an unreadable directory may become readable later
    if (typeof facts === "string" && facts !== "ENOENT" && facts !== "ENOTDIR") continue;
    const is = facts === "ENOENT" ? "does not exist" : "is not a directory";
    const what = index === 0 ? "working directory" : "additional directory";
    const message = `the ${what} ${JSON.stringify(root)} ${is}: choose an existing directory`;
    const path = index === 0 ? "/cwd" : `/additionalDirectories/${index - 1}`;
    throw new RequestError("invalid_params", message, { data: { reason: "not_a_directory", path } });
  }
}
