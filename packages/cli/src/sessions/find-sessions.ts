// `parley sessions list` and `search`.

import { existsSync } from "node:fs";
import { optional } from "@parley/acp/jsonrpc";
import { type Invocation, printAnswer, usageError } from "../command/command.ts";
import { countOption, directoryOption, textOption } from "../command/option-values.ts";
import { commandToType } from "../settings/installation.ts";
import { escapedLine, safeLine } from "../terminal/sanitise.ts";
import { withAllLogs } from "./all-logs.ts";
import {
  redactedSessions,
  sessionJson,
  sessionLine,
  sessionLines,
  sessionRedactor,
} from "./stored-sessions.ts";

export async function listSessions({ values, words, argv, json }: Invocation): Promise<number> {
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
  const all = await withAllLogs((logs) =>
    logs.list({ limit: Number.POSITIVE_INFINITY, ...optional({ cwd }) }),
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

export async function searchSessions({ values, positionals, json }: Invocation): Promise<number> {
  const query = positionals.join(" ").trim();
  if (query === "")
    throw usageError("expected words to search for", 'for example: parley sessions search "failing test"');
  const limit = countOption(values, "limit", 20);
  const cwd = directoryOption(values);
  const found = await withAllLogs((logs) => logs.search(query, { limit, ...optional({ cwd }) }));
  const redactor = await sessionRedactor(found.map(({ session }) => session));
  const hits = found.map(({ session, snippet, seq }) => ({
    session: redactor.session(session),
    snippet: redactor.text(snippet),
    seq,
  }));
  const text =
    hits.length === 0
      ? "Nothing found."
      : [...Map.groupBy(hits, ({ session }) => session.id).values()]
          .flatMap((own) => [
            ...own.slice(0, 1).map(({ session }) => sessionLine(session, Date.now())),
            ...own.map(({ snippet }) => `    ${safeLine(snippet)}`),
          ])
          .join("\n");
  const data = hits.map(({ session, ...rest }) => ({ session: sessionJson(session), ...rest }));
  printAnswer(text, { hits: data }, json);
  return hits.length === 0 ? 1 : 0;
}
