// Parses names of config values: `agent.mode`, `agents."my agent".command`.

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
    text === "" ? "expected the name of a value" : `${escapedLine(text)} is not the name of a value`,
    'join names with dots, as in agent.mode; quote names that contain dots: agents."a.b".command',
  );
}

export function valueAt(config: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, name)
        ? (value as Readonly<Record<string, unknown>>)[name]
        : undefined,
    config,
  );
}
