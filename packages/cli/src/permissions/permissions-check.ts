// `parley permissions check OPERATION ...`: prints what the rules decide about an operation.

import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { optional } from "@parley/acp/internal";
import { canonicalPath, commandSubject, type Verdict } from "@parley/client/internal";
import type { Subject } from "@parley/client/policy";
import { type Invocation, printAnswer, usageError } from "../command/command.ts";
import { directoryOption, listOption, textOption } from "../command/option-values.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { openGate } from "./open-gate.ts";
import { ruleJson } from "./permission-rules.ts";
import { policyFile } from "./policy-rules.ts";

const help = "see parley help permissions check";
const examples: Readonly<Record<string, string>> = {
  read: "src/a.ts",
  write: "src/a.ts",
  delete: "src/a.ts",
  exec: "npm test",
  network: "example.com",
  mcp: "SERVER/TOOL",
  mode: "code",
};
const exitCodes = { allow: 0, deny: 3, ask: 4 };

export async function run({ values, positionals, json }: Invocation): Promise<number> {
  const cwd = realpathSync(directoryOption(values) ?? ".");
  const subject = subjectFrom(positionals, cwd);
  const policy = await policyFile(textOption(values, "policy"));
  const { gate } = openGate({
    policy,
    allow: listOption(values, "allow"),
    deny: listOption(values, "deny"),
  });
  const roots = [cwd, ...listOption(values, "add-dir").map((each) => canonicalPath(resolve(each)))];
  const { effect, reason, rule }: Verdict = isOutside(subject, roots)
    ? { effect: "deny", reason: outside }
    : gate.check({ sessionId: "check", cwd, roots }, [subject]);
  const data = { effect, reason, subject, ...optional({ rule: rule && ruleJson(rule) }) };
  printAnswer(`${effect}: ${escapedLine(reason)}`, data, json);
  return exitCodes[effect];
}

const outside = "the path is outside the workspace, where no rule applies; --add-dir DIR adds a directory";

/** Claims of an agent about its own actions are not limited to directories. */
function isOutside({ origin, path }: Subject, roots: readonly string[]): boolean {
  if (origin !== "op" || path === undefined) return false;
  return !roots.some(
    (root) => !/^\.\.(?:[\\/]|$)/.test(relative(root, path)) && !isAbsolute(relative(root, path)),
  );
}

function subjectFrom(words: readonly string[], cwd: string): Subject {
  const [first = "", ...rest] = words;
  const [, claimed, operation = ""] = /^(claim:|op:)?(.*)$/.exec(first) ?? [];
  const origin = claimed === "claim:" ? "claim" : "op";
  const [word = ""] = rest;
  if (first === "")
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
    case "delete":
      return { origin, operation, path: canonicalPath(resolve(cwd, word)) };
    case "exec":
      return commandSubject(origin, word, rest.length === 1 ? undefined : rest.slice(1), cwd);
    case "network":
      return { origin, operation, host: word };
    case "mode":
      return { origin, operation, mode: word };
    default: {
      const [server = "", name = ""] = word.split("/");
      return { origin, operation: "mcp", tool: { server, name } };
    }
  }
}
