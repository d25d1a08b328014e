// `--format quiet`: the agent's last message and nothing else on stdout; what went wrong on stderr.

import { LastMessage } from "./last-message.ts";
import type { Output } from "./output.ts";
import type { RunPrinter } from "./run-printer.ts";
import { safeText } from "./safe-text.ts";

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
    entry: (entry) => last.entry(entry),
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
