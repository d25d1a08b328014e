// `parley agents list`, `add` and `remove`.

import { statSync } from "node:fs";
import { resolve } from "node:path";
import { optional } from "@parley/acp/jsonrpc";
import { plainTextProblem } from "@parley/acp/transport";
import { type AgentEntry, findAgentProgram } from "@parley/client/launch";
import { type Invocation, printAnswer, usageError } from "../command/command.ts";
import { assignment, listOption, textOption } from "../command/option-values.ts";
import { changeConfig } from "../settings/config-file.ts";
import { editionOption } from "../settings/edition-choice.ts";
import { commandToType } from "../settings/installation.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { readAgents } from "../settings/named-agent.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { columnsOf, wrapLine } from "../terminal/wrap-line.ts";

export async function listAgents({ json }: Invocation): Promise<number> {
  const { agents, preferred } = readAgents();
  const listed = withoutSecrets(
    [...agents.values()].map((entry) => ({ ...facts(entry), isDefault: entry.name === preferred })),
  );
  const width = Math.max(...listed.map(({ name }) => name.length));
  const lines = listed.map(
    ({ name, isDefault, state }) => `${isDefault ? "*" : " "} ${name.padEnd(width)}  ${state}`,
  );
  const data = listed.map(({ state: _state, ...rest }) => rest);
  const columns = columnsOf(process.stdout);
  const shown = lines.map((line) => wrapLine(escapedLine(line), columns, " ".repeat(width + 4)));
  return printAnswer(shown.join("\n"), { agents: data }, json);
}

function facts(entry: AgentEntry) {
  const { name, title = name, origin, transport, edition } = entry;
  const speaks = edition === undefined ? "" : `, speaks ${edition}`;
  if (entry.transport !== "stdio") {
    const state = `${title}, at ${entry.url}${speaks}`;
    return { name, title, origin, transport, url: entry.url, ...optional({ edition }), state };
  }
  const { command, args, install } = entry;
  const found = findAgentProgram(command, process.env, process.cwd());
  const isInstalled = "path" in found;
  const hint = install === undefined ? "" : `: ${install}`;
  return {
    name,
    title,
    origin,
    transport,
    command: [command, ...args],
    installed: isInstalled,
    sandbox: entry.sandbox === true,
    ...optional({ edition, path: isInstalled ? found.path : undefined, install }),
    state: isInstalled
      ? `${title}, ${found.path}${entry.sandbox === true ? ", in a sandbox" : ""}${speaks}`
      : `${title}, not installed${hint}`,
  };
}

export async function addAgent({ words, argv, values, json }: Invocation): Promise<number> {
  const [name, extra] = words;
  const [url, title] = [textOption(values, "url"), textOption(values, "title")];
  if (name === undefined || extra !== undefined) {
    throw usageError(
      `agents add: expected one name, got ${words.length}`,
      "for example: parley agents add mine -- /opt/mine/agent --acp",
    );
  }
  if (argv.length > 0 === (url !== undefined))
    throw usageError("agents add: expected either a command after -- or --url", "give one of the two");
  if (url !== undefined) checkAddress(url);
  const [command, ...args] = argv.map(absolutePath);
  const pairs = (option: string) =>
    Object.fromEntries(listOption(values, option).map((each) => assignment(option, each)));
  const section = {
    ...optional({ title, edition: editionOption(values), pass: values["pass"] }),
    ...(url === undefined
      ? { command, args, env: pairs("env"), ...sandboxMembers(values) }
      : { transport: /^http/i.test(url) ? "http" : "websocket", url, headers: pairs("header") }),
  };
  const written = Object.fromEntries(
    Object.entries(section).filter(([, value]) => typeof value !== "object" || Object.keys(value).length > 0),
  );
  const { agents } = readAgents();
  const known = agents.get(name);
  if (known !== undefined && values["force"] !== true) {
    const origin = known.origin === "config" ? "" : " and is built in";
    throw usageError(
      `the agent ${name} already exists${origin}`,
      "choose another name, or replace it with --force",
    );
  }
  const file = changeConfig([
    [["agents", name], written],
    ...(values["default"] === true ? [[["client", "agent"], name] as const] : []),
  ]);
  const isDefault = values["default"] === true ? " It is now the default agent." : "";
  const text = `Added ${name} to ${file}.${isDefault} Check it with: ${commandToType()} agents check ${name}`;
  return printAnswer(text, { agent: name, file }, json);
}

/** What the entry says about its sandbox. */
function sandboxMembers(values: Invocation["values"]) {
  const sandbox = textOption(values, "sandbox");
  if (sandbox !== undefined && sandbox !== "agent")
    throw usageError(`--sandbox: expected agent, got ${escapedLine(sandbox)}`, "see parley help agents add");
  const state = listOption(values, "state").map((path) => resolve(path));
  const hosts = listOption(values, "host");
  return { ...(sandbox === undefined ? {} : { sandbox: true }), state, hosts };
}

/** Only safe addresses: nobody is asked about them again. */
function checkAddress(url: string): void {
  if (!/^(?:wss?|https?):\/\//i.test(url) || !URL.canParse(url)) {
    const expected = "https:// or wss:// (on this machine also http:// or ws://)";
    throw usageError(
      `--url: expected an address with ${expected}, got ${escapedLine(url)}`,
      "see parley help agents add",
    );
  }
  const problem = plainTextProblem(url);
  if (problem === undefined) return;
  const hint = 'to allow it, add the agent to the config file with "allowPlainText": true';
  throw usageError(`--url: ${problem}`, hint);
}

/** File paths become absolute, since the agent is started from other folders too. A bare word stays as it is. */
function absolutePath(word: string, at: number): string {
  if (at === 0) return /[\\/]/.test(word) ? resolve(word) : word;
  const isPath = !word.startsWith("-") && /[\\/]|\.\w+$/.test(word);
  return isPath && statSync(word, { throwIfNoEntry: false })?.isFile() ? resolve(word) : word;
}

export async function removeAgent({ positionals, json }: Invocation): Promise<number> {
  const [name = ""] = positionals;
  const { config } = readAgents();
  if (!Object.hasOwn(config.agents ?? {}, name)) {
    const own = Object.keys(config.agents ?? {}).join(", ");
    throw usageError(
      `unknown agent ${escapedLine(name)}; agents in the config file: ${own || "none"}`,
      "see parley agents list",
    );
  }
  const file = changeConfig([
    [["agents", name], undefined],
    ...(config.client?.agent === name ? [[["client", "agent"], undefined] as const] : []),
  ]);
  return printAnswer(`Removed ${name} from ${file}.`, { agent: name, file }, json);
}
