// The log of a bridge: losses (once each) and failures on stderr, or everything with --log.

import { createWriteStream, openSync } from "node:fs";
import type { Log } from "@parley/acp";
import { lossesIn } from "../settings/edition-choice.ts";
import { escapedLine } from "../terminal/sanitise.ts";

export interface BridgeLog {
  readonly log: Log;
  /** Resolves when everything is written. */
  close(): Promise<void>;
}

/** How many different losses are reported. */
const maxRemembered = 1_000;

/** `-` is stderr. Throws when the file cannot be opened. */
export function openBridgeLog(target: string | undefined): BridgeLog {
  if (target === undefined) return { log: onlyLosses(), close: () => Promise.resolve() };
  if (target === "-") {
    return { log: everything((line) => process.stderr.write(line)), close: () => Promise.resolve() };
  }
  // readable only by the user: losses may quote the conversation
  const file = createWriteStream("", { fd: openSync(target, "a", 0o600) });
  file.on("error", (error) => process.stderr.write(`parley: --log: ${error.message}\n`));
  return {
    log: everything((line) => file.write(line)),
    close: () => new Promise((resolve) => void file.end(() => resolve())),
  };
}

function onlyLosses(): Log {
  const shown = new Set<string>();
  return (level, message, details) => {
    const lost = lossesIn(details);
    if (lost.length === 0) {
      if (level === "error") process.stderr.write(`parley: ${escapedLine(message + rest(details))}\n`);
      return;
    }
    for (const what of lost) {
      if (shown.has(what) || shown.size >= maxRemembered) continue;
      shown.add(what);
      process.stderr.write(`parley: ${escapedLine(`${message}: ${what}`)}\n`);
    }
  };
}

function everything(write: (line: string) => void): Log {
  return (level, message, details) => {
    const lost = lossesIn(details);
    const what = lost.length === 0 ? "" : `: ${lost.join("; ")}`;
    write(`${new Date().toISOString()} ${level} ${escapedLine(message + what + rest(details))}\n`);
  };
}

/** The details on the same line. */
function rest(details: unknown): string {
  if (typeof details !== "object" || details === null) return "";
  const shown = Object.entries(details).flatMap(([name, value]) =>
    name === "lost" || value === undefined
      ? []
      : [`${name} ${value instanceof Error ? value.message : (JSON.stringify(value) ?? "")}`],
  );
  return shown.length === 0 ? "" : ` (${shown.join(", ").slice(0, 1_000)})`;
}
