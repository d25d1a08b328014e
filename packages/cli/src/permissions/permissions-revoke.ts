// `parley permissions revoke ID...`: revokes remembered rules.

import { rememberedRules } from "@parley/client";
import type { Invocation } from "../command/command.ts";
import { CommandError, usageError } from "../command/command-error.ts";
import { printAnswer } from "../command/print-answer.ts";
import { permissionsPath } from "../settings/data-folder.ts";
import { escapedLine } from "../terminal/sanitise.ts";

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const remembered = rememberedRules(permissionsPath());
  const all = remembered.list().map(({ id }) => id);
  const wanted = values["all"] === true ? all : positionals;
  if (wanted.length === 0 && values["all"] !== true)
    throw usageError("expected the id of a rule, or --all", "parley permissions list shows the ids");
  const unknown = wanted.filter((id) => !all.includes(id));
  if (unknown.length > 0) {
    const message = `unknown rule id: ${escapedLine(unknown.join(", "))}`;
    throw new CommandError("not_found", message, "parley permissions list shows the ids");
  }
  for (const id of wanted) remembered.revoke(id);
  const text = wanted.length === 0 ? "No rules to revoke." : `Revoked: ${wanted.join(", ")}`;
  printAnswer(text, { revoked: wanted }, json);
  return 0;
}
