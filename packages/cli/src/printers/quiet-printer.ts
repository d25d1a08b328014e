// Prints `--format quiet`: only the agent's last message on stdout, and problems on stderr.

import type { Entry } from "@parley/acp";
import { safeLine, safeText } from "../terminal/sanitise.ts";
import { LastMessage } from "./last-message.ts";
import type { Output } from "./output.ts";
import type { RunPrinter } from "./run-printer.ts";

export function quietPrinter(output: Output, warn: (text: string) => void, isTerminal: boolean): RunPrinter {
  const last = new LastMessage();
  return {
    showsProgress: false,
    progress: () => undefined,
    pause: () => output.flush(),
    started: () => undefined,
    entry(entry) {
      last.entry(entry);
      const warning = warningOf(entry);
      if (warning !== undefined) warn(warning);
    },
    decision: () => undefined,
    notice: warn,
    end({ error }) {
      // files and programs get the text unchanged
      const text = isTerminal ? safeText(last.text) : last.text;
      if (text !== "") output.write(text.endsWith("\n") ? text : `${text}\n`);
      output.flush();
      if (error === undefined) return;
      warn(error.message);
      if (error.hint !== undefined) warn(error.hint);
    },
  };
}

/** Warnings of the agent may concern the message that is printed. */
function warningOf(entry: Entry): string | undefined {
  if (entry.kind !== "update" || entry.update.sessionUpdate !== "notice") return undefined;
  const { severity, title, description } = entry.update;
  if (severity !== "warning" && severity !== "error") return undefined;
  return [title, description]
    .flatMap((each) => (typeof each === "string" ? [safeLine(each)] : []))
    .join(": ");
}
