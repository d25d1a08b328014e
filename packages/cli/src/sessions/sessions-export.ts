// `parley sessions export`: a session to share, without its secrets.

import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import type { Entry } from "@parley/acp";
import { exportSession } from "@parley/client/history";
import { exitOnClosedOutput } from "../command/closed-output.ts";
import type { Invocation } from "../command/command.ts";
import { CommandError, usageError } from "../command/command-error.ts";
import { printAnswer } from "../command/print-answer.ts";
import { knownSecrets } from "../settings/known-secrets.ts";
import { escapedLine, safeText } from "../terminal/sanitise.ts";
import { oneSession, sessionNamed, withHistory } from "./open-history.ts";

const formats = ["markdown", "json"] as const;

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  exitOnClosedOutput();
  const word = oneSession(positionals, "sessions export");
  const format = formats.find((each) => each === (values["format"] ?? "markdown"));
  if (format === undefined) {
    throw usageError(
      `--format takes markdown or json, got ${escapedLine(String(values["format"]))}`,
      "see parley help sessions export",
    );
  }
  const out = values["out"];
  if (json && typeof out !== "string") {
    throw usageError(
      "--json needs --out FILE",
      "without it the export itself is printed; --format json makes it JSON",
    );
  }
  const exported = await withHistory(async (history) => {
    const session = await sessionNamed(history, word);
    const entries: Entry[] = [];
    for await (const entry of history.entries(session.id)) entries.push(entry);
    const secrets = await knownSecrets();
    return exportSession(session, entries, { format, secrets, home: homedir(), raw: values["raw"] === true });
  });
  if (typeof out !== "string") {
    // a file or a program gets it as it is
    process.stdout.write(process.stdout.isTTY ? safeText(exported.text) : exported.text);
    return 0;
  }
  try {
    // for this user alone, like the history that it comes from
    await writeFile(out, exported.text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException; // of fs, which has no other errors
    const hint =
      code === "EEXIST" ? "give the name of a file that is not there yet" : "give a file that can be written";
    throw new CommandError("not_written", `${escapedLine(out)} was not written: ${code}`, hint);
  }
  const found = exported.secrets === 1 ? "1 secret was" : `${exported.secrets} secrets were`;
  printAnswer(
    `Written to ${escapedLine(out)}; ${found} taken out.`,
    { file: out, secrets: exported.secrets },
    json,
  );
  return 0;
}
