// Finds the token of a remote agent.

import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { replaceFileSync } from "@parley/acp/node";
import { type Invocation, usageError } from "../command/command.ts";
import { textOption } from "../command/option-values.ts";
import { escapedLine } from "../terminal/sanitise.ts";

const variable = "PARLEY_TOKEN";

/** From --token-file, otherwise from the environment. */
export function givenToken(values: Invocation["values"]): string | undefined {
  const file = textOption(values, "token-file");
  return file === undefined ? process.env[variable]?.trim() || undefined : readToken(file);
}

/** The same; a file that does not exist is created with a new token. */
export function givenOrNewToken(values: Invocation["values"]): string | undefined {
  const file = textOption(values, "token-file");
  if (file !== undefined && statSync(file, { throwIfNoEntry: false }) === undefined) {
    try {
      replaceFileSync(file, `${randomBytes(32).toString("base64url")}\n`, { onlyNew: true });
    } catch (error) {
      // as: what it throws for a text path
      throw unusable(file, `cannot be written: ${(error as NodeJS.ErrnoException).code}`);
    }
  }
  return givenToken(values);
}

function readToken(file: string): string {
  let text: string;
  try {
    // other users of this machine must not read it
    if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0)
      throw unusable(file, "can be read by other users");
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    throw unusable(file, `cannot be read: ${(error as NodeJS.ErrnoException).code}`); // as: it comes from the system
  }
  if (text === "" || /\s/.test(text)) throw unusable(file, "must have one token and nothing else");
  return text;
}

function unusable(file: string, why: string) {
  return usageError(
    `--token-file: ${escapedLine(file)} ${why}`,
    "give a file with one token that only you can read (chmod 600)",
  );
}

/** The header that carries it. */
export function tokenHeader(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}
