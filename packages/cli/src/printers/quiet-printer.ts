// `--format quiet`: the agent's last message and nothing else on stdout; what went wrong on stderr.

import type { Entry } from "@parley/acp";
import { safeLine, safeText } from "../terminal/sanitise.ts";
import { LastMessage } from "./last-message.ts";
import type { Output } from "./output.ts";
import type { RunPrinter } from "./run-printer.ts";

export function quietPrinter(
  output: Output,
  complain: (text: string) => void,
  isTerminal: boolean,
): RunPrinter {
  const last = new LastMessage();
  return {
    showsProgress: false,
    progress: () => undefined,
    pause: () => output.flush(),
    started: () => undefined,
    entry(entry) {
      last.entry(entry);
      const warning = warningOf(entry);
      if (warning !== undefined) complain(warning);
    },
    decision: () => undefined,
    notice: complain,
    end({ error }) {
      // a file or a program gets the agent's words as they are
      const text = isTerminal ? safeText(last.text) : last.text;
      if (text !== "") output.write(text.endsWith("\n") ? text : `${text}\n`);
      output.flush();
      if (error === undefined) return;
      complain(error.message);
      if (error.hint !== undefined) complain(error.hint);
    },
  };
}

/** What the agent warns of concerns its answer, which is all that is shown. */
function warningOf(entry: Entry): string | undefined {
  if (entry.kind !== "update" || entry.update.sessionUpdate !== "notice") return undefined;
  const { severity, title, description } = entry.update;
  if (severity !== "warning" && severity !== "error") return undefined;
  return [title, description]
    .flatMap((each) => (typeof each === "string" ? [safeLine(each)] : []))
    .join(": ");
}
