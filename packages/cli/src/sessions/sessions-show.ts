// `parley sessions show`: prints a session as `parley run` did, with the prompts.

import type { ContentBlock, Entry } from "@parley/acp";
import { separateCalls } from "@parley/client/history";
import type { Invocation } from "../command/command.ts";
import { printAnswer } from "../command/print-answer.ts";
import { bufferedOutput } from "../printers/output.ts";
import { TextPrinter } from "../printers/text-printer.ts";
import { painter } from "../terminal/paint.ts";
import { oneSession, sessionNamed, withHistory } from "./open-history.ts";
import { sessionRedactor } from "./redacted-session.ts";
import { sessionJson, sessionLine } from "./session-line.ts";

export async function run({ positionals, json }: Invocation): Promise<number> {
  const word = oneSession(positionals, "sessions show");
  const { stdout, stderr } = process;
  await withHistory(async (history) => {
    const found = await sessionNamed(history, word);
    const redactor = await sessionRedactor([found]);
    const session = redactor.session(found);
    const entries = () => redactor.entries(history.entries(session.id));
    if (json) {
      const all: Entry[] = [];
      for await (const entry of entries()) all.push(entry);
      return printAnswer("", { session: sessionJson(session), entries: all }, json);
    }
    const prompts = new Map<string, readonly ContentBlock[]>();
    for await (const entry of entries())
      if (entry.kind === "prompt") prompts.set(entry.messageId, entry.prompt);
    const paint = painter(stdout.isTTY === true);
    const output = bufferedOutput(stdout);
    const warn = (text: string) => void stderr.write(`${text}\n`);
    const printer = new TextPrinter({
      output,
      paint,
      warn,
      cwd: session.cwd,
      showsPrompts: true,
      prompts,
      ...(stdout.isTTY === true ? { columns: () => stdout.columns } : {}),
    });
    output.write(`${paint("dim", sessionLine(session, Date.now()))}\n\n`);
    const separate = separateCalls();
    for await (const entry of entries()) printer.entry(separate(entry));
    printer.end({ exitCode: 0, outcome: undefined, error: undefined, durationMs: 0 });
  });
  return 0;
}
