// `parley sessions show` and `export`.

import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import type { ContentBlock, Entry } from "@parley/acp";
import { exportSession, separateCalls } from "@parley/client/history";
import { CommandError, type Invocation, printAnswer, usageError } from "../command/command.ts";
import { marksFor } from "../draw/marks.ts";
import { bufferedOutput } from "../printers/output.ts";
import { TextPrinter } from "../printers/text-printer.ts";
import { knownSecrets } from "../settings/known-secrets.ts";
import { painter } from "../terminal/paint.ts";
import { escapedLine, safeText } from "../terminal/sanitise.ts";
import { withAllLogs } from "./all-logs.ts";
import { exportFormats, formatOf } from "./export-format.ts";
import { oneSession, sessionJson, sessionLine, sessionNamed, sessionRedactor } from "./stored-sessions.ts";

export async function showSession({ positionals, json }: Invocation): Promise<number> {
  const word = oneSession(positionals, "sessions show");
  const { stdout, stderr } = process;
  await withAllLogs(async (logs) => {
    const found = await sessionNamed(logs, word);
    const redactor = await sessionRedactor([found]);
    const session = redactor.session(found);
    const entries = () => redactor.entries(logs.entries(found));
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
      ...(stdout.isTTY === true ? { columns: () => stdout.columns, marks: marksFor(process.env) } : {}),
    });
    await printer.load();
    output.write(`${paint("dim", sessionLine(session, Date.now()))}\n\n`);
    const separate = separateCalls();
    for await (const entry of entries()) printer.entry(separate(entry));
    printer.end({ exitCode: 0, outcome: undefined, error: undefined, durationMs: 0 });
  });
  return 0;
}

export async function exportStored({ values, positionals, json }: Invocation): Promise<number> {
  const word = oneSession(positionals, "sessions export");
  const out = values["out"];
  const wanted = values["format"] ?? formatOf(typeof out === "string" ? out : "");
  const format = exportFormats.find((each) => each === wanted);
  if (format === undefined) {
    throw usageError(
      `--format: expected markdown, html or json, got ${escapedLine(String(values["format"]))}`,
      "see parley help sessions export",
    );
  }
  if (json && typeof out !== "string") {
    throw usageError(
      "--json needs --out FILE",
      "without --out, the export itself is printed; for an export as JSON, use --format json",
    );
  }
  const exported = await withAllLogs(async (logs) => {
    const { log, ...session } = await sessionNamed(logs, word);
    const entries: Entry[] = [];
    for await (const entry of logs.entries({ ...session, log })) entries.push(entry);
    const secrets = knownSecrets();
    return exportSession(session, entries, {
      format,
      secrets,
      homeFolder: homedir(),
      raw: values["raw"] === true,
    });
  });
  if (typeof out !== "string") {
    // files and programs get it unchanged
    process.stdout.write(process.stdout.isTTY ? safeText(exported.text) : exported.text);
    return 0;
  }
  try {
    // readable only by this user, like the history
    await writeFile(out, exported.text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException; // of fs, which has no other errors
    const hint =
      code === "EEXIST" ? "choose a file that does not exist yet" : "choose a file that can be written";
    throw new CommandError("not_written", `cannot write ${escapedLine(out)}: ${code}`, hint);
  }
  const { secrets } = exported;
  const text = `Wrote ${escapedLine(out)}; removed ${secrets} ${secrets === 1 ? "secret" : "secrets"}.`;
  return printAnswer(text, { file: out, secrets }, json);
}
