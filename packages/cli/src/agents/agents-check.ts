// `parley agents check`: starts an agent and says what it is.

import { type AgentEntry, loginCommandFor } from "@parley/client";
import type { Invocation } from "../command/command.ts";
import { usageError } from "../command/command-error.ts";
import { printAnswer } from "../command/print-answer.ts";
import { withoutSecrets } from "../settings/known-secrets.ts";
import { chooseAgent } from "../settings/named-agent.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { launchFailure } from "./launch-failure.ts";
import { type AgentFacts, probeAgent } from "./probe-agent.ts";
import { commandLines, optionLines } from "./session-facts.ts";

/** Agents that have no commands do not say so either. */
const commandsTimeoutMs = 1_000;

export async function run({ positionals, argv, values, json }: Invocation): Promise<number> {
  const [name, extra] = positionals.slice(0, positionals.length - argv.length);
  if (extra !== undefined)
    throw usageError(`agents check takes one name, got ${extra} too`, "give one agent");
  const { entry } = await chooseAgent(name, argv);
  const options = { ...timeoutOf(values["timeout"]), commandsTimeoutMs };
  const found = await probeAgent(entry, options).catch((error: unknown) => {
    throw launchFailure(error);
  });
  const facts = await withoutSecrets(found, argv);
  printAnswer(await withoutSecrets(described(entry, facts), argv), facts, json);
  if (facts.session === "ok") return 0;
  return facts.session === "login_needed" ? 6 : 1;
}

function timeoutOf(given: Invocation["values"][string]) {
  if (given === undefined) return {};
  const seconds = Number(given);
  if (!(seconds > 0))
    throw usageError(`--timeout takes seconds, got ${String(given)}`, "such as --timeout 120");
  return { handshakeTimeoutMs: seconds * 1000, sessionTimeoutMs: seconds * 1000 };
}

function described(entry: AgentEntry, facts: AgentFacts): string {
  const { title, version, protocol, handshakeMs, offers, session, loginMethods, keys } = facts;
  const ways = loginMethods.map((method) => `${method.id} (${method.name})`).join(", ");
  const list = (lines: readonly string[]) => (lines.length === 0 ? "none" : lines.join("\n"));
  const rows: readonly (readonly [string, string])[] = [
    ["agent", `${title}${version === undefined ? "" : ` ${version}`}`],
    ["protocol", `version ${protocol}`],
    ["handshake", `${handshakeMs} ms`],
    ["offers", offers.join(", ") || "nothing beyond the protocol"],
    ["keys given", keys.join(", ") || "none"],
    ["logins", ways || "none"],
    ["session", sessionText(entry, session)],
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
  if (session === "ok") return "opened and closed again";
  if (session === "login_needed") return `somebody has to log in: ${loginCommandFor(entry)}`;
  return `not opened: ${session.error}`;
}
