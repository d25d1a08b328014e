// `parley sessions search`.

import { resolve } from "node:path";
import type { Invocation } from "../command/command.ts";
import { usageError } from "../command/command-error.ts";
import { countOption } from "../command/option-values.ts";
import { printAnswer } from "../command/print-answer.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { withHistory } from "./open-history.ts";
import { sessionRedactor } from "./redacted-session.ts";
import { sessionJson, sessionLine } from "./session-line.ts";

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const words = positionals.join(" ").trim();
  if (words === "") throw usageError("search for what?", 'type words: parley sessions search "failing test"');
  const limit = countOption(values, "limit", 20);
  const cwd = typeof values["cwd"] === "string" ? resolve(values["cwd"]) : undefined;
  const found = await withHistory((history) =>
    history.search(words, { limit, ...(cwd === undefined ? {} : { cwd }) }),
  );
  const teller = await sessionRedactor(found.map(({ session }) => session));
  const hits = found.map(({ session, snippet, seq }) => ({
    session: teller.session(session),
    snippet: teller.text(snippet),
    seq,
  }));
  const text =
    hits.length === 0
      ? "Nothing has these words."
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
