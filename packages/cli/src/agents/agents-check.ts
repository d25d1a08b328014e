// `parley agents check`: starts an agent and prints its name, features and login state.

import { statSync } from "node:fs";
import { optional } from "@parley/acp/jsonrpc";
import { editionText } from "@parley/client/host";
import { type AgentEntry, loginCommandFor } from "@parley/client/launch";
import { type Invocation, printAnswer, usageError } from "../command/command.ts";
import { directoryOption, secondsOption, textOption } from "../command/option-values.ts";
import { progressOnStderr } from "../printers/output.ts";
import { editionOption } from "../settings/edition-choice.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { chooseAgent } from "../settings/named-agent.ts";
import { escapedLine, safeLine } from "../terminal/sanitise.ts";
import { type ToolFacts, toolsText, toolsTodo } from "./check-tools.ts";
import { type AgentFacts, commandLines, optionLines, probeAgent } from "./probe-agent.ts";
import { launchFailure } from "./with-agent.ts";

/** Agents without commands never announce any. */
const commandsTimeoutMs = 1_000;

export async function run({ words, argv, values, json }: Invocation): Promise<number> {
  const [name, extra] = words;
  if (extra !== undefined)
    throw usageError(`agents check: expected one name, got also ${extra}`, "check one agent at a time");
  const { entry } = chooseAgent(name, argv, editionOption(values));
  const timeoutMs = secondsOption(values, "timeout");
  const timeouts = optional({ handshakeTimeoutMs: timeoutMs, sessionTimeoutMs: timeoutMs });
  const cwd = directoryOption(values);
  // directories of a remote agent are on its machine
  const isHere = entry.transport === "stdio";
  if (isHere && cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw usageError(`--cwd: ${escapedLine(cwd)} is not a directory`, "see parley help agents check");
  const sandbox = textOption(values, "sandbox");
  if (sandbox !== undefined && sandbox !== "agent")
    throw usageError(
      `--sandbox: expected agent, got ${escapedLine(sandbox)}`,
      "see parley help agents check",
    );
  const isSandboxed = sandbox === undefined ? undefined : true;
  const progress = json ? undefined : progressOnStderr();
  const found = await probeAgent(entry, {
    ...timeouts,
    ...optional({ cwd, isSandboxed }),
    commandsTimeoutMs,
    checksTools: values["no-tools"] !== true,
    waits: (what) => progress?.draw(safeLine(what)),
  })
    .catch((error: unknown) => {
      throw launchFailure(error);
    })
    .finally(() => progress?.clear());
  const facts = withoutSecrets(found, argv);
  printAnswer(withoutSecrets(described(entry, facts), argv), facts, json);
  if (facts.session === "ok") return 0;
  return facts.session === "login_needed" ? 6 : 1;
}

function described(entry: AgentEntry, facts: AgentFacts): string {
  const { title, version, edition, handshakeMs, offers, session, loginMethods, keys } = facts;
  const logins = loginMethods.map((method) => `${method.id} (${method.name})`).join(", ");
  const list = (lines: readonly string[]) => (lines.length === 0 ? "none" : lines.join("\n"));
  const rows: readonly (readonly [string, string])[] = [
    ["agent", `${title}${version === undefined ? "" : ` ${version}`}`],
    ["protocol", editionText(edition)],
    ["handshake", `${handshakeMs} ms`],
    ["offers", offers.join(", ") || "only the required methods"],
    ["keys passed", keys.join(", ") || "none"],
    ["sandbox", facts.sandboxed ? "yes, with the profile agent" : "none"],
    ["logins", logins || "none"],
    ["session", sessionText(entry, session)],
    ...(facts.tools === undefined ? [] : [["tools", toolLines(facts.tools)] as const]),
    ["options", list(optionLines(facts.options))],
    ["commands", list(commandLines(facts.commands))],
  ];
  const indented = (text: string) =>
    text
      .split("\n")
      .map(safeLine)
      .join(`\n${" ".repeat(13)}`);
  return rows.map(([what, text]) => `${`${what}:`.padEnd(12)} ${indented(text)}`).join("\n");
}

function sessionText(entry: AgentEntry, session: AgentFacts["session"]): string {
  if (session === "ok") return "ok";
  if (session === "login_needed") return `login needed: ${loginCommandFor(entry)}`;
  return [`not opened: ${session.error}`, session.hint ?? []].flat().join("\n");
}

function toolLines(facts: ToolFacts): string {
  return [toolsText(facts), toolsTodo(facts) ?? []].flat().join("\n");
}
