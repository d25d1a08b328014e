// `parley sessions search`: searches the text of sessions.

import { optional } from "@parley/acp/internal";
import type { Invocation } from "../command/command.ts";
import { usageError } from "../command/command-error.ts";
import { countOption, directoryOption } from "../command/option-values.ts";
import { printAnswer } from "../command/print-answer.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { withHistory } from "./open-history.ts";
import { sessionRedactor } from "./redacted-session.ts";
import { sessionJson, sessionLine } from "./session-line.ts";

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const query = positionals.join(" ").trim();
  if (query === "")
    throw usageError("expected words to search for", 'for example: parley sessions search "failing test"');
  const limit = countOption(values, "limit", 20);
  const cwd = directoryOption(values);
  const found = await withHistory((history) => history.search(query, { limit, ...optional({ cwd }) }));
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
