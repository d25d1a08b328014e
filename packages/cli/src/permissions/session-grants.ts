// `parley permissions list` and `revoke`: all rules, or with `--session` what the user answered for one session.

import { openHistory } from "@parley/client/history";
import { type HistoryFile, historyFile } from "@parley/client/internal";
import { CommandError, type Invocation, printAnswer } from "../command/command.ts";
import { textOption } from "../command/option-values.ts";
import { historyPath } from "../settings/data-folder.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { listRules, revokeRules, ruleJson, ruleLine, wantedIds } from "./permission-rules.ts";

export async function list(invocation: Invocation): Promise<number> {
  const session = textOption(invocation.values, "session");
  return session === undefined ? listRules(invocation) : listGrants(session, invocation.json);
}

export async function revoke(invocation: Invocation): Promise<number> {
  const session = textOption(invocation.values, "session");
  return session === undefined ? revokeRules(invocation) : revokeGrants(session, invocation);
}

async function listGrants(session: string, json: boolean): Promise<number> {
  return withSession(session, async (history, id) => {
    const grants = await history.grants(id);
    const lines = grants.map((grant) => `${ruleLine(grant)}\n`).join("");
    const text = grants.length === 0 ? "Nothing was answered for this session." : lines.trimEnd();
    const shown = withoutSecrets({ text, data: { session: id, rules: grants.map(ruleJson) } });
    return printAnswer(shown.text, shown.data, json);
  });
}

async function revokeGrants(session: string, invocation: Invocation): Promise<number> {
  return withSession(session, async (history, id) => {
    const all = (await history.grants(id)).map((grant) => grant.id);
    const wanted = wantedIds(all, invocation);
    for (const grant of wanted) await history.revokeGrant(id, grant);
    const text = wanted.length === 0 ? "No rules to revoke." : `Revoked: ${wanted.join(", ")}`;
    return printAnswer(text, { session: id, revoked: wanted }, invocation.json);
  });
}

async function withSession(
  word: string,
  work: (history: HistoryFile, id: string) => Promise<number>,
): Promise<number> {
  await using history = historyFile(openHistory({ path: historyPath() }));
  const found = await history.find(word);
  if (found !== undefined) return await work(history, found.id);
  const message = `session ${escapedLine(word)} not found`;
  throw new CommandError("not_found", message, "parley sessions list prints the ids");
}
