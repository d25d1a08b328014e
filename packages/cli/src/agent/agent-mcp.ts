// `parley agent mcp`: lists the MCP servers that the coding agent has of its own, and logs in to them and out.

import type { McpServer } from "@parley/acp/model";
import type { FolderServer } from "@parley/agent";
import type { BrowserLogin, ServerLook } from "@parley/agent/mcp";
import { CommandError, type Invocation, printAnswer, usageError } from "../command/command.ts";
import { readConfig } from "../settings/config-file.ts";
import { mcpLoginsFolder } from "../settings/data-folder.ts";
import { ownVersion } from "../settings/installation.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { ownServers } from "../settings/own-mcp.ts";
import { askLine } from "../terminal/ask-line.ts";
import { openAddress } from "../terminal/open-address.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { readAgentConfig } from "./agent-settings.ts";

const help = "see parley help agent mcp";

export async function mcp({ positionals, json }: Invocation): Promise<number> {
  const [action = "list", name, ...more] = positionals;
  if (action === "list" && name === undefined) return list(json);
  if (name === undefined || more.length > 0 || (action !== "login" && action !== "logout"))
    throw usageError(
      `expected list, login NAME or logout NAME, got ${escapedLine(positionals.join(" "))}`,
      help,
    );
  return action === "login" ? logIn(name, json) : logOut(name, json);
}

interface Listed {
  readonly name: string;
  readonly from: "config" | ".mcp.json";
  readonly state: ServerLook["state"] | "disabled" | "not_decided" | "never";
  readonly loggedIn: boolean;
  readonly tools: readonly string[];
  readonly problem?: string;
}

async function list(json: boolean): Promise<number> {
  const { config, own, brought } = await known();
  const absent = { loggedIn: false, tools: [] };
  const disabled = Object.entries(config.mcpServers ?? {}).flatMap(([name, entry]): Listed[] =>
    entry.disabled === true ? [{ name, from: "config", state: "disabled", ...absent }] : [],
  );
  const looked = (server: McpServer, from: Listed["from"]) =>
    look(server).then(
      ({ isLoggedIn: loggedIn, ...rest }): Listed => ({ name: nameOf(server), from, loggedIn, ...rest }),
    );
  const servers: Listed[] = [
    ...(await Promise.all(own.servers.map((server) => looked(server, "config")))),
    ...disabled,
    ...(await Promise.all(
      brought.servers.map(async ({ server, decision }): Promise<Listed> => {
        if (decision === "always") return looked(server, ".mcp.json");
        const state = decision === "never" ? "never" : "not_decided";
        return { name: nameOf(server), from: ".mcp.json", state, ...absent };
      }),
    )),
  ];
  const problems = [...own.problems, ...brought.problems];
  const lines = [...servers.map(lineOf), ...problems.map((problem) => escapedLine(problem))];
  const text = lines.length === 0 ? "The coding agent has no MCP servers of its own." : lines.join("\n");
  return printAnswer(withoutSecrets(text), withoutSecrets({ servers, problems }), json);
}

function lineOf({ name, from, state, loggedIn, tools, problem }: Listed): string {
  const words: Readonly<Record<Listed["state"], string>> = {
    ready: `${tools.length} ${tools.length === 1 ? "tool" : "tools"}${loggedIn ? ", logged in" : ""}`,
    needs_login: `needs a login: parley agent mcp login ${name}`,
    failed: problem ?? "failed",
    disabled: "disabled",
    not_decided: "not started: you have not been asked; see parley trust",
    never: "never started: that was your answer; parley trust --revoke forgets it",
  };
  const [first = "", ...more] = words[state].split("\n").map(escapedLine);
  return [`${escapedLine(name)}  (${from})  ${first}`, ...more.map((line) => `    ${line}`)].join("\n");
}

