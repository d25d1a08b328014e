// The log of `parley serve`: lines for people on stderr, or lines of JSON on stdout.

import type { Log } from "@parley/acp";
import { escapedJson, safeLine } from "../terminal/sanitise.ts";

export interface ServeLog {
  readonly log: Log;
  /** One event for scripts, or text for people, on stdout. */
  say(text: string, event: Readonly<Record<string, unknown>>): void;
}

export function serveLog(json: boolean): ServeLog {
  const line = (event: object) =>
    void process.stdout.write(`${escapedJson({ v: 1, time: new Date().toISOString(), ...event })}\n`);
  return {
    log(level, message, fields) {
      const plain = plainFields(fields);
      if (json) return line({ type: "log", level, message, ...plain });
      const rest = Object.entries(plain).map(([name, value]) => ` ${name}=${safeLine(String(value))}`);
      process.stderr.write(`parley serve: ${safeLine(message)}${rest.join("")}\n`);
    },
    say(text, event) {
      if (json) line(event);
      else process.stdout.write(`${text}\n`);
    },
  };
}

/** Errors by their message, which says enough. */
function plainFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? value.message : value]),
  );
}
