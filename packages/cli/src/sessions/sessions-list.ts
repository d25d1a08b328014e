// `parley sessions list`.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Invocation } from "../command/command.ts";
import { usageError } from "../command/command-error.ts";
import { countOption } from "../command/option-values.ts";
import { printAnswer } from "../command/print-answer.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { withHistory } from "./open-history.ts";
import { redactedSessions } from "./redacted-session.ts";
import { sessionJson, sessionLines } from "./session-line.ts";

export async function run({ values, positionals, argv, json }: Invocation): Promise<number> {
  const limit = countOption(values, "limit", 20);
  const cwd = typeof values["cwd"] === "string" ? resolve(values["cwd"]) : undefined;
  const [extra] = positionals.slice(0, positionals.length - argv.length);
  if (extra !== undefined)
    throw usageError(`sessions list takes no argument, got ${extra}`, "see parley help sessions list");
  if (typeof values["agent"] === "string" || argv.length > 0) {
    const { listAgentSessions } = await import("./agent-sessions.ts");
    const agent = typeof values["agent"] === "string" ? values["agent"] : undefined;
    return listAgentSessions({ agent, argv, cwd, limit }, json);
  }
  const all = await withHistory((history) =>
    history.list({ limit: Number.POSITIVE_INFINITY, ...(cwd === undefined ? {} : { cwd }) }),
  );
  const sessions = await redactedSessions(all.slice(0, limit));
  const total = all.length;
  const more = total - sessions.length;
  const text = sessions.length === 0 ? nothing(cwd) : sessionLines(sessions, Date.now()).join("\n");
  printAnswer(text, { sessions: sessions.map(sessionJson), total, more }, json);
  if (more > 0 && !json)
    process.stderr.write(`${sessions.length} of ${total} sessions. All: parley sessions list -n ${total}\n`);
  return 0;
}

function nothing(cwd: string | undefined): string {
  if (cwd === undefined) return 'There are no sessions yet. Begin one: parley run "what to do"';
  const where = existsSync(cwd) ? escapedLine(cwd) : `${escapedLine(cwd)}, which is not there`;
  return `There are no sessions of ${where}. All: parley sessions list`;
}
