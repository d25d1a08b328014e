// Parses what was typed behind the name of a shipped proxy.

import { parseArgs } from "node:util";
import { usageError } from "../command/command.ts";
import { parseTime } from "../command/option-values.ts";
import type { ProxyArguments, ShippedProxy } from "../proxies/shipped-proxy.ts";
import { escapedLine } from "../terminal/sanitise.ts";

/** `where` begins an error: `--proxy "budget ..."`, or a path in the config file. */
export function proxyArguments(
  { name, options }: ShippedProxy,
  args: readonly string[],
  where: string,
): ProxyArguments {
  const list = Object.entries(options).map(([option, { value }]) => `--${option}${value ? ` ${value}` : ""}`);
  const help = `${name} takes ${list.join(", ")}; see parley proxy`;
  const values = parsed();
  const text = (option: string) => {
    const value = values[option];
    return typeof value === "string" ? value : undefined;
  };
  const wrong = (wanted: string, option?: string): never => {
    const got = option === undefined ? "" : `, got ${escapedLine(text(option) ?? "")}`;
    throw usageError(
      `${where}: ${name}${option === undefined ? " needs" : ` --${option}: expected`} ${wanted}${got}`,
      help,
    );
  };
  return {
    text,
    list: (option) => [values[option] ?? []].flat().filter((each) => typeof each === "string"),
    flag: (option) => values[option] === true,
    choice(option, words) {
      const given = text(option);
      const found = words.find((word) => word === given);
      return given === undefined || found !== undefined ? found : wrong(words.join(" or "), option);
    },
    number(option) {
      const given = text(option);
      if (given === undefined) return undefined;
      return Number(given) > 0 ? Number(given) : wrong("a number above 0", option);
    },
    time(option) {
      const given = text(option);
      if (given === undefined) return undefined;
      const ms = parseTime(given, ["s", "m", "h"]);
      // Node's timers fire at once beyond this
      return ms !== undefined && ms < 2 ** 31 ? ms : wrong("a time such as 90s, 10m or 1h", option);
    },
    wrong,
  };

  function parsed() {
    try {
      return parseArgs({ args: [...args], options }).values;
    } catch (error) {
      const [sentence = ""] = (error as Error).message.split(". "); // as: of parseArgs
      throw usageError(`${where}: ${name}: ${escapedLine(sentence)}`, help);
    }
  }
}
