// Logs in at a terminal: asks for the method and its credentials, and runs terminal logins.

import { spawn } from "node:child_process";
import type { LoginCommand, LoginMethod, LoginVariable } from "@parley/client";
import { askLine } from "../terminal/ask-line.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { askSecret } from "../terminal/secret-input.ts";

export async function chooseLogin(
  methods: readonly LoginMethod[],
  agent: string,
): Promise<string | undefined> {
  const [only] = methods;
  if (methods.length === 1) return only?.id;
  const lines = methods.map(
    ({ name, description }, index) =>
      `  ${index + 1}  ${escapedLine(name)}${description === undefined ? "" : `: ${escapedLine(description)}`}`,
  );
  process.stderr.write(`Login methods of ${escapedLine(agent)}:\n${lines.join("\n")}\n`);
  const answer = (await askLine(`Choose 1-${methods.length}: `))?.trim();
  return methods[Number(answer) - 1]?.id ?? methods.find(({ id }) => id === answer)?.id;
}

export function credential(variable: LoginVariable): Promise<string | undefined> {
  const { name, label, isSecret, isOptional } = variable;
  const what = label === name ? name : `${escapedLine(label)} (${name})`;
  const question = `${what}${isOptional ? " (optional)" : ""}${isSecret ? " (not shown)" : ""}: `;
  return isSecret ? askSecret(question) : askLine(question);
}

export function terminalLogin({ command, args, env, cwd }: LoginCommand): Promise<number> {
  process.stderr.write(`Running ${[command, ...args].map(escapedLine).join(" ")}\n`);
  const child = spawn(command, args, { cwd, env, stdio: "inherit" });
  return new Promise((resolve) => {
    child.once("error", (error) => {
      process.stderr.write(`parley: cannot start ${escapedLine(command)}: ${error.message}\n`);
      resolve(127);
    });
    child.once("exit", (code, signal) => resolve(code ?? (signal === null ? 1 : 130)));
  });
}
