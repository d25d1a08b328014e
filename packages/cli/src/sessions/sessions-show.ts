// `parley sessions show`: a session as `parley run` printed it, with the prompts.

import type { ContentBlock, Entry } from "@parley/acp";
import { separateCalls } from "@parley/client/history";
import type { Invocation } from "../command/command.ts";
import { printAnswer } from "../command/print-answer.ts";
import { bufferedOutput } from "../printers/output.ts";
import { textPrinter } from "../printers/text-printer.ts";
import { painter } from "../terminal/paint.ts";
import { oneSession, sessionNamed, withHistory } from "./open-history.ts";
import { sessionRedactor } from "./redacted-session.ts";
import { sessionJson, sessionLine } from "./session-line.ts";

export async function run({ positionals, json }: Invocation): Promise<number> {
  const word = oneSession(positionals, "sessions show");
  const { stdout, stderr } = process;
  await withHistory(async (history) => {
    const found = await sessionNamed(history, word);
    const teller = await sessionRedactor([found]);
    const session = teller.session(found);
    const told = () => teller.entries(history.entries(session.id));
    if (json) {
      const entries: Entry[] = [];
      for await (const entry of told()) entries.push(entry);
      return printAnswer("", { session: sessionJson(session), entries }, json);
    }
    const prompts = new Map<string, readonly ContentBlock[]>();
    for await (const entry of told()) if (entry.kind === "prompt") prompts.set(entry.messageId, entry.prompt);
    const paint = painter(stdout.isTTY === true);
    const output = bufferedOutput(stdout);
    const complain = (text: string) => void stderr.write(`${text}\n`);
    const printer = textPrinter({
      output,
      paint,
      complain,
      cwd: session.cwd,
      showsPrompts: true,
      prompts,
      ...(stdout.isTTY === true ? { columns: () => stdout.columns } : {}),
    });
    output.write(`${paint("dim", sessionLine(session, Date.now()))}\n\n`);
    const apart = separateCalls();
    for await (const entry of told()) printer.entry(apart(entry));
    printer.end({ exitCode: 0, outcome: undefined, error: undefined, durationMs: 0 });
  });
  return 0;
}
