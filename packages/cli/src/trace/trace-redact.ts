// `parley trace redact FILE`: copies a trace without its secrets.

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { homedir } from "node:os";
import { optional } from "@parley/acp/jsonrpc";
import { type Redactor, redactor } from "@parley/acp/redact";
import { traceHeader, traceRecord } from "@parley/conformance";
import { type Invocation, printAnswer, usageError } from "../command/command.ts";
import { textOption } from "../command/option-values.ts";
import { knownSecrets } from "../settings/known-secrets.ts";
import { fileLines, traceFile, withTraceErrors } from "./read-trace.ts";

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const path = traceFile(positionals, "trace redact");
  const out = textOption(values, "out");
  if (json && out === undefined)
    throw usageError("--json needs --out FILE", "without --out, the trace itself is printed to stdout");
  await withTraceErrors(path, async () => {
    const secrets = knownSecrets();
    const redacting = redactor({ contents: values.contents === true, homeFolder: homedir(), secrets });
    // a secret that is recognised late may also occur earlier, or in pieces
    for (let pass = 0; pass < 2; pass += 1) {
      for await (const _ of redactedLines(path, redacting));
      redacting.again();
    }
    const target = out === undefined ? undefined : await create(out);
    try {
      for await (const line of redactedLines(path, redacting)) await write(target, `${line}\n`);
    } finally {
      await target?.close();
    }
    report(redacting, out, json);
  });
  return 0;
}

/** Never over an existing file, least of all over the original. */
function create(path: string): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
}

async function write(target: FileHandle | undefined, text: string): Promise<void> {
  if (target !== undefined) await target.write(text);
  else if (!process.stdout.write(text)) await new Promise((resolve) => process.stdout.once("drain", resolve));
}

async function* redactedLines(path: string, redacting: Redactor): AsyncGenerator<string> {
  let line = 0;
  for await (const { text, cutOff } of fileLines(path)) {
    line += 1;
    if (line === 1) yield JSON.stringify(redactedHeader(text, redacting));
    // half a record cannot be redacted
    else if (!cutOff && text !== "") yield redactedRecord(text, line, redacting);
  }
  if (line === 0) traceHeader("");
}

function redactedHeader(line: string, redacting: Redactor): object {
  const { command, cwd, ...header } = traceHeader(line);
  return {
    ...header,
    ...optional({
      command: command && redacting.command(command),
      cwd: cwd === undefined ? undefined : redacting.text(cwd),
    }),
    redacted: true,
  };
}

function redactedRecord(line: string, number: number, redacting: Redactor): string {
  // checks its fields; unknown events are redacted like all others
  traceRecord(line, number);
  const record: Record<string, unknown> = JSON.parse(line);
  const { text, head, base64, from, message, ...others } = record;
  const clean: Record<string, unknown> = { ...record, ...(redacting.value(others) as object) };
  if (typeof text === "string")
    clean.text = record.event === undefined ? redacting.line(String(from), text) : redacting.text(text);
  if (typeof head === "string") clean.head = redacting.text(head);
  if (typeof message === "string") clean.message = redacting.text(message);
  if (typeof base64 === "string") {
    // what cannot be read cannot be redacted
    redacting.count("unreadable line");
    delete clean.base64;
    clean.text = `[${Buffer.from(base64, "base64").length} bytes that are not UTF-8]`;
  }
  if (typeof clean.text === "string" && clean.text !== text) {
    clean.bytes = Buffer.byteLength(clean.text) + (record.newline === false ? 0 : 1);
  }
  return JSON.stringify(clean);
}

function report({ counts, distinct }: Redactor, out: string | undefined, json: boolean): void {
  const replaced = Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
  const total = Object.values(replaced).reduce((sum, count) => sum + count, 0);
  if (json) {
    printAnswer("", { out, total, replaced, secrets: distinct }, json);
    return;
  }
  const list = Object.entries(replaced).map(([why, count]) => `${count} by ${why}`);
  const what =
    list.length === 0 ? "found nothing to replace" : `replaced ${total} values: ${list.join(", ")}`;
  process.stderr.write(
    `parley: ${what}\nparley: no pattern finds everything; read the copy before you share it\n`,
  );
}
