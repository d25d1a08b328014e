// `parley sessions list`: lists the sessions in the history, or those of an agent.

import { existsSync } from "node:fs";
import { optional } from "@parley/acp/internal";
import type { Invocation } from "../command/command.ts";
import { usageError } from "../command/command-error.ts";
import { countOption, directoryOption, textOption } from "../command/option-values.ts";
import { printAnswer } from "../command/print-answer.ts";
import { commandToType } from "../settings/installation.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { withHistory } from "./open-history.ts";
import { redactedSessions } from "./redacted-session.ts";
import { sessionJson, sessionLines } from "./session-line.ts";

export async function run({ values, words, argv, json }: Invocation): Promise<number> {
  const limit = countOption(values, "limit", 20);
  const cwd = directoryOption(values);
  const [extra] = words;
  if (extra !== undefined)
    throw usageError(`sessions list takes no arguments, got ${extra}`, "see parley help sessions list");
  const agent = textOption(values, "agent");
  if (agent !== undefined || argv.length > 0) {
    const { listAgentSessions } = await import("./agent-sessions.ts");
    return listAgentSessions({ agent, argv, cwd, limit }, json);
  }
  const all = await withHistory((history) =>
    history.list({ limit: Number.POSITIVE_INFINITY, ...optional({ cwd }) }),
  );
  const sessions = await redactedSessions(all.slice(0, limit));
  const total = all.length;
  const more = total - sessions.length;
  const text = sessions.length === 0 ? nothing(cwd) : sessionLines(sessions, Date.now()).join("\n");
  printAnswer(text, { sessions: sessions.map(sessionJson), total, more }, json);
  if (more > 0 && !json)
    process.stderr.write(`Showing ${sessions.length} of ${total} sessions. For all, use -n ${total}.\n`);
  return 0;
}

function nothing(cwd: string | undefined): string {
  if (cwd === undefined) return `No sessions yet. Start one with: ${commandToType()} run "what to do"`;
  const where = existsSync(cwd) ? escapedLine(cwd) : `${escapedLine(cwd)}, which does not exist`;
  return `No sessions in ${where}. Omit --cwd to list all.`;
}
