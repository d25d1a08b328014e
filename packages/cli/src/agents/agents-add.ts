// `parley agents add` and `remove`: agents of one's own, in the config file.

import { statSync } from "node:fs";
import { resolve } from "node:path";
import { plainTextProblem } from "@parley/acp";
import type { Invocation } from "../command/command.ts";
import { usageError } from "../command/command-error.ts";
import { printAnswer } from "../command/print-answer.ts";
import { changeConfig } from "../settings/change-config.ts";
import { readAgents } from "../settings/named-agent.ts";
import { escapedLine } from "../terminal/sanitise.ts";

export async function run({ positionals, argv, values, json }: Invocation): Promise<number> {
  const [name, extra] = positionals.slice(0, positionals.length - argv.length);
  const { url, title } = values;
  if (name === undefined || extra !== undefined) {
    throw usageError("agents add wants one name", "such as parley agents add mine -- /opt/mine/agent --acp");
  }
  if (argv.length > 0 === (typeof url === "string")) {
    throw usageError("agents add wants a command after --, or --url", "give one of the two");
  }
  if (typeof url === "string") checkAddress(url);
  const [command, ...args] = argv.map(fromAnywhere);
  const section = {
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof url === "string"
      ? {
          transport: /^http/i.test(url) ? "http" : "websocket",
          url,
          headers: pairs(values["header"], "header"),
        }
      : { command, args, env: pairs(values["env"], "env") }),
    ...(values["pass"] === undefined ? {} : { pass: values["pass"] }),
  };
  const written = Object.fromEntries(
    Object.entries(section).filter(([, value]) => typeof value !== "object" || Object.keys(value).length > 0),
  );
  const { agents } = await readAgents();
  const known = agents.get(name);
  if (known !== undefined && values["force"] !== true) {
    const whose = known.entry.origin === "config" ? "" : ", which parley knows by itself";
    throw usageError(
      `there is an agent ${name} already${whose}`,
      "give it another name, or say --force to replace it",
    );
  }
  const file = await changeConfig([
    [["agents", name], written],
    ...(values["default"] === true ? [[["client", "agent"], name] as const] : []),
  ]);
  const isDefault = values["default"] === true ? " It is the default now." : "";
  const text = `${name} is in ${file}.${isDefault} Look at it: parley agents check ${name}`;
  printAnswer(text, { agent: name, file }, json);
  return 0;
}

/** What is written here is not asked about again, so it is what is safe. */
function checkAddress(url: string): void {
  if (!/^(?:wss?|https?):\/\//i.test(url) || !URL.canParse(url)) {
    const wanted = "https:// or wss://, and http:// or ws:// on this machine";
    throw usageError(`--url takes ${wanted}, got ${escapedLine(url)}`, "see parley help agents add");
  }
  const problem = plainTextProblem(url);
  if (problem === undefined) return;
  const hint = 'use that, or write the agent into the config file yourself, with "allowPlainText": true';
  throw usageError(`--url: ${problem}`, hint);
}

/**
 * Files are kept by their full path: the agent is started from other folders too. A bare word stays what it is,
 * also where a file happens to have its name.
 */
function fromAnywhere(word: string, at: number): string {
  if (at === 0) return /[\\/]/.test(word) ? resolve(word) : word;
  const isPath = !word.startsWith("-") && /[\\/]|\.\w+$/.test(word);
  return isPath && statSync(word, { throwIfNoEntry: false })?.isFile() ? resolve(word) : word;
}

/** `NAME=VALUE`, several times. */
function pairs(given: Invocation["values"][string], option: string): Record<string, string> {
  const list = Array.isArray(given) ? given : [];
  return Object.fromEntries(
    list.map((each) => {
      const at = String(each).indexOf("=");
      if (at < 1) throw usageError(`--${option} takes NAME=VALUE`, "see parley help agents add");
      return [String(each).slice(0, at), String(each).slice(at + 1)];
    }),
  );
}
