// `parley agents add` and `remove`: agents of one's own, in the config file.

import type { Invocation } from "../command.ts";
import { usageError } from "../command-error.ts";
import { changeConfig } from "../config/change-config.ts";
import { readAgents } from "../named-agent.ts";
import { printAnswer } from "../print-answer.ts";

export async function run({ positionals, argv, values, json }: Invocation): Promise<number> {
  const [name, extra] = positionals.slice(0, positionals.length - argv.length);
  const { url, title } = values;
  if (name === undefined || extra !== undefined) {
    throw usageError("agents add wants one name", "such as parley agents add mine -- /opt/mine/agent --acp");
  }
  if (argv.length > 0 === (typeof url === "string")) {
    throw usageError("agents add wants a command after --, or --url", "give one of the two");
  }
  const [command, ...args] = argv;
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
  if (known?.entry.origin === "config" && values["force"] !== true) {
    throw usageError(`there is an agent ${name} already`, "say --force to replace it");
  }
  const file = await changeConfig([
    [["agents", name], written],
    ...(values["default"] === true ? [[["client", "agent"], name] as const] : []),
  ]);
  const text = `${name} is in ${file}. Look at it: parley agents check ${name}`;
  printAnswer(text, { agent: name, file }, json);
  return 0;
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
