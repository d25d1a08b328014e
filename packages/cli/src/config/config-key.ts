// How one value of the config is named on the command line: `agent.mode`, `agents."my agent".command`.

import { usageError } from "../command/command-error.ts";
import { escapedLine } from "../terminal/sanitise.ts";

const part = /(?:"((?:[^"\\]|\\.)*)"|([^."]+))(?:\.(?=.)|$)/y;

export function configKey(given: string | undefined): readonly string[] {
  const names: string[] = [];
  const text = given ?? "";
  part.lastIndex = 0;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (match === null) break;
    names.push(match[2] ?? (JSON.parse(`"${match[1] ?? ""}"`) as string)); // the pattern let nothing else through
    if (part.lastIndex === text.length) return names;
  }
  throw usageError(
    text === "" ? "the name of a value is wanted" : `${escapedLine(text)} is no name of a value`,
    'names are joined by dots, such as agent.mode, and quoted where they have some themselves: agents."a.b".command',
  );
}

/** What stands there. */
export function valueAt(config: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, name)
        ? (value as Readonly<Record<string, unknown>>)[name]
        : undefined,
    config,
  );
}
