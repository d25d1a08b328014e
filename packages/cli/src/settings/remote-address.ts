// The address of a remote agent that was typed, with its headers.

import type { RemoteSpec } from "@parley/client";
import { type Invocation, usageError } from "../command/command.ts";
import { assignment, listOption } from "../command/option-values.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { givenToken, tokenHeader } from "./token-source.ts";

/** Whether a server refused the token, by its HTTP status: 429 after too many wrong ones. */
export function isTokenRefusal(status: number | undefined): boolean {
  return status === 401 || status === 429;
}

/** What to do when the server refuses the token that was sent, or that none was. */
export function tokenHint(values: Invocation["values"]): string {
  const hasOwn = listOption(values, "header").some((given) => /^authorization=/i.test(given));
  if (hasOwn) return "the server refuses the header Authorization that was given; check it";
  const file = values["token-file"];
  if (typeof file === "string")
    return `the server has another token than ${escapedLine(file)}; copy it from where parley serve runs`;
  return givenToken(values) === undefined
    ? "no token was sent: set PARLEY_TOKEN to the token that parley serve has printed, or use --token-file"
    : "the server has another token than PARLEY_TOKEN; copy the one that parley serve has printed";
}

/** Said once for each command. */
export const plainPostWords =
  "with plain POST the agent cannot ask for anything, such as permission, and updates come only with the answer to a prompt";

/** `--header` counts more than the token. Throws a CommandError. */
export function addressEntry(url: string, values: Invocation["values"]): RemoteSpec {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^(?:https?|wss?):$/.test(parsed.protocol))
    throw usageError(
      `expected an address such as https://agents.example.org/acp, got ${escapedLine(url)}`,
      "give the address that parley serve has printed",
    );
  if ([...parsed.searchParams.keys()].some((name) => /token|auth|key/i.test(name)))
    throw usageError(
      "the address has a token in it, and addresses are logged; servers refuse that",
      "remove it, and set PARLEY_TOKEN or use --token-file",
    );
  const headers = Object.fromEntries(
    listOption(values, "header").map((given) => assignment("header", given)),
  );
  const hasOwn = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  const plainPost = values["plain-post"] === true;
  if (plainPost && !/^https?:$/.test(parsed.protocol))
    throw usageError("--plain-post needs an address with https:// or http://", "remove one of the two");
  return {
    url,
    headers: { ...(hasOwn ? {} : tokenHeader(givenToken(values))), ...headers },
    ...(plainPost && { plainPost }),
  };
}
