// The log of `parley serve`: lines for people on stderr, or lines of JSON on stdout.

import type { Log } from "@parley/acp";
import { escapedJson, safeLine } from "../terminal/sanitise.ts";

export interface ServeLog {
  readonly log: Log;
  /** One event for scripts, or text for people, on stdout. */
  say(text: string, event: Readonly<Record<string, unknown>>): void;
  /** What an agent wrote to stderr. */
  stderr(connectionId: string, text: string): void;
}

/** Where the lines go. */
export interface LogOutput {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly now: () => Date;
}

const shownIdChars = 8;

export function serveLog(json: boolean, output: LogOutput = processOutput): ServeLog {
  const line = (event: object) =>
    output.stdout(`${escapedJson({ v: 1, time: output.now().toISOString(), ...event })}\n`);
  const timed = (text: string) => output.stderr(`${clock(output.now())} ${text}\n`);
  const log: Log = (level, message, fields) => {
    const plain = plainFields(fields);
    if (json) return line({ type: "log", level, message, ...plain });
    const rest = Object.entries(plain).map(([name, value]) => ` ${shownField(name, value)}`);
    const how = level === "warn" ? "warning: " : level === "error" ? "error: " : "";
    timed(`${how}${safeLine(message)}${rest.join("")}`);
  };
  return {
    log,
    say(text, event) {
      if (json) line(event);
      else output.stdout(`${text}\n`);
    },
    stderr(connectionId, text) {
      if (text.trim() === "") return;
      if (json) return log("info", "stderr of the agent", { connectionId, text: text.trimEnd() });
      for (const each of text.split("\n"))
        if (each.trim() !== "") timed(`${connectionId.slice(0, shownIdChars)} | ${safeLine(each.trimEnd())}`);
    },
  };
}

const processOutput: LogOutput = {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  now: () => new Date(),
};

/** The time of day here. */
function clock(now: Date): string {
  return [now.getHours(), now.getMinutes(), now.getSeconds()]
    .map((each) => String(each).padStart(2, "0"))
    .join(":");
}

/** A few characters of an id tell connections apart. */
function shownField(name: string, value: unknown): string {
  if (name === "connectionId") return `connection=${String(value).slice(0, shownIdChars)}`;
  if (name === "to") return `to=${String(value).slice(0, shownIdChars)}`;
  const text = safeLine(String(value));
  return `${name}=${/\s/.test(text) ? JSON.stringify(text) : text}`;
}

/** Errors by their message, which says enough. */
function plainFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? value.message : value]),
  );
}
