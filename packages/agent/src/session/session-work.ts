// What the agent keeps of one session while it lives: the model's transcript, remembered answers, what was read, and
// what it cost. The transcript is rebuilt from the history when the session comes back.

import { stat } from "node:fs/promises";
import type { AgentSession, AvailableCommand, Usage } from "@parley/acp";
import { McpServers, type ServersSetting } from "../mcp/servers.ts";
import { costOf } from "../model/cost.ts";
import type { ModelFacts, TokenUsage } from "../model/model.ts";
import { Grants } from "../permissions/grants.ts";
import type { Mode } from "../permissions/modes.ts";
import type { Workspace, WorkspaceOptions } from "../tools/workspace.ts";
import { commandList } from "./commands.ts";
import { choose, modeOf } from "./options.ts";
import { Transcript } from "./transcript.ts";

export class SessionWork {
  readonly transcript = new Transcript();
  readonly grants = new Grants();
  readonly mcp: McpServers;
  /** US dollars since the session began, where the model's price is known. */
  cost: number | undefined;
  /** Tokens that the last request took, as its provider counted them, and how many messages it had. */
  counted: { readonly tokens: number; readonly messages: number } | undefined;
  /** Tokens of the turn that runs. */
  turnTokens: Usage | undefined;
  isTitled = false;
  /** There is a history that the transcript does not have yet. */
  hasHistory = false;
  /** A turn that only plans, whatever the session's mode is. */
  turnMode: Mode | undefined;
  #asking: Promise<unknown> = Promise.resolve();
  #workspace: { readonly identity: string; readonly opened: Workspace } | undefined;

  constructor(setting: ServersSetting) {
    this.mcp = new McpServers(setting);
  }

  /** What tools work with. Opened when it is needed first, and again when its roots are others. */
  async workspaceOf(
    { cwd, roots }: AgentSession,
    open: (options: WorkspaceOptions) => Workspace,
  ): Promise<Workspace> {
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
    const current = this.#workspace;
    this.#workspace = undefined;
    await Promise.all([current?.opened.close(), this.mcp.close()]);
  }

  /** Ours, and the prompts of the session's MCP servers. */
  commands(mode: Mode): AvailableCommand[] {
    return [...commandList(mode), ...this.mcp.commands];
  }

  /** The mode, and the commands that make sense in it. Every client is told. */
  chooseMode(session: AgentSession, mode: Mode): void {
    this.turnMode = undefined;
    choose(session, "mode", mode);
    session.setCommands(this.commands(mode));
  }

  modeNow(session: AgentSession): Mode {
    return this.turnMode ?? modeOf(session);
  }

  /** One question at a time: many clients have one place for it. */
  alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#asking.then(work);
    this.#asking = result.catch(() => undefined);
    return result;
  }

  beginTurn(mode: Mode | undefined): void {
    this.turnMode = mode;
    this.turnTokens = undefined;
  }

  spend(usage: TokenUsage, { price }: ModelFacts): void {
    const { totalTokens = 0, inputTokens = 0, outputTokens = 0 } = this.turnTokens ?? {};
    this.turnTokens = {
      totalTokens: totalTokens + usage.input + usage.output,
      inputTokens: inputTokens + usage.input,
      outputTokens: outputTokens + usage.output,
    };
    const cost = costOf(price, usage);
    if (cost !== undefined) this.cost = (this.cost ?? 0) + cost;
  }
}

/** A directory that was removed and made again has the same path and is another one. */
async function identityOf(path: string): Promise<string> {
  const { dev, ino } = await stat(path).catch(() => ({ dev: 0, ino: 0 }));
  return `${dev} ${ino} ${path}`;
}

/** The work of a session; `open` has put it there. */
export function workOf(session: AgentSession): SessionWork {
  if (session.data instanceof SessionWork) return session.data;
  throw new Error(`session ${session.sessionId} was not opened by this agent`);
}
