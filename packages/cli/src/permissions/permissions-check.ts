// `parley permissions check OPERATION ...`: what the rules say, without doing anything.

import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { canonicalPath, commandSubject, type Subject, type Verdict } from "@parley/client";
import type { Invocation } from "../command/command.ts";
import { usageError } from "../command/command-error.ts";
import { printAnswer } from "../command/print-answer.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { openGate } from "./open-gate.ts";
import { ruleJson } from "./permissions-list.ts";
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
  const list = (name: string) =>
    [values[name] ?? []].flat().filter((value): value is string => typeof value === "string");
  const cwd = realpathSync(resolve(list("cwd")[0] ?? "."));
  const subject = subjectFrom(positionals, cwd);
  const policy = await policyFile(list("policy")[0]);
  const { gate } = openGate({ policy, allow: list("allow"), deny: list("deny") });
  const beside = list("add-dir").map((each) => canonicalPath(resolve(each)));
  const roots = [cwd, ...beside];
  const { effect, reason, rule }: Verdict = isOutside(subject, roots)
    ? { effect: "deny", reason: outside }
    : gate.check({ sessionId: "check", cwd, roots }, [subject]);
  const data = { effect, reason, subject, ...(rule === undefined ? {} : { rule: ruleJson(rule) }) };
  printAnswer(`${effect}: ${escapedLine(reason)}`, data, json);
  return exitCodes[effect];
}

const outside =
  "it leads outside the workspace, and no rule is asked; --add-dir DIR lets agents into a directory";

/** What an agent says it does itself is bound to no directory. */
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
    throw usageError("what would be done? type: parley permissions check write src/a.ts", help);
  const example = examples[operation];
  if (example === undefined) {
    const wanted = `an operation is ${Object.keys(examples).join(", ")}`;
    throw usageError(`${wanted}; got ${escapedLine(operation)}`, help);
  }
  if (rest.length === 0)
    throw usageError(`${operation} what? type: parley permissions check ${operation} ${example}`, help);
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
