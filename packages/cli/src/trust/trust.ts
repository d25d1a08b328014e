// `parley trust`: shows the settings of a folder, trusts them, and lists or revokes trusted folders.

import { resolve } from "node:path";
import { trustedFolders } from "@parley/client/trust";
import { CommandError, type Invocation, printAnswer, usageError } from "../command/command.ts";
import { textOption } from "../command/option-values.ts";
import { trustFolder } from "../settings/data-folder.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { askLine, askYesOrNo } from "../terminal/ask-line.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { columnsOf, wrapIndent, wrapLines } from "../terminal/wrap-line.ts";
import { settingsLines } from "./trust-text.ts";
import { privateNotes } from "./workspace-servers.ts";
import { type FoundSettings, foundSettings } from "./workspace-trust.ts";

const help = "see parley help trust";

export async function trust({ values, positionals, json }: Invocation): Promise<number> {
  const revoked = textOption(values, "revoke");
  const [given = ".", ...more] = positionals;
  const modes = [values["list"] === true, revoked !== undefined, values["yes"] === true].filter(Boolean);
  const takesFolder = values["list"] !== true && revoked === undefined;
  if (more.length > 0 || modes.length > 1 || (!takesFolder && positionals.length > 0))
    throw usageError("expected one folder, or --list, or --revoke DIR", help);
  if (values["list"] === true) return list(json);
  if (revoked !== undefined) return revoke(revoked, json);
  const found = foundSettings(resolve(given));
  if (found === undefined) throw usageError(`${escapedLine(given)} is not a directory`, help);
  return decide(found, values["yes"] === true, json);
}

async function decide(found: FoundSettings, isYes: boolean, json: boolean): Promise<number> {
  const { settings, trust, folders } = found;
  const { folder, items, problems } = settings;
  const isOpen = trust.state === "new" || trust.state === "changed";
  const notes = await privateNotes(settings.mcpServers);
  const lines = withoutSecrets(settingsLines(settings, trust, notes));
  const data = (isTrusted: boolean) =>
    withoutSecrets({
      folder,
      before: trust.state,
      trusted: isTrusted,
      items,
      problems: [...problems, ...notes],
    });
  if (trust.state === "nothing") {
    const text = [
      `${escapedLine(folder)} has no settings that need trust.`,
      ...problems.map(escapedLine),
    ].join("\n");
    return printAnswer(text, data(false), json);
  }
  if (!isOpen) return printAnswer(lines.join("\n"), data(true), json);
  if (!isYes) {
    if (json || !process.stdin.isTTY || !process.stderr.isTTY) {
      if (!json) process.stdout.write(`${lines.join("\n")}\n`);
      throw usageError(
        "cannot ask for trust without a terminal",
        "read the settings, then run the command with --yes",
      );
    }
    if (!(await askedTrust(lines))) return printAnswer("Not trusted.", data(false), json);
  }
  try {
    folders.trust(settings);
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException; // of fs
    throw new CommandError(
      "state",
      `cannot write to ${trustFolder()} (${code})`,
      "set PARLEY_HOME to another folder",
    );
  }
  const text = [...(isYes ? lines : []), `Trusted: ${escapedLine(folder)}`].join("\n");
  return printAnswer(text, data(true), json);
}

/** Shows the settings and asks. */
function askedTrust(lines: readonly string[]): Promise<boolean> {
  const write = (text: string) => {
    process.stderr.write(wrapLines(text, columnsOf(process.stderr), wrapIndent));
  };
  write(`${lines.join("\n")}\n`);
  return askYesOrNo("Trust this folder? Its settings take effect until they change.", {
    ask: askLine,
    write,
  });
}

function list(json: boolean): number {
  const folders = trustedFolders(trustFolder()).list();
  const lines = folders.map(
    ({ folder, since }) => `${escapedLine(folder)}  (since ${since.toISOString().slice(0, 10)})`,
  );
  return printAnswer(lines.length === 0 ? "No trusted folders." : lines.join("\n"), { folders }, json);
}

function revoke(folder: string, json: boolean): number {
  if (trustedFolders(trustFolder()).revoke(folder))
    return printAnswer(`Revoked: ${escapedLine(resolve(folder))}`, { revoked: resolve(folder) }, json);
  throw new CommandError(
    "not_found",
    `${escapedLine(folder)} is not trusted`,
    "run parley trust --list to see the trusted folders",
  );
}
