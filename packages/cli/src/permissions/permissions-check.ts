// `parley permissions check OPERATION ...`: prints what the rules decide about an operation.

import { realpathSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import { optional } from "@parley/acp/jsonrpc";
import { canonicalPath, commandSubject, type RuleSubject, type Verdict } from "@parley/client/policy";
import { type Invocation, printAnswer, usageError } from "../command/command.ts";
import { directoryOption, listOption, textOption } from "../command/option-values.ts";
import { readConfig } from "../settings/config-file.ts";
import { type SandboxChoice, sandboxChoice } from "../settings/sandbox-choice.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { columnsOf, wrapIndent, wrapLines } from "../terminal/wrap-line.ts";
import { openGate } from "./open-gate.ts";
import { heldBy, ruleJson } from "./permission-rules.ts";
import { policyFile } from "./policy-rules.ts";

const help = "see parley help permissions check";
const examples: Readonly<Record<string, string>> = {
  read: "src/a.ts",
  write: "src/a.ts",
  exec: "npm test",
  net: "example.com",
  mcp: "SERVER/TOOL",
};
const exitCodes = { allow: 0, deny: 3, ask: 4 };

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const cwd = realpathSync(directoryOption(values) ?? ".");
  const named = subjectFrom(positionals, cwd);
  const policy = await policyFile(textOption(values, "policy"));
  const { gate } = openGate({
    policy,
    allow: listOption(values, "allow"),
    ask: listOption(values, "ask"),
    deny: listOption(values, "deny"),
  });
  const roots = [cwd, ...listOption(values, "add-dir").map((each) => canonicalPath(each))];
  const session = { sessionId: "check", cwd, roots };
  const profile = sandboxChoice(values) ?? readConfig(() => undefined).client?.sandbox ?? "workspace";
  const subject = await inSandbox(named, roots, profile);
  const verdict: Verdict = isOutside(subject, roots)
    ? { effect: "deny", reason: outside }
    : gate.check(session, [subject]);
  // an agent that runs its own tools only says what it does, and where is not limited
  const claim = gate.check(session, [{ ...named, origin: "claim" }]);
  const { effect } = verdict;
  const isSame = claim.effect === effect && claim.rule === verdict.rule;
  const lines = [
    `${effect}: ${said(verdict)}`,
    ...(isSame ? [] : [`if the agent does it itself: ${claim.effect}: ${said(claim)}`]),
  ];
  const data = { ...verdictJson(verdict), subject, claim: verdictJson(claim) };
  printAnswer(wrapLines(lines.join("\n"), columnsOf(process.stdout), wrapIndent), data, json);
  return exitCodes[effect];
}

/** A command as it would run here. */
async function inSandbox(
  subject: RuleSubject,
  roots: readonly string[],
  profile: SandboxChoice,
): Promise<RuleSubject> {
  if (subject.operation !== "exec" || profile === "off") return subject;
  const { sandboxStatus } = await import("@parley/sandbox");
  return (await sandboxStatus({ roots })).isAvailable ? { ...subject, sandbox: profile } : subject;
}

function said({ reason, rule }: Verdict): string {
  const held = rule === undefined ? undefined : heldBy(rule);
  return `${escapedLine(reason)}${held === undefined ? "" : `; ${held}`}`;
}

function verdictJson({ effect, reason, rule }: Verdict): object {
  return { effect, reason, ...optional({ rule: rule && ruleJson(rule) }) };
}

const outside = "the path is outside the workspace; to add a directory, use --add-dir DIR";

function isOutside({ path }: RuleSubject, roots: readonly string[]): boolean {
  if (path === undefined) return false;
  return !roots.some(
    (root) => !/^\.\.(?:[\\/]|$)/.test(relative(root, path)) && !isAbsolute(relative(root, path)),
  );
}

function subjectFrom(words: readonly string[], cwd: string): RuleSubject {
  const [operation = "", ...rest] = words;
  const [word = ""] = rest;
  if (operation === "")
    throw usageError("expected an operation, for example: parley permissions check write src/a.ts", help);
  const example = examples[operation];
  if (example === undefined) {
    const expected = `expected one of ${Object.keys(examples).join(", ")}`;
    throw usageError(`${expected}; got ${escapedLine(operation)}`, help);
  }
  if (rest.length === 0)
    throw usageError(
      `${operation} needs a target, for example: parley permissions check ${operation} ${example}`,
      help,
    );
  switch (operation) {
    case "read":
    case "write":
      return { origin: "op", operation, path: canonicalPath(word, cwd) };
    case "exec":
      return commandSubject("op", word, rest.length === 1 ? undefined : rest.slice(1), cwd);
    case "net":
      return { origin: "op", operation, host: word };
    default: {
      const [server = "", name = ""] = word.split("/");
      return { origin: "op", operation: "mcp", tool: { server, name } };
    }
  }
}
