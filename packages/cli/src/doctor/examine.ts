// The checks of `parley doctor`: Node, the folders, the config file, the model of our own agent, and each installed agent.

import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { stderrReason } from "@parley/acp/node";
import { ModelError } from "@parley/agent";
import { credentialsFile, openAccount } from "@parley/agent/models";
import { LaunchError } from "@parley/client";
import { editionText } from "@parley/client/host";
import { type AgentEntry, findAgentProgram } from "@parley/client/launch";
import { toolsText, toolsTodo } from "../agents/check-tools.ts";
import { probeAgent } from "../agents/probe-agent.ts";
import { CommandError } from "../command/command.ts";
import { type Config, checkedConfig, configText } from "../settings/config-file.ts";
import { configPath, credentialsPath, dataFolder, stateFolder } from "../settings/data-folder.ts";
import { safeLine } from "../terminal/sanitise.ts";

export interface Finding {
  /** The name of the check: `node`, `config`, `agent claude`. */
  readonly what: string;
  /** `missing` is optional and not a problem. */
  readonly state: "ok" | "missing" | "warning" | "broken";
  readonly detail: string;
  /** How to fix it. */
  readonly todo?: string;
}

export function examineNode(): Finding {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const isNew = major > 22 || (major === 22 && minor >= 18);
  const detail = `${node}, ${process.execPath}`;
  return isNew
    ? { what: "node", state: "ok", detail }
    : { what: "node", state: "broken", detail, todo: "install Node 22.18 or newer" };
}

/** Folders are created on demand, so an existing parent must be writable. */
export function examineFolders(): readonly Finding[] {
  const folders = { data: dataFolder(), state: stateFolder(), config: dirname(configPath()) };
  return Object.entries(folders).map(([name, folder]) => {
    const nearest = existing(folder);
    const what = `${name} folder`;
    try {
      accessSync(nearest, constants.W_OK);
      return { what, state: "ok", detail: nearest === folder ? folder : `${folder}, created on demand` };
    } catch {
      return {
        what,
        state: "broken",
        detail: `${nearest} is not writable`,
        todo: "make it writable, or set PARLEY_HOME to another folder",
      };
    }
  });
}

function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder));
}

export async function examineConfig(): Promise<{ readonly finding: Finding; readonly config: Config }> {
  const what = "config";
  const file = configPath();
  const warnings: string[] = [];
  try {
    const text = configText(file);
    const config = checkedConfig(text, (warning) => warnings.push(warning));
    const [first] = warnings;
    if (first === undefined) {
      return {
        config,
        finding: {
          what,
          state: "ok",
          detail: text === "" ? `no file at ${file}, so the defaults apply` : file,
        },
      };
    }
    const detail = warnings.join("; ");
    return {
      config,
      finding: { what, state: "warning", detail, todo: "fix the names: parley config edit" },
    };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return {
      config: {},
      finding: { what, state: "broken", detail: error.message, todo: "parley config edit" },
    };
  }
}

/** The model that our own agent would use, and whether it has a key. */
export async function examineModel({ agent = {} }: Config): Promise<Finding> {
  const what = "model";
  try {
    const credentials = credentialsFile(credentialsPath());
    const { models, login } = openAccount({ config: agent, env: process.env, credentials });
    const { chosen } = models();
    if (chosen === "offline") {
      const todo = "for a real model: parley agent login anthropic, or see docs/models.md";
      return { what, state: "missing", detail: "offline: no provider has a key", todo };
    }
    const isIn = login.isLoggedIn === undefined || (await login.isLoggedIn());
    return isIn
      ? { what, state: "ok", detail: chosen }
      : { what, state: "broken", detail: `${chosen} has no key`, todo: "parley agent login" };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { what, state: "broken", detail: error.message, todo: "fix it: parley config edit" };
  }
}

const slowMs = 10_000;

/** How agents are examined. */
export interface ExamineHow {
  readonly timeoutMs: number;
  readonly checksTools: boolean;
  /** Says what is waited for. */
  waits(what: string): void;
}

/** Agents of the config file and our own must be installed; of the others only installed ones are checked. */
export async function* examineAgents(
  agents: Iterable<AgentEntry>,
  only: string | undefined,
  how: ExamineHow,
): AsyncGenerator<Finding> {
  const absent: string[] = [];
  // one after the other, so that the times are comparable
  for (const entry of agents) {
    if (only !== undefined && entry.name !== only) continue;
    const isExpected = only !== undefined || entry.origin !== "ready" || entry.name === "parley";
    const isThere =
      entry.transport !== "stdio" || "path" in findAgentProgram(entry.command, process.env, process.cwd());
    if (isThere || isExpected) yield await examineAgent(entry, how);
    else absent.push(entry.name);
  }
  if (absent.length === 0) return;
  const detail = `not installed: ${absent.join(", ")}`;
  yield {
    what: "other agents",
    state: "missing",
    detail,
    todo: "parley agents list shows how to install them",
  };
}

async function examineAgent(
  entry: AgentEntry,
  { timeoutMs, checksTools, waits }: ExamineHow,
): Promise<Finding> {
  const what = `agent ${entry.name}`;
  try {
    const facts = await probeAgent(entry, {
      handshakeTimeoutMs: timeoutMs,
      sessionTimeoutMs: timeoutMs,
      checksTools,
      waits,
    });
    const { title, version = "", edition, handshakeMs, session, keys, tools } = facts;
    const known = `${title} ${version}`.trim();
    const given = keys.length === 0 ? "" : `, gets ${keys.join(", ")}`;
    const detail = safeLine(`${known}, speaks ${editionText(edition)}, handshake ${handshakeMs} ms${given}`);
    if (session === "login_needed") {
      return {
        what,
        state: "broken",
        detail: `${detail}, not logged in`,
        todo: `parley agents login ${entry.name}`,
      };
    }
    if (session !== "ok") {
      const failure = safeLine(`${detail}, opens no session: ${session.error}`);
      return { what, state: "broken", detail: failure, todo: `parley agents check ${entry.name}` };
    }
    const withTools = tools === undefined ? "" : safeLine(`; tools: ${toolsText(tools)}`);
    const working = `${detail}, opens sessions${withTools}`;
    const toolTodo = tools && toolsTodo(tools);
    if (toolTodo !== undefined) return { what, state: "warning", detail: working, todo: toolTodo };
    if (handshakeMs < slowMs) return { what, state: "ok", detail: working };
    return {
      what,
      state: "warning",
      detail,
      todo: "slow start: check what it loads, and the network",
    };
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error;
    const words = stderrReason(error.stderr ?? "");
    const text = words === "" ? error.message : `${error.message}. It wrote:\n${words}`;
    const detail = text.split("\n").map(safeLine).join("\n");
    return { what, state: "broken", detail, todo: error.hint };
  }
}