async function logIn(name: string, json: boolean): Promise<number> {
  const server = await serverFor(name);
  const stop = new AbortController();
  const interrupt = () => stop.abort(new Error("interrupted"));
  process.once("SIGINT", interrupt);
  let hasAsked = false;
  try {
    const found = await look(server, async (login: BrowserLogin) => {
      hasAsked = true;
      const isOpened = openAddress(login.page);
      // stdout is for the answer
      process.stderr.write(
        `${isOpened ? "A browser opens" : "Open"} this page to log in:\n  ${login.page}\n`,
      );
      const isOver = new AbortController();
      if (process.stdin.isTTY) void takePasted(login, isOver.signal);
      try {
        await login.finish(stop.signal);
      } finally {
        isOver.abort();
      }
    }).catch((error: unknown) => {
      throw failure(error instanceof Error ? error.message : String(error));
    });
    if (found.state !== "ready") throw failure(found.problem ?? "the server cannot be used");
    const shown = escapedLine(nameOf(server));
    const tools = `${found.tools.length} tools`;
    const text = hasAsked ? `Logged in to ${shown} (${tools}).` : `${shown} needs no login (${tools}).`;
    return printAnswer(
      text,
      { server: nameOf(server), loggedIn: found.isLoggedIn, tools: found.tools },
      json,
    );
  } finally {
    process.removeListener("SIGINT", interrupt);
  }
}

/** For a browser on another machine, which cannot reach the address that the login leads to. Never rejects. */
async function takePasted(login: BrowserLogin, signal: AbortSignal): Promise<void> {
  const question = "If the page that follows cannot be shown, paste its address here: ";
  for (;;) {
    const line = await askLine(question, signal).catch(() => undefined);
    if (line === undefined || signal.aborted) return;
    if (login.take(line.trim())) return;
    process.stderr.write("That is not the address of this login; it begins with http://127.0.0.1\n");
  }
}

function failure(message: string): CommandError {
  return new CommandError("mcp", withoutSecrets(escapedLine(message)), help);
}

async function logOut(name: string, json: boolean): Promise<number> {
  const { url } = (await serverFor(name)) as { readonly url?: string }; // those with a command have none
  const { removeLogin } = await import("@parley/agent/mcp");
  const removed = url !== undefined && removeLogin(mcpLoginsFolder(), url);
  const shown = escapedLine(name);
  const text = removed ? `Deleted the login to ${shown}.` : `No login to ${shown} was stored.`;
  return printAnswer(text, { server: name, removed }, json);
}

async function known() {
  const config = readAgentConfig();
  const own = ownServers(config, process.env);
  const { folderServers } = await import("../trust/trusted-servers.ts");
  const names = new Set(Object.keys(config.mcpServers ?? {}));
  const { servers, problems } = folderServers(process.cwd(), own.servers);
  const brought = { servers: servers.filter(({ server }) => !names.has(nameOf(server))), problems };
  return { config, own, brought };
}

/** By its name in the config or in `.mcp.json`, or by its address. */
async function serverFor(name: string): Promise<McpServer> {
  if (/^https?:/i.test(name)) {
    const address = URL.parse(name);
    if (address === null)
      throw usageError(`expected the address of a server, got ${escapedLine(name)}`, help);
    return { type: "http", name: address.host, url: name, headers: [] };
  }
  const { config, own, brought } = await known();
  const found =
    own.servers.find((server) => nameOf(server) === name) ??
    brought.servers.find(
      ({ server, decision }: FolderServer) => nameOf(server) === name && decision === "always",
    )?.server;
  if (found !== undefined) return found;
  if (config.mcpServers?.[name]?.disabled === true)
    throw usageError(
      `${escapedLine(name)} is disabled`,
      "remove disabled from its entry: parley config edit",
    );
  const problem = own.problems.find((each) => each.includes(` ${name} `));
  if (problem !== undefined) throw usageError(problem, help);
  if (brought.servers.some(({ server }) => nameOf(server) === name))
    throw usageError(
      `${escapedLine(name)} is named by .mcp.json, and you have not allowed it`,
      "look at it and decide: parley trust",
    );
  throw usageError(
    `there is no MCP server ${escapedLine(name)}`,
    "parley agent mcp lists them; give the address of a server that only your editor names",
  );
}

async function look(server: McpServer, logIn?: (login: BrowserLogin) => Promise<void>): Promise<ServerLook> {
  // its warnings have been printed
  const { agent: { privateHosts = [] } = {} } = readConfig(() => undefined);
  const { lookAtServer } = await import("@parley/agent/mcp");
  return lookAtServer(server, {
    version: ownVersion(),
    cwd: process.cwd(),
    privateHosts,
    loginFolder: mcpLoginsFolder(),
    ...(logIn && { logIn }),
  });
}

function nameOf(server: McpServer): string {
  return String((server as { readonly name?: unknown }).name);
}
